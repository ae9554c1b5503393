"""Filters of a search on the server: which blobs pass, as bits by part, before any candidate is selected.

Languages and chunk types are columns. Paths are matched here, by the rules of the local search; the server sends only
paths with a literal piece of some pattern.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gitmem.git.path_encoding import path_bytes
from gitmem.named_tuple import NamedTuple
from gitmem.org.term_lists import PART_BITS, PART_BLOBS
from gitmem.search.scope import Filters
from gitmem.types import CHUNK_TYPES

if TYPE_CHECKING:
    from gitmem.org.connection import Database

_LITERAL: Final = re.compile(r"[^*?\[\]\\!]+")

_BY_COLUMNS: Final = """
SELECT (blob >> 13)::int, bit_or(set_bit(repeat('0', 8192)::bit(8192), (blob & 8191)::int, 1))::text
FROM gitmem.entries JOIN gitmem.blobs ON blobs.id = blob WHERE head = ANY(%(heads)s) AND {columns} GROUP BY 1 ORDER BY 1
"""
_BY_PATHS: Final = """
SELECT path, blob FROM gitmem.matching_paths(%(heads)s, %(files)s, %(pieces)s) JOIN gitmem.blobs ON blobs.id = blob
WHERE {columns}
"""
_COLUMNS: Final = """
(%(languages)s::text[] IS NULL OR parsed_language = ANY(%(languages)s)) AND (%(kinds)s = 0 OR kinds & %(kinds)s <> 0)
"""

PathMatch = Callable[[bytes], bool]


class BlobFilter(NamedTuple):
    """Blobs that pass: numbers of parts, and a string with a bit for each blob of the part."""

    parts: list[int]
    bits: list[str]


def find_passing(database: "Database", heads: Sequence[int], filters: Filters) -> BlobFilter:
    """Return the blobs of some heads of which a path, the language and a row pass. Raises: UsageError."""
    parameters = {
        "heads": list(heads),
        "languages": list(filters.languages) or None,
        "kinds": sum(1 << CHUNK_TYPES.index(name) for name in set(filters.chunk_types)),
        "files": [path_bytes(file) for file in filters.files] or None,
        "pieces": _pieces(filters),
    }
    if not filters.any_of_paths:
        rows: Any = database.execute(_BY_COLUMNS.format(columns=_COLUMNS).encode(), parameters).fetchall()
        return BlobFilter([part for part, _ in rows], [bits for _, bits in rows])
    matches = path_matcher(filters)
    rows = database.execute(_BY_PATHS.format(columns=_COLUMNS).encode(), parameters).fetchall()
    return _pack(blob for path, blob in rows if matches(path))


def path_matcher(filters: Filters) -> PathMatch:
    """Return a predicate for paths, relative to their repository. Raises: UsageError for a malformed pattern."""
    if not filters.any_of_paths:
        return lambda _: True
    from gitmem.search.globs import compile_filters  # the glob matcher is a tenth of the search's imports

    return compile_filters(filters.include, filters.exclude, filters.pathspecs, filters.files, filters.folders)


def _pieces(filters: Filters) -> list[bytes] | None:
    """Return pieces of which each selected path has one, None if no such pieces are known."""
    for patterns in (filters.include, filters.folders):
        pieces = [max(_LITERAL.findall(pattern), key=len, default="").strip("/") for pattern in patterns]
        # An escaped character, or a pattern that takes out paths, has a meaning that a piece does not show.
        is_plain = not any(char in pattern for pattern in patterns for char in "\\![") and all(pieces)
        if patterns and is_plain:
            return [path_bytes(piece) for piece in pieces]
    return None


def _pack(blobs: Iterable[int]) -> BlobFilter:
    numbers = np.unique(np.fromiter(blobs, np.int64))
    parts = np.unique(numbers >> PART_BITS).tolist()
    bits = []
    for part in parts:
        own = np.zeros(PART_BLOBS, np.uint8)
        own[numbers[numbers >> PART_BITS == part] & (PART_BLOBS - 1)] = ord("1") - ord("0")
        bits.append((own + ord("0")).tobytes().decode())
    return BlobFilter(parts, bits)
