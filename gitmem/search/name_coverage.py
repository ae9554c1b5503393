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
        related = next((self._by_root[root] for root in roots_of(term) if root in self._by_root), None)
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


def cover_names(names: Sequence[str], facets: Sequence[TermWeights]) -> NDArray[np.float64]:
    """Return how well each name covers the query and the query the name, [names]; 0 without a common term."""
    coverages = np.zeros(len(names))
    terms = {term for facet in facets for term in facet.idf}
    known: dict[str, float] = {}  # candidates share their folders, and often their names
    # Nearly all names have no term of the query; to split and stem them would be a third of a query.
    for position in names_containing(prefixes_of_related(terms), names):
        name = names[position]
        if name not in known:
            own = content_terms(name)
            known[name] = max((facet.weight * _coverage(own, facet) for facet in facets), default=0.0)
        coverages[position] = known[name]
    return coverages


def _coverage(terms: Sequence[str], weights: TermWeights) -> float:
    """Return the geometric mean of two shares: of the name's terms in the query, and of the query's idf in the name."""
    # Precision and recall of the name. Either alone would misjudge: a long name covers much of any query, and a name
    # of one common word is covered by many.
    shared = [term for term in terms if term in weights.idf]
    covered, found = float(len(shared)), sum(map(weights.idf.__getitem__, shared))
    if len(shared) < len(terms):
        met = set(shared)
        for term in terms:
            if term in met:
                continue
            # The query has the word of which this is a part: `websocket`. A long text has too many words for this.
            if weights.is_line and any(term in whole for whole in shared):
                covered += 1.0
                continue
            related = weights.related[term]
            if related is not None and related not in met:
                met.add(related)
                covered += RELATED_SHARE
                found += RELATED_SHARE * weights.idf[related]
    return float((covered / len(terms) * min(1.0, found / weights.total)) ** 0.5) if found else 0.0
