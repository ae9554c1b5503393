"""Number the terms of many identifiers, from the terms of their parts. Gives what `words.split_terms` gives."""

from array import array

import numpy as np

from gitmem.arrays import differences
from gitmem.identifier_counts import Division, Identifiers, Ids, Numbers, PartIds, Parts, gather
from gitmem.named_tuple import NamedTuple
from gitmem.words import compound_of, join_words, joined_words, may_be_second, split_terms, stem


class IdentifierTerms:
    """Numbers of terms. `names` are the terms by their number."""

    def __init__(self) -> None:
        self._numbers = Identifiers()
        self.names = self._numbers.names
        self._part_ids = PartIds(self._number_part, self._number_terms)
        self._joinable = JoinableParts()

    def look_up(self, identifiers: Identifiers, first: int) -> Ids:
        """Return the terms of all identifiers from a number on. The terms of each are distinct."""
        owners, ids = self._part_ids.find(identifiers, first)
        division = identifiers.divide_from(first)
        # An identifier of several parts is a term as a whole too, and so is one that is a single letter.
        compounds = division.text.replace("_", "").lower().encode("ascii").split(b"\n")
        joined_owners, joined_ids = self._number_joined(identifiers.parts, division, compounds)
        lengths = np.fromiter(map(len, compounds), np.int64, len(division.sizes))
        wholes = np.flatnonzero((division.sizes > 1) | (lengths == 1))
        whole_ids = np.fromiter((self._numbers[compounds[place]] for place in wholes.tolist()), np.int64, len(wholes))
        width = len(self.names) + 1
        every, terms = np.concatenate([owners, wholes, joined_owners]), np.concatenate([ids, whole_ids, joined_ids])
        pairs = np.sort(every * width + terms)
        # Not `np.unique`: its first call imports a package of masked arrays, 10 ms in every worker.
        pairs = pairs[differences(pairs, -1) > 0]
        return gather(pairs // width, pairs % width, len(division.sizes))

    def _number_joined(self, parts: Parts, division: Division, compounds: list[bytes]) -> tuple[Numbers, Numbers]:
        """Return pairs of identifier and a term of several of its parts. Stems the compounds that are a word."""
        ends = np.cumsum(division.sizes)
        all_owners = np.repeat(np.arange(len(ends)), division.sizes)
        found = self._joinable.find(parts, division.parts, all_owners)
        numbered = self._number_numbered(parts, division.parts[found.numbered], division.parts[found.numbered + 1])
        owners, ids = array("q"), array("q")
        spelled = all_owners[found.spelled]
        for owner in spelled[differences(spelled, -1) > 0].tolist():
            numbers = division.parts[ends[owner] - division.sizes[owner] : ends[owner]].tolist()
            own = [parts.names[number] for number in numbers]
            compounds[owner] = compound_of(own).encode("ascii")
            for term in join_words(own):
                owners.append(owner)
                ids.append(self._numbers[term.encode("ascii")])
        return (
            np.concatenate([all_owners[found.numbered], np.array(owners, np.int64)]),
            np.concatenate([numbered, np.array(ids, np.int64)]),
        )

    def _number_numbered(self, parts: Parts, words: Numbers, numbers: Numbers) -> Numbers:
        """Return the terms of words with the number behind each. A pair is looked up once."""
        pairs = (words << 32) | numbers
        distinct = np.sort(pairs)
        distinct = distinct[differences(distinct, -1) > 0]
        names = (parts.names[pair >> 32] + parts.names[pair & 0xFFFFFFFF] for pair in distinct.tolist())
        ids = np.array([self._numbers[name.encode("ascii")] for name in names], np.int64)
        return ids[np.searchsorted(distinct, pairs)]

    def _number_part(self, part: str) -> tuple[int, ...]:
        return (self._numbers[stem(part).encode("ascii")],) if len(part) > 1 else ()

    def _number_terms(self, identifier: str) -> list[int]:
        return [self._numbers[term.encode("utf-8", "replace")] for term in split_terms(identifier)]


class _Joinable(NamedTuple):
    """Positions of parts: words before a number, and those with which a word of several parts may begin."""

    numbered: Numbers
    spelled: Numbers


class JoinableParts:
    """Finds parts that may be one word with those behind them. Each part is looked at once."""

    def __init__(self) -> None:
        self._parts: Parts | None = None
        self._is_first = self._is_second = self._is_word = self._is_number = np.zeros(0, np.bool_)

    def find(self, parts: Parts, numbers: Numbers, owners: Numbers) -> _Joinable:
        """Return positions in `numbers`, which are parts of identifiers one after the other; `owners` are these."""
        self._extend(parts)
        followed = np.flatnonzero(owners[1:] == owners[:-1])
        here, next_one = numbers[followed], numbers[followed + 1]
        begins = np.flatnonzero(differences(owners, -1) > 0)
        is_numeric = np.repeat(self._is_number[numbers[begins]], differences(np.append(begins, len(owners))))
        numbered = self._is_word[here] & self._is_number[next_one] & ~is_numeric[followed]
        return _Joinable(followed[numbered], followed[self._is_first[here] & self._is_second[next_one]])

    def _extend(self, parts: Parts) -> None:
        if parts is not self._parts:
            self._parts = parts
            self._is_first = self._is_second = self._is_word = self._is_number = np.zeros(0, np.bool_)
        new = parts.names[len(self._is_first) :]
        first_parts = joined_words()
        self._is_first = np.append(self._is_first, np.array([name in first_parts for name in new], np.bool_))
        self._is_second = np.append(self._is_second, np.array([may_be_second(name) for name in new], np.bool_))
        self._is_word = np.append(self._is_word, np.array([name.isalpha() for name in new], np.bool_))
        self._is_number = np.append(self._is_number, np.array([name.isdigit() for name in new], np.bool_))
