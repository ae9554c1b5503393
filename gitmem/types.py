"""The words every layer shares: chunks of blobs, what chunking made of a blob, names. Nothing here computes."""

from typing import Final, NamedTuple

NOTE: Final = "note"
DOCUMENT: Final = "document"
TURN: Final = "turn"
RECORD_KINDS: Final = (NOTE, DOCUMENT, TURN)
"""What a record of the memory can be."""

RECORD_LANGUAGE: Final = "record"
"""What the index takes for the language of a record's blob."""

CHUNK_TYPES: Final = (
    "text", "section", "module", "namespace", "class", "interface", "struct", "enum", "trait", "impl", "type",
    "function", "method", "property", "field", "constant", "macro", *RECORD_KINDS,
)  # fmt: skip
"""Chunk types. The order is the one stored on disk: append only."""

NOISE: Final = (".git", ".gitmem")
"""Folders, at any depth, in which git and gitmem work for themselves: what happens there changes no tree."""


class Chunk(NamedTuple):
    """A span of a blob that is found as one thing.

    `start:end` are bytes of the blob as git stores it (a byte order mark and CRLF included), half-open;
    lines are 1-based and inclusive, counted by line feeds. `parts` are the byte spans, in order and inside
    `start:end`, whose text is the chunk's own: everything for a function, header and member signatures for a class
    whose members are chunks themselves. `symbol` is qualified with dots (`Session.close`), a heading path with
    ` > `, empty where nothing is named; several names of one merged chunk are joined with `, `.
    """

    start: int
    end: int
    start_line: int
    end_line: int
    chunk_type: str
    symbol: str
    parts: tuple[tuple[int, int], ...]


class ChunkedBlob(NamedTuple):
    """What chunking made of one blob. `parsed` tells syntax units from windows, `note` why there was no parse."""

    language: str
    chunks: list[Chunk]
    parsed: bool
    note: str
