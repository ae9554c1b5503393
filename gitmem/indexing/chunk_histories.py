"""Follow each chunk through the commits of a history: which one introduced it, which one removed it, and of which
definition it is a version.

Commits are added with parents first. A chunk that appears is a version of one that disappears in the same commit: of
that with the same symbol in the file, else in any file, else of the one with the most similar vector. So definitions
are followed through changes, moves and renames. All of this is set arithmetic on the chunks of the files that a commit
changed; no text is read. A definition that is still in its file was not renamed, however similar a new one is: its
text may have been moved out of it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.git.version_log import FileVersions
from gitmem.named_tuple import NamedTuple

ALIVE: Final = -1
"""Number of a commit that means that the chunk is still in the tip."""

UNKNOWN: Final = -2
"""Number of a commit that means one before the first that was read, or a merge that took one side as it was."""

_RENAMED_BITS: Final = 48
"""Greatest number of differing signs in the vectors of a definition before and after a rename: of 256, 34 degrees."""

_MAX_PAIRS: Final = 10_000
"""Pairs of chunks to compare in one commit: those that replace a whole library are not compared."""


class Chunks(NamedTuple):
    """Properties of each chunk: its symbol, and the signs of its vector as bits, [chunks, dimensions / 8]."""

    symbols: Sequence[str]
    signatures: NDArray[np.uint8]


class _Appearance(NamedTuple):
    """Chunk that appears for the first time, and the chunks that disappear from the same file."""

    chunk: int
    lost: frozenset[int]


class ChunkHistories:
    """First and last commit of each chunk, and the definition that it is a version of, [chunks] each.

    `members` returns the chunks of a blob. `introduced`, `removed` and `group` continue those of an earlier history;
    the group of a chunk that no commit had is -1.
    """

    def __init__(
        self,
        chunks: Chunks,
        members: Callable[[str], Iterable[int]],
        introduced: NDArray[np.int32],
        removed: NDArray[np.int32],
        group: NDArray[np.int32],
    ) -> None:
        self.introduced = introduced
        self.removed = removed
        self.group = group
        self._chunks = chunks
        self._members = members
        self._groups = int(group.max(initial=-1)) + 1

    def add(self, number: int, files: Iterable[FileVersions]) -> None:
        """Add the next commit: the files that it changed."""
        added, lost, dropped, new = set[int](), set[int](), set[int](), list[_Appearance]()
        continued = set[int]()
        for file in files:
            sides = [frozenset(self._members(blob)) for blob in file.before]
            before, common = frozenset[int]().union(*sides), frozenset.intersection(*sides)
            after = frozenset(self._members(file.after))
            for chunk in sorted(before):
                if self.group[chunk] < 0:  # it was there before the first commit that was read
                    self._begin(chunk, UNKNOWN, self._next_group())
            gone = before - after
            new += [_Appearance(chunk, gone) for chunk in sorted(after - before) if self.group[chunk] < 0]
            added |= after - before
            lost |= gone
            dropped |= gone - common
            continued |= self._continued(gone, after)
        self._link(number, new, lost - added, continued)
        # It may have been removed before, and come back by a revert.
        for chunk in added:
            self.removed[chunk] = UNKNOWN
        # A chunk that moves to another file in the same commit is not removed. One that only some parents of a merge
        # have was removed by a commit of another side, or else the merge dropped it.
        for chunk in lost - added:
            if chunk not in dropped or self.removed[chunk] < 0:
                self.removed[chunk] = number

    def close(self, tip: Iterable[int]) -> None:
        """Note which chunks are in the tip."""
        # One that came back by a merge was removed in one history only, and one that is gone by a merge has no commit.
        self.removed[self.removed == ALIVE] = UNKNOWN
        self.removed[np.fromiter(tip, np.int64)] = ALIVE

    def _continued(self, gone: Iterable[int], after: Iterable[int]) -> set[int]:
        """Return those of the chunks that disappear from a file whose symbol the file still has."""
        kept = {self._chunks.symbols[chunk] for chunk in after}
        return {chunk for chunk in gone if self._chunks.symbols[chunk] in kept}

    def _link(self, number: int, new: Sequence[_Appearance], lost: set[int], continued: set[int]) -> None:
        """Begin the chunks that appear, each as a version of one that disappears if there is such a one.

        Definitions that are `continued` under their symbol were not renamed.
        """
        former: dict[int, int] = {}
        remaining = set(lost)
        for own_file in (True, False):
            by_symbol: Mapping[str, set[int]] = self._by_symbol(remaining)
            pairs = [
                (self._distance(chunk, other), chunk, other)
                for chunk, gone in new
                if chunk not in former
                for other in by_symbol.get(self._chunks.symbols[chunk], ())
                if not own_file or other in gone
            ]
            _take_best(pairs, former, remaining)
        # A renamed definition has another symbol, but a similar vector.
        rest = [chunk for chunk, _ in new if chunk not in former]
        remaining -= continued
        if len(rest) * len(remaining) <= _MAX_PAIRS:
            compared = [(self._distance(chunk, other), chunk, other) for chunk in rest for other in remaining]
            _take_best([pair for pair in compared if pair[0] <= _RENAMED_BITS], former, remaining)
        for chunk, _ in new:
            if self.group[chunk] < 0:  # two files of a commit may begin with the same chunk
                self._begin(chunk, number, self.group[former[chunk]] if chunk in former else self._next_group())

    def _by_symbol(self, chunks: Iterable[int]) -> dict[str, set[int]]:
        groups = defaultdict[str, set[int]](set)
        for chunk in chunks:
            groups[self._chunks.symbols[chunk]].add(chunk)
        return groups

    def _distance(self, one: int, other: int) -> int:
        signatures = self._chunks.signatures
        return int(np.bitwise_count(signatures[one] ^ signatures[other]).sum())

    def _begin(self, chunk: int, number: int, group: int) -> None:
        self.introduced[chunk], self.group[chunk] = number, group

    def _next_group(self) -> int:
        self._groups += 1
        return self._groups - 1


def _take_best(pairs: list[tuple[int, int, int]], former: dict[int, int], remaining: set[int]) -> None:
    """Link pairs of chunks, the most similar first, each chunk once."""
    for _, chunk, other in sorted(pairs):
        if chunk not in former and other in remaining:
            former[chunk] = other
            remaining.discard(other)
