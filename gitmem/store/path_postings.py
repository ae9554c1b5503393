"""Postings of the words of paths: the inverted index by which a search finds files and folders by name."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.store.postings import Postings
from gitmem.words import count_identifiers, terms_of

PATH_FIELDS: Final = ("stem", "folder")
"""Fields of a path in the lexical index: the file name without its extension, and the folders."""

NO_POSTINGS: Final = Postings([], np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.uint8))


def path_postings(paths: Sequence[bytes], indexed: NDArray[np.bool_]) -> dict[str, Postings]:
    """Return the postings of the words of indexed paths; their rows are positions in `paths`."""
    places = np.flatnonzero(indexed)
    # Many files share a folder or a name, so each distinct text is split into words once.
    folders: dict[bytes, int] = {}
    stems: dict[bytes, int] = {}
    folder_of, stem_of = np.empty((2, len(places)), np.int32)
    for number, place in enumerate(places.tolist()):
        folder, _, name = paths[place].rpartition(b"/")
        folder_of[number] = folders.setdefault(folder, len(folders))
        stem_of[number] = stems.setdefault(name.split(b".")[0] or name, len(stems))
    return {"stem": _gather(stems, stem_of, places), "folder": _gather(folders, folder_of, places)}


def _gather(texts: dict[bytes, int], text_of: NDArray[np.int32], places: NDArray[np.int64]) -> Postings:
    """Return one posting per word of the text of each place."""
    numbers: dict[bytes, int] = {}
    terms: list[int] = []
    sizes: list[int] = []
    for text in texts:
        words = _path_words(text)
        terms += [numbers.setdefault(word, len(numbers)) for word in words]
        sizes.append(len(words))
    counts = np.array(sizes, np.int64)[text_of] if sizes else np.zeros(0, np.int64)
    starts = (np.cumsum(sizes, dtype=np.int64) - sizes)[text_of] if sizes else counts
    # Concatenated ranges without a loop: a running number, reset where each place begins, plus the start of its text.
    offsets = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    term = np.array(terms, np.int32)[np.repeat(starts, counts) + offsets]
    return Postings(list(numbers), term, np.repeat(places, counts).astype(np.int32), np.ones(len(term), np.uint8))


def _path_words(path: bytes) -> set[bytes]:
    identifiers = count_identifiers(path.decode("utf-8", "replace")).identifiers
    return {word.encode("utf-8", "replace") for identifier in identifiers for word in terms_of(identifier)}


def merge_postings(
    old: Postings, moved: NDArray[np.int32], added: Postings, added_places: NDArray[np.int64]
) -> Postings:
    """Return old and added postings under the numbers of a new view.

    `moved` has the new number of each old entry, -1 if it is removed; `added_places` that of each added entry.
    """
    row = moved[old.row]
    remains = row >= 0
    numbers = {term: number for number, term in enumerate(old.terms)}
    term = np.array([numbers.setdefault(word, len(numbers)) for word in added.terms], np.int32)
    return Postings(
        list(numbers),
        np.concatenate([old.term[remains], term[added.term]]),
        np.concatenate([row[remains], added_places[added.row].astype(np.int32)]),
        np.concatenate([old.frequency[remains], added.frequency]),
    )
