"""Parse a text of several lines (an issue, a log, a stack trace) as a query. Pure.

The text is split into parts, and its terms and names weigh as much as the part that they are in.
"""

import itertools
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, Final

from gitmem.search.mentions import find_mentions
from gitmem.search.parsed_query import MAX_COMPOUNDS, Facet, Name, ParsedQuery, find_names, is_symbol, join_words
from gitmem.search.query_parts import CODE, ENVIRONMENT, ERROR, LOG, PROSE, TEMPLATE, TITLE, TRACE, split_query
from gitmem.search.quotations import find_snippet
from gitmem.search.stop_words import content_words
from gitmem.words import MAX_IDENTIFIER, count_identifiers, split_terms, terms_of

PART_WEIGHTS: Final[Mapping[str, float]] = {
    TITLE: 1.0,
    ERROR: 0.6,
    PROSE: 0.5,
    CODE: 0.3,
    TRACE: 0.2,
    LOG: 0.2,
    TEMPLATE: 0.02,
    ENVIRONMENT: 0.02,
}
"""Weight of a term by the type of the part that it is in. A term in several parts has the highest of their weights."""

QUOTED_WEIGHT: Final = 0.9
"""Least weight of what prose puts between backticks: people quote the code that they mean."""

RECEIVER_SHARE: Final = 0.7
"""Factor on the weight of a qualified name that is taken without its qualifier, which may be a variable (`ax.bar`)."""

NUMBER_SHARE: Final = 0.2
"""Factor on the weight of a number: in a long text it is mostly a version, a line or a value."""

MAX_TERMS: Final = 160
"""Terms of a long text whose frequencies are looked up, those of the highest weight."""

MAX_NAMES: Final = 24
"""Names of a long text that are compared with symbols and paths, likewise."""

_QUOTED: Final = re.compile(r"`([^`\n]{1,120})`")


def parse_text(query: str) -> ParsedQuery:
    """Analyse a text of any length; the cost of a search for it is bounded."""
    terms, names, compounds = _Weights(), _Weights(), _Weights()
    texts: dict[str, list[str]] = {}
    for kind, text in split_query(query):
        weight = PART_WEIGHTS[kind]
        texts.setdefault(kind, []).append(text)
        terms.raise_to(weight, _content_terms(text))
        if kind in (TITLE, PROSE, ERROR):
            compounds.raise_to(PART_WEIGHTS[PROSE], join_words(text))
        if kind in (TITLE, PROSE, ERROR, CODE):
            _weigh_names(names, weight, find_names(text, bare=False))
        for quoted in _QUOTED.findall(text) if kind in (TITLE, PROSE) else ():
            terms.raise_to(QUOTED_WEIGHT, _content_terms(quoted))
            _weigh_names(names, QUOTED_WEIGHT, find_names(quoted, bare=is_symbol(quoted)))
    numbers = {term: weight * NUMBER_SHARE for term, weight in terms.items() if term.isdigit()}
    joined = [word for word in compounds if word not in terms][:MAX_COMPOUNDS]
    weights = _Weights(terms | numbers | {word: compounds[word] for word in joined}).best(MAX_TERMS)
    best_names = names.best(MAX_NAMES)
    title = tuple(dict.fromkeys(_content_terms("\n".join(texts.get(TITLE, ())))))
    facets = [Facet(title, PART_WEIGHTS[TITLE])] if title else []
    facets += [Facet(terms_of(name[-1][:MAX_IDENTIFIER]), weight) for name, weight in best_names.items()]
    joined_texts = {kind: "\n".join(own) for kind, own in texts.items()}
    return ParsedQuery(
        text=count_identifiers(joined_texts.get(TITLE, "")),
        terms=tuple(weights),
        compounds=(),
        names=tuple(best_names),
        paths=(),
        bare=False,
        coded=False,
        mentions=tuple(find_mentions(query)),
        weights=weights,
        name_weights=best_names,
        facets=tuple(facets),
        texts=tuple((count_identifiers(text), PART_WEIGHTS[kind]) for kind, text in joined_texts.items()),
        quotation=find_snippet(query),
    )


class _Weights(dict[Any, float]):
    """Highest weight so far of each term or name, in the order in which they were met."""

    def raise_to(self, weight: float, items: Iterable[Hashable]) -> None:
        """Give some items at least this weight."""
        for item in items:
            self[item] = max(self.get(item, 0.0), weight)

    def best(self, count: int) -> "_Weights":
        """Return the items of the highest weights; of equal ones the first."""
        return _Weights({item: self[item] for item in sorted(self, key=lambda item: -self[item])[:count]})


def _weigh_names(names: _Weights, weight: float, found: Iterable[Name]) -> None:
    for name in found:
        names.raise_to(weight, [name])
        if len(name) > 1:
            names.raise_to(RECEIVER_SHARE * weight, [name[-1:]])


def _content_terms(text: str) -> Iterator[str]:
    # Long runs (encoded data, sentences of scripts without spaces) do not recur, so they are not worth the cache.
    split = (terms_of(word) if len(word) <= MAX_IDENTIFIER else split_terms(word) for word in content_words(text))
    return itertools.chain.from_iterable(split)
