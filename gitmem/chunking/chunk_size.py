"""All sizes that decide how big chunks are.

A changed value gives different chunks for the same bytes: raise `CHUNKER_VERSION` with it. The windows of documents are
the exception. They are stored in the record, so a change affects only documents added later.

Bounds of other concepts are elsewhere:

- lengths of symbols in `symbols`,
- the cost of a parse in `parse`,
- nodes and levels of an outline in `outline`,
- sizes of records in `gitmem.memory.bounds`.
"""

from dataclasses import dataclass, replace
from typing import Final


@dataclass(frozen=True, slots=True)
class ChunkBounds:
    """Bounds for the chunks of one blob."""

    max_bytes: int = 1600
    """Upper bound of a chunk's own text. Text between units is merged up to it."""

    min_bytes: int = 200
    """Text between units is merged with its neighbour if one of the two is smaller. Mergeable units get a chunk of
    their own from this size on, in data formats and style sheets from half of `max_bytes`."""

    overlap: int = 160
    """Bytes that neighbouring windows of text without syntax share at most."""

    parse_seconds: float = 1.0
    """Processor time of a parse. Afterwards the blob is split into windows."""

    parse_memory: int = 192 << 20
    """Bytes of memory that a parse may take. Beyond them the blob is split into windows."""

    max_chunks: int = 4000
    """With more chunks than this the first half is kept, and larger windows cover the rest of the blob."""

    headline_bytes: int = 400
    """Length up to which a headline in a class, such as a comment in a frame, belongs to the member below although a
    blank line parts them: it says little alone."""

    past_run: str = ""
    """Name of a run over the past, which keeps only definitions, each once (`indexing.past_rows`); "" for a tree."""

    def __post_init__(self) -> None:
        if not self.max_bytes >= 64 or not 0 <= self.min_bytes <= self.max_bytes:
            raise ValueError(f"chunk sizes out of range: {self.min_bytes}..{self.max_bytes}")
        if not 0 <= self.overlap <= self.max_bytes // 2 or self.max_chunks < 2:
            raise ValueError(f"overlap {self.overlap} or chunk count {self.max_chunks} out of range")


DEFAULT_BOUNDS: Final = ChunkBounds()


PAST_BYTES: Final = 16_000
"""Bound of a definition's own text in the index of the past. The pieces of a long one would be definitions of their own
there: their lives begin whenever a line before them pushes them over a boundary."""


def assembly_bounds(bounds: ChunkBounds) -> ChunkBounds:
    """Return the bounds by which the text of units is divided. Which units there are does not depend on them."""
    return replace(bounds, max_bytes=PAST_BYTES, min_bytes=PAST_BYTES) if bounds.past_run else bounds


def bounds_for(max_bytes: int, overlap: int) -> ChunkBounds:
    """Return the bounds for a largest size and an overlap, of which at most half a chunk is used."""
    return ChunkBounds(max_bytes, max_bytes // 8, min(overlap, max_bytes // 2))


# Units of syntax, in bytes.
NESTED_BYTES: Final = 400
"""Minimum size of a unit inside a function. Smaller ones stay part of the function's text."""

CALLBACK_BYTES: Final = 120
"""A JavaScript call with a function as argument is a unit of its own if it is larger than this."""

SIGNATURE_BYTES: Final = 200
"""Maximum length of a member's signature in the chunk of its container."""

SCRAP_BYTES: Final = 48
"""Text between members up to this size stays in the chunk of the container if it fits: braces, commas, labels."""

MERGE_REACH: Final = 4
"""Text between units is merged across them if the merged chunk spans at most this multiple of `max_bytes`."""

# Merging of small chunks (`budget`), in bytes.
EXEMPT_BYTES: Final = 2048
"""Files up to this size keep one chunk for each unit."""

MEAN_BYTES: Final = 900
"""Mean amount of a file's text that one chunk should cover."""

MERGED_BYTES: Final = 1200
"""Upper bound of a merged chunk."""

SMALL_BYTES: Final = 400
"""Two neighbours are merged only if at least one is smaller than this."""

# Records of the memory, in bytes.
PASSAGE_BYTES: Final = 800
"""Upper bound of a passage. Measured: 350 finds slightly more, but the index becomes as large as the text."""

MAX_PASSAGES: Final = 8000
"""A text with more passages is split into longer ones, so that no record fills a segment."""

# Windows of documents (`gitmem.memory.text_windows`), in tokens of the bundled model.
WHOLE_TOKENS: Final = 1200
"""Documents up to this length stay in one piece."""

WINDOW_TOKENS: Final = 900
"""Upper bound of a window."""

OVERLAP_TOKENS: Final = 100
"""Tokens that neighbouring windows share."""

EARLIEST_BREAK_TOKENS: Final = 600
"""A window ends at a break of the text only from this token on: more windows would cost more than the break gains."""
