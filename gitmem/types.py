"""Types that all layers share: chunks of blobs, the result of chunking, and names. No logic."""

from collections.abc import Sequence
from typing import Final

from gitmem.named_tuple import NamedTuple

NOTE: Final = "note"
DOCUMENT: Final = "document"
TURN: Final = "turn"
RECORD_KINDS: Final = (NOTE, DOCUMENT, TURN)
"""Kinds of records, as stored in their field `kind`. Their chunks have chunk types of the same names."""

RECORD_LANGUAGE: Final = "record"
"""Language under which the index stores the blobs of records."""

COMMIT: Final = "commit"
"""Chunk type of passages of commit messages, and the language under which their index stores commits."""

PROSE_KINDS: Final = (*RECORD_KINDS, COMMIT)
"""Chunk types of texts that are not files: they are ranked like records."""

CHUNK_TYPES: Final = (
    "text", "section", "module", "namespace", "class", "interface", "struct", "enum", "trait", "impl", "type",
    "function", "method", "property", "field", "constant", "macro", *RECORD_KINDS,
    COMMIT,
)  # fmt: skip
"""Chunk types. The index stores their positions: append only."""

NOTEBOOK_LANGUAGE: Final = "notebook"
"""Language of Jupyter notebooks. Their code is in the language of the kernel."""

OCCURRENCE_KINDS: Final = (
    "function", "class", "value",
    "call", "type", "base", "decorator", "read", "name", "import", "alias", "bound",
)  # fmt: skip
"""Kinds of occurrences of names in code. The index stores their positions: append only.

The first three define a name. `base` is a class that another one extends, `read` an attribute, `name` any other mention
of a name that the file defines or imports. `import` has the module as its receiver, with a colon behind it if the whole
module is imported. `alias` has the module, a colon and the name there, and `bound` the type of the variable.
"""

USAGE_RELATIONS: Final = (
    "definitions", "callers", "mentions", "subclasses", "implementers", "importers", "callees", "tests", "text",
)  # fmt: skip
"""Relations of a name to places in a tree, in the order of an answer. `text` are comments, documents and the like."""

MAX_USAGE_DEPTH: Final = 5
"""Steps from a definition to its callers, and from these to theirs."""

UNKNOWN_RECEIVER: Final = b"?"
"""Receiver that is an expression, such as the result of a call."""

PRIVATE_MARK: Final = b"-"
"""Begins the receiver of a definition that its class, file or module alone knows."""

EXPORTS: Final = frozenset({b"exports", b"module.exports"})
"""Receivers whose members are the names of a CommonJS module."""

MAIN_EXPORT: Final = b"export="
"""Name of a definition that a module of JavaScript exports without one, and no other can have. Its file names it."""

DEFINING: Final = 3
"""Number of kinds that define a name; they are the first."""

REPOSITORY_END: Final = b"\0"
"""Ends the name of a repository in front of a path, if several are searched together: `NAME\\0/PATH`."""

OWN_FOLDERS: Final = (".git", ".gitmem")
"""Folders of git and gitmem themselves, at any depth. Changes in them change no tree."""


class ResultUnit(NamedTuple):
    """One of several results that share a chunk: a definition, or the text around definitions.

    The fields are those of a chunk. `symbol` is qualified and holds no other unit's name.
    """

    start: int
    end: int
    start_line: int
    end_line: int
    chunk_type: str
    symbol: str


class DefinitionSpan(NamedTuple):
    """Bytes of a definition in its blob, half-open, and its lines, 1-based and inclusive."""

    start: int
    end: int
    start_line: int
    end_line: int


class Chunk(NamedTuple):
    """A span of a blob with one row of the index: one vector, and one list of words.

    `start:end` are bytes of the text of the blob (`chunking.blob_text`), half-open. Lines are
    1-based, inclusive, and counted by line feeds. `parts` are the byte spans of the chunk's own text, in order and
    inside `start:end`. For a function that is everything. For a class whose members are chunks themselves it is the
    header and the signatures of the members. `symbol` is qualified with dots (`Session.close`), a heading path with ` >
    `, and empty without a name. The names of a merged chunk are joined with `, `.

    Results are finer than chunks: `units` are the results that share this one, by start, the longest first. If it is
    empty, the chunk itself is the only result. A definition that is too long for one chunk is in several, its *pieces*;
    `whole` is the span of the definition then.
    """

    start: int
    end: int
    start_line: int
    end_line: int
    chunk_type: str
    symbol: str
    parts: tuple[tuple[int, int], ...]
    units: tuple[ResultUnit, ...] = ()
    whole: DefinitionSpan | None = None


class Occurrence(NamedTuple):
    """Definition of a name, or a reference to it. `kind` is an index into OCCURRENCE_KINDS.

    `receiver` is the text before the name (`os.path` of `os.path.join`), `?` for an expression, and "" without one.
    """

    line: int
    kind: int
    name: bytes
    receiver: bytes


class NameColumns(NamedTuple):
    """Occurrences of names in a blob as columns, ordered by line."""

    lines: Sequence[int]
    kinds: Sequence[int]
    names: Sequence[bytes]
    receivers: Sequence[bytes]


NO_NAMES: Final = NameColumns((), (), (), ())


class ChunkedBlob(NamedTuple):
    """Result of chunking one blob.

    `parsed` distinguishes syntax units from windows. `unparsed_reason` says why there was no parse, '' if there was
    one.
    """

    language: str
    chunks: list[Chunk]
    parsed: bool
    unparsed_reason: str
    names: NameColumns = NO_NAMES
