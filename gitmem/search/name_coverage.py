"""Compare the names of symbols, files and folders with the words of a query. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.named_tuple import NamedTuple
from gitmem.search.line_search import names_containing
from gitmem.search.parsed_query import ParsedQuery
from gitmem.search.path_roles import content_terms
from gitmem.search.related_words import prefixes_of_related, roots_of

RELATED_SHARE: Final = 0.8
"""What a word counts in a name if the query has a related one: `parser` for `parse`."""


class RelatedTerms(dict[str, str | None]):
    """The term of the query that a term of a name is related to, None if there is none. Names share their terms."""

    def __init__(self, terms: Iterable[str]) -> None:
        self._by_root = {root: term for term in terms for root in roots_of(term)}

    def __missing__(self, term: str) -> str | None:
        related = None
        for root in roots_of(term):
            if root in self._by_root:
                related = self._by_root[root]
                break
        self[term] = related
        return related


class TermWeights(NamedTuple):
    """The idf of each term of a part of the query, their sum, the weight of the part, and the related terms.

    `is_line` is True for a query of one line, whose words may be words of several parts in a name.
    """

    idf: Mapping[str, float]
    total: float
    weight: float
    related: RelatedTerms
    is_line: bool


def weigh_facets(query: ParsedQuery, idf: Mapping[str, float]) -> list[TermWeights]:
    """Return the terms of each facet with their idf; a query of one line is one facet."""
    if not query.facets:
        return [TermWeights(idf, sum(idf.values()) or 1.0, 1.0, RelatedTerms(idf), is_line=True)]
    facets = []
    for terms, weight in query.facets:
        own = {term: idf[term] / query.weights[term] for term in terms if term in idf}
        if own:
            facets.append(TermWeights(own, sum(own.values()) or 1.0, weight, RelatedTerms(own), is_line=False))
    return facets


class NameCoverage:
    """Agreement of names with the words of one query."""

    def __init__(self, query: ParsedQuery, idf: Mapping[str, float]) -> None:
        self._facets = weigh_facets(query, idf)
        self._prefixes = prefixes_of_related({term for facet in self._facets for term in facet.idf})
        self._known: dict[str, float] = {}  # candidates share their folders, and often their names

    def of(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Return how well each name covers the query and the query the name, [names]; 0 without a common term."""
        coverages = np.zeros(len(names))
        known = self._known
        # Nearly all names have no term of the query; to split and stem them would be a third of a query.
        for position in names_containing(self._prefixes, names):
            name = names[position]
            coverage = known.get(name)
            if coverage is None:
                coverage = known[name] = self._cover(name)
            coverages[position] = coverage
        return coverages

    def _cover(self, name: str) -> float:
        terms = content_terms(name)
        best = 0.0
        for facet in self._facets:
            best = max(best, facet.weight * _coverage(terms, facet))
        return best


def _coverage(terms: Sequence[str], weights: TermWeights) -> float:
    """Return the geometric mean of two shares: of the name's terms in the query, and of the query's idf in the name."""
    # Precision and recall of the name. Either alone would misjudge: a long name covers much of any query, and a name
    # of one common word is covered by many.
    shared = [term for term in terms if term in weights.idf]
    covered, found = float(len(shared)), sum([weights.idf[term] for term in shared])
    if len(shared) < len(terms):
        met = set(shared)
        # The query has the word of which a term is a part: `websocket`. A long text has too many words for this.
        whole = "\n".join(shared) if weights.is_line else ""
        for term in terms:
            if term in met:
                continue
            if term in whole:
                covered += 1.0
                continue
            related = weights.related[term]
            if related is not None and related not in met:
                met.add(related)
                covered += RELATED_SHARE
                found += RELATED_SHARE * weights.idf[related]
    return float((covered / len(terms) * min(1.0, found / weights.total)) ** 0.5) if found else 0.0
