"""Number the terms of many identifiers, from the terms of their parts. Gives what `words.split_terms` gives."""

import numpy as np

from gitmem.arrays import differences
from gitmem.identifier_counts import Identifiers, Ids, PartIds, gather
from gitmem.words import split_terms, stem


class IdentifierTerms:
    """Numbers of terms. `names` are the terms by their number."""

    def __init__(self) -> None:
        self._numbers = Identifiers()
        self.names = self._numbers.names
        self._part_ids = PartIds(self._number_part, self._number_terms)

    def look_up(self, identifiers: Identifiers, first: int) -> Ids:
        """Return the terms of all identifiers from a number on. The terms of each are distinct."""
        owners, ids = self._part_ids.find(identifiers, first)
        text, sizes, _, _ = identifiers.divide_from(first)
        # An identifier of several parts is a term as a whole too, and so is one that is a single letter.
        compounds = text.replace("_", "").lower().encode("ascii").split(b"\n")
        wholes = np.flatnonzero((sizes > 1) | (np.fromiter(map(len, compounds), np.int64, len(sizes)) == 1))
        whole_ids = np.fromiter((self._numbers[compounds[place]] for place in wholes.tolist()), np.int64, len(wholes))
        width = len(self.names) + 1
        pairs = np.sort(np.concatenate([owners * width + ids, wholes * width + whole_ids]))
        # Not `np.unique`: its first call imports a package of masked arrays, 10 ms in every worker.
        pairs = pairs[differences(pairs, -1) > 0]
        return gather(pairs // width, pairs % width, len(sizes))

    def _number_part(self, part: str) -> tuple[int, ...]:
        return (self._numbers[stem(part).encode("ascii")],) if len(part) > 1 else ()

    def _number_terms(self, identifier: str) -> list[int]:
        return [self._numbers[term.encode("utf-8", "replace")] for term in split_terms(identifier)]
