"""BM25 over gitmem's terms, as the baseline. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gitmem.search.query_parser import parse_query
from gitmem.words import count_identifiers, terms_of

K1: Final = 1.2
B: Final = 0.75


class Bm25:
    """Term frequencies of texts (Robertson and Zaragoza 2009)."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._frequencies: dict[str, dict[int, int]] = {}
        lengths = np.zeros(len(texts))
        for place, text in enumerate(texts):
            counts: Counter[str] = Counter()
            for identifier, times in count_identifiers(text).identifiers.items():
                for term in terms_of(identifier):
                    counts[term] += times
            lengths[place] = counts.total()
            for term, times in counts.items():
                self._frequencies.setdefault(term, {})[place] = times
        self._length_factor = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1.0))

    def score(self, query: str) -> NDArray[np.float64]:
        """Return a score for each text."""
        scores = np.zeros(len(self._length_factor))
        for term in parse_query(query).terms:
            frequencies = self._frequencies.get(term, {})
            places = np.fromiter(frequencies, np.int64, len(frequencies))
            times = np.fromiter(frequencies.values(), np.float64, len(frequencies))
            idf = np.log(1 + (len(scores) - len(frequencies) + 0.5) / (len(frequencies) + 0.5))
            scores[places] += idf * times * (K1 + 1) / (times + self._length_factor[places])
        return scores
