"""Look up the places that a query names in the searched tree: files, and the rows that hold a named line or function.

A stack trace prints paths of another machine, so a path is matched from its end. Lines move between versions, and a
function keeps its name: a row counts if it is the function, else if it holds the line.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from gitmem.arrays import NDArray, is_among
from gitmem.git.path_encoding import path_text
from gitmem.named_tuple import NamedTuple
from gitmem.search.scope import Scope
from gitmem.search.term_postings import find_entries
from gitmem.words import count_identifiers, terms_of

if TYPE_CHECKING:
    from gitmem.search.mentions import Mention

FRAME_DECAY: Final = 0.85
"""Factor by which a frame counts less than the next one further inside. Only frames in the tree are counted."""

MIN_MATCH: Final = 0.5
"""Least share of a path of the tree that a longer path must match from the end, at least two parts."""

MAX_ENTRIES: Final = 512
"""Files of one name that are compared with a path; of more, none is meant."""


class NamedPlaces(NamedTuple):
    """Weights, 0 to 1, of the named files by entry, and of the rows in them that are named."""

    files: dict[int, float]
    rows: dict[int, float]


NO_PLACES: Final = NamedPlaces({}, {})


def find_places(scope: Scope, mentions: "Sequence[Mention]") -> NamedPlaces:
    """Return the files and rows in scope that the mentions of a query name."""
    files: dict[int, float] = {}
    rows: dict[int, float] = {}
    inside: dict[int, int] = {}
    for mention in sorted(mentions, key=lambda one: (one.stack, one.depth)):
        entries, certainty = _find_files(scope, mention.path)
        if not entries:
            continue
        rank = inside.get(mention.stack, 0) if mention.stack else 0
        inside[mention.stack] = rank + 1
        weight = certainty * FRAME_DECAY**rank
        for entry in entries:
            files[entry] = max(files.get(entry, 0.0), weight)
            for row in _named_rows(scope, entry, mention):
                rows[row] = max(rows.get(row, 0.0), weight)
    return NamedPlaces(files, rows)


def _find_files(scope: Scope, parts: tuple[str, ...]) -> tuple[list[int], float]:
    """Return the entries that a path may mean, and the certainty that each of them is meant."""
    best: list[int] = []
    certainty = 0.0
    for entry in _same_name(scope, parts[-1]):
        own = path_text(scope.view.path(entry)).split("/")
        shared = _common_end(own, parts)
        share = 1.0 if shared == len(parts) else shared / len(own)
        if not shared or (shared < len(parts) and (shared < 2 or share < MIN_MATCH)):
            continue
        if share > certainty:
            best, certainty = [], share
        if share == certainty:
            best.append(entry)
    return best, certainty / max(len(best), 1)


def _common_end(own: Sequence[str], parts: Sequence[str]) -> int:
    """Return the number of equal parts at the ends of two paths."""
    pairs = zip(reversed(own), reversed(parts), strict=False)
    return next((count for count, (one, other) in enumerate(pairs) if one != other), min(len(own), len(parts)))


def _same_name(scope: Scope, name: str) -> list[int]:
    """Return the entries with rows in scope that may have a file name."""
    stem = name.split(".")[0] or name
    terms = [term for identifier in count_identifiers(stem).identifiers for term in terms_of(identifier)]
    entries: NDArray[np.int64] | None = None
    for term in terms:
        own = find_entries(scope, "stem", term.encode("utf-8", "replace"))
        entries = own if entries is None else entries[is_among(entries, own)]
    if entries is None or len(entries) > MAX_ENTRIES:
        return []
    found: list[int] = entries.tolist()
    return found


def _named_rows(scope: Scope, entry: int, mention: "Mention") -> list[int]:
    """Return the rows of a file that are the function of a mention, else those that hold its line."""
    rows = scope.rows_of(np.array([entry]))
    if mention.symbol:
        symbols = scope.snapshot.symbols(rows)
        own = [row for row, symbol in zip(rows.tolist(), symbols, strict=True) if mention.symbol in _own_names(symbol)]
        if own:
            return own
    if not mention.line:
        return []
    columns = scope.snapshot.gather(("line", "lines"), rows)
    first = columns["line"].astype(np.int64)
    inside = (first <= mention.line) & (mention.line < first + columns["lines"].astype(np.int64))
    holding: list[int] = rows[inside].tolist()
    return holding


def _own_names(symbol: str) -> list[str]:
    return [name.rsplit(".", 1)[-1] for name in symbol.split(", ")]
