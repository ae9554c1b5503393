"""Rank the commits of a range by how likely they introduced a symptom. Pure but for the model.

Each commit has three descriptions: the lines that it added and removed with the names around them, its message, and
the chunks of the best results of a search that it changed. Each kind of evidence is divided by its highest value in the
range, so that it counts the same in a range of ten commits and of thousands.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.embedding.bundled import BundledEncoder
from gitmem.git.path_encoding import path_text
from gitmem.git.range_patches import FileLines, RangeCommit
from gitmem.named_tuple import NamedTuple
from gitmem.search.parsed_query import ParsedQuery
from gitmem.search.path_roles import path_role
from gitmem.words import Text, count_identifiers, decode, terms_of

WEIGHTS: Final[Mapping[str, float]] = {
    "chunks": 1.0, "files": 0.5, "lines": 1.0, "message": 0.5, "meaning": 0.5, "size": 0.3,
}  # fmt: skip
"""Weight of each kind of evidence, see `tests/bench/README.md`."""

_K1: Final = 1.2
_B: Final = 0.4
"""Parameters of BM25. Long commits are shortened less than usual: they introduce more lines, and so more faults."""

_EMBEDDED: Final = 2_000
"""Characters of names and message by which a commit is compared in meaning."""

_SHOWN_FILES: Final = 3


class TouchedChunk(NamedTuple):
    """Chunk of a search result that a commit changed, with the kinds and the weight of the change."""

    path: str
    symbol: str
    kinds: tuple[str, ...]
    weight: float


class Suspect(NamedTuple):
    """Commit of a range with its place in it, newest first, its score from 0 to 1, and the evidence for it.

    `chunks` are search results that the commit changed, `files` the changed files that fit the symptom best.
    """

    commit: RangeCommit
    place: int
    score: float
    evidence: Mapping[str, float]
    chunks: tuple[TouchedChunk, ...]
    files: tuple[str, ...]


class TermCounts(NamedTuple):
    """Occurrences of the terms of a query in a text, and the number of the text's identifiers."""

    terms: dict[str, int]
    length: int


class Changes(NamedTuple):
    """Terms in the lines of one commit by file, names around these lines, and how many lines of code it changed.

    Lines of tests, examples and documentation are not counted as code.
    """

    files: dict[str, TermCounts]
    names: str
    size: int


class TermCounter:
    """Counts the terms of a query. Nothing else of a commit is kept, so that a long range takes little memory."""

    def __init__(self, query: ParsedQuery) -> None:
        self._wanted = frozenset(query.terms)
        self._terms: dict[str, tuple[str, ...]] = {}

    def count(self, text: str) -> TermCounts:
        """Count the terms of a text."""
        counts: Counter[str] = Counter()
        length = 0
        for identifier, times in count_identifiers(text).identifiers.items():
            length += times
            # Most identifiers have none of the terms, and all are met again in other commits.
            terms = self._terms.get(identifier)
            if terms is None:
                terms = self._terms[identifier] = tuple(filter(self._wanted.__contains__, terms_of(identifier)))
            for term in terms:
                counts[term] += times
        return TermCounts(counts, length)

    def count_changes(self, files: Sequence[FileLines]) -> Changes:
        """Count the terms of the lines that a commit changed."""
        counts: dict[str, TermCounts] = {}
        size = 0
        for file in files:
            path = path_text(file.path)
            counts[path] = self.count("\n".join([path, *map(decode, file.surroundings), *map(decode, file.lines)]))
            size += 0 if path_role(path) else file.size
        names = " ".join(path_text(file.path) + " " + " ".join(map(decode, file.surroundings)) for file in files)
        return Changes(counts, names[:_EMBEDDED], size)


def rank_suspects(
    commits: Sequence[RangeCommit],
    changes: Sequence[Changes],
    chunks: Mapping[str, Sequence[TouchedChunk]],
    file_weights: Mapping[str, float],
    query: ParsedQuery,
) -> list[Suspect]:
    """Return the commits, the most likely first; equally likely ones newest first.

    `chunks` are the chunks of search results by the commit that changed them, `file_weights` the weights of files.
    """
    terms = {term: query.weights.get(term, 1.0) for term in query.terms}
    counter = TermCounter(query)
    fitting = _fitting_files(changes, terms)
    evidence = {
        "chunks": np.array([sum(chunk.weight for chunk in chunks.get(one.commit, ())) for one in commits]),
        "files": np.array([sum(file_weights.get(path, 0.0) for path in change.files) for change in changes]),
        "lines": _bm25([_add(change.files.values()) for change in changes], terms),
        "message": _bm25([counter.count(one.message) for one in commits], terms),
        "meaning": _cosines(commits, changes, query),
        "size": np.array([math.log1p(change.size) for change in changes]),
    }
    # The scales of BM25 and of counts depend on the range, so only ratios to the best commit are added.
    scaled = {name: _scale(values) for name, values in evidence.items()}
    score = np.zeros(len(commits))
    for name, weight in WEIGHTS.items():
        score += weight / sum(WEIGHTS.values()) * scaled[name]
    return [
        Suspect(
            commits[place],
            place,
            round(float(score[place]), 4),
            {name: round(float(values[place]), 4) for name, values in scaled.items()},
            tuple(sorted(chunks.get(commits[place].commit, ()), key=lambda chunk: -chunk.weight)),
            fitting[place],
        )
        for place in np.argsort(-score, kind="stable").tolist()
    ]


def _fitting_files(changes: Sequence[Changes], terms: Mapping[str, float]) -> list[tuple[str, ...]]:
    """Return the files of each commit whose lines fit the symptom best, to show them."""
    scores = _bm25([counts for change in changes for counts in change.files.values()], terms)
    fitting, at = [], 0
    for change in changes:
        paths = list(change.files)
        own = scores[at : at + len(paths)]
        at += len(paths)
        order = np.argsort(-own, kind="stable")[:_SHOWN_FILES].tolist()
        fitting.append(tuple(paths[place] for place in order if own[place] > 0))
    return fitting


def _add(texts: Iterable[TermCounts]) -> TermCounts:
    total: Counter[str] = Counter()
    length = 0
    for text in texts:
        total.update(text.terms)
        length += text.length
    return TermCounts(total, length)


def _bm25(texts: Sequence[TermCounts], terms: Mapping[str, float]) -> NDArray[np.float64]:
    """Return the score of each text for weighted terms (Robertson and Zaragoza 2009)."""
    scores = np.zeros(len(texts))
    found: dict[str, dict[int, int]] = {}
    for place, text in enumerate(texts):
        for term, times in text.terms.items():
            found.setdefault(term, {})[place] = times
    lengths = np.array([text.length for text in texts], float)
    factor = _K1 * (1 - _B + _B * lengths / max(float(lengths.mean()), 1.0)) if len(texts) else lengths
    for term, frequencies in found.items():
        places = np.fromiter(frequencies, np.int64, len(frequencies))
        counts = np.fromiter(frequencies.values(), np.float64, len(frequencies))
        idf = math.log(1 + (len(texts) - len(places) + 0.5) / (len(places) + 0.5))
        scores[places] += terms[term] * idf * counts * (_K1 + 1) / (counts + factor[places])
    return scores


def _cosines(commits: Sequence[RangeCommit], changes: Sequence[Changes], query: ParsedQuery) -> NDArray[np.float64]:
    """Return how close in meaning the message and the changed names of each commit are to the symptom."""
    # One text for both: a message of two words says little about its commit, and neither does a list of names.
    texts = [f"{one.message[:_EMBEDDED]} {change.names}" for one, change in zip(commits, changes, strict=True)]
    parts: Sequence[tuple[Text, float]] = query.texts or ((query.text, 1.0),)
    encoder = BundledEncoder()
    vectors = encoder.encode_names([count_identifiers(text) for text in texts])
    wanted = sum((weight * encoder.encode_names([text])[0] for text, weight in parts), np.zeros(vectors.shape[1]))
    length = float(np.linalg.norm(wanted)) or 1.0
    return np.maximum(vectors @ wanted / length, 0.0).astype(np.float64)


def _scale(values: NDArray[np.float64]) -> NDArray[np.float64]:
    highest = float(values.max(initial=0.0))
    return values / highest if highest > 0 else values


def weigh_files(hits: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return the weight of each file: the highest one of its search results."""
    weights: dict[str, float] = {}
    for path, weight in hits:
        weights[path] = max(weights.get(path, 0.0), weight)
    return weights
