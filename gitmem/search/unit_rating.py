"""Rate the definitions among which a result is chosen: those of one row of the index, or of several rows of a file.

A row is ranked as a whole, and its file with it. Which definition of the file the query means is a finer question:
methods that share a row share its vector, and the words of a file count for all of its rows alike. So the definitions
of the best rows of a shown file are compared by their own vectors and names. The blobs of the hits are read anyway.
Weights are chosen by `tests/bench/definition_choice.py`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.embedding.encoder import Encoder
from gitmem.named_tuple import NamedTuple
from gitmem.search.hits import LIFT, Hit
from gitmem.search.lexical import K1, ROW_WEIGHTS
from gitmem.search.parsed_query import ParsedQuery
from gitmem.search.qualified_names import defines_own_name, qualified_names, telling_name
from gitmem.search.signature import unqualified_names
from gitmem.search.snippet import lines_of_span, match_terms
from gitmem.search.unit_text import named_text, own_text
from gitmem.types import CHUNK_TYPES, ResultUnit
from gitmem.words import count_identifiers, find_identifiers, terms_of

NAME_WEIGHT: Final = 0.4
WORDS_WEIGHT: Final = 0.2
ROW_WEIGHT: Final = 0.04
"""What the cosine of the name, the lexical score of the row and a logit of its sum count, relative to a cosine.

The name does not count if the query certainly asks for a change: that names what is wrong or new in a definition.
"""

VALUE_PENALTY: Final = 0.15
LOOSE_PENALTY: Final = 0.2
BREVITY_PENALTY: Final = 0.2
"""The same for a constant or field, for the text between definitions, and for a definition without any text.

Of few words, those that match are a large share.
"""

DESTRUCTOR_PENALTY: Final = 0.4
"""The same for a destructor: its words are the names of the members that it frees, and no query looks for those."""

_FULL_BYTES: Final = 100
"""Length from which a definition is not brief."""

TOPIC_PENALTY: Final = 0.08
"""The same once more for a query of at most six terms, less up to ten: in full without any text, less up to 600 bytes.

A few words name a topic, which is rather the subject of a class or of the function that does the work than of a helper
with one of the words in its name.
"""

_TOPIC_BYTES: Final = 600
_TOPIC_TERMS: Final = 6
_SENTENCE_TERMS: Final = 10

_VALUES: Final = frozenset({"constant", "field", "property", "type"})
_LOOSE: Final = frozenset({"module", "namespace"})
"""Types of units that are the text around the others. All further units with others inside are containers."""

Texts = Mapping[tuple[str, str], bytes]
"""Text of the source of each hit, empty if it cannot be read."""


class RatedUnit(NamedTuple):
    """A unit with its rating, which compares it with other units alone."""

    unit: ResultUnit
    rating: float


class QueryMeaning(NamedTuple):
    """What a query means, for the comparison with single definitions.

    `encoder` embeds names and made `vector`. `is_comparable` says whether it made the vectors of the index as well.
    `idf` is that of the query's terms.
    """

    query: ParsedQuery
    idf: Mapping[str, float]
    vector: NDArray[np.float32]
    encoder: Encoder
    is_comparable: bool


def rate_by_words(row: Hit, data: bytes, terms: Sequence[str]) -> list[RatedUnit]:
    """Return the units of a row by the terms in their names and lines, best first; equal ones in the order of lines."""
    counts, sizes = _term_counts(row, data, terms)
    return _order(row, terms, list(map(RatedUnit, row.units, _bm25(counts, sizes, terms))))


def find_matching(row: Hit, data: bytes, terms: Sequence[str]) -> frozenset[ResultUnit]:
    """Return the units of a row that have a term in their names or lines."""
    counts, _ = _term_counts(row, data, terms)
    return frozenset(unit for unit, of_unit in zip(row.units, counts, strict=True) if of_unit)


def rate_by_meaning(rows: Sequence[Hit], texts: Texts, meaning: QueryMeaning) -> list[list[RatedUnit]]:
    """Return the same for several rows by vectors, names and ranking, so that units of all rows compare.

    A row that is one definition has one unit. Embedding a unit costs some 50 microseconds; that of such a row has a
    vector already.
    """
    units_by_row = [row.units or (_whole(row),) for row in rows]
    cosines = _cosines(rows, units_by_row, texts, meaning)
    name_weight = NAME_WEIGHT * (1.0 - meaning.query.request)
    total = sum(meaning.idf.values()) or 1.0
    topic_penalty = TOPIC_PENALTY * _topic_share(meaning.query)
    rated = []
    for row, units in zip(rows, units_by_row, strict=True):
        of_row = WORDS_WEIGHT * row.scores["lexical"] / total - ROW_WEIGHT * row.scores.get(LIFT, 0.0)
        ratings = [
            RatedUnit(unit, of_row + own.text + name_weight * own.name - _penalty(unit, topic_penalty))
            for unit, own in zip(units, cosines, strict=False)
        ]
        rated.append(_order(row._replace(units=units), meaning.query.terms, ratings))
    return rated


def _topic_share(query: ParsedQuery) -> float:
    """Return from 0 to 1 how surely a query names a topic: by few terms, and without asking for a change."""
    few = (_SENTENCE_TERMS - len(query.terms)) / (_SENTENCE_TERMS - _TOPIC_TERMS)
    return (1.0 - query.request) * min(1.0, max(0.0, few))


def _penalty(unit: ResultUnit, topic_penalty: float) -> float:
    """Return how much less likely a definition is meant because of its kind and length, as a difference of cosines."""
    size = unit.end - unit.start
    is_value, is_loose = unit.chunk_type in _VALUES, unit.chunk_type in _LOOSE
    by_length = BREVITY_PENALTY * max(0.0, 1 - size / _FULL_BYTES) + topic_penalty * max(0.0, 1 - size / _TOPIC_BYTES)
    by_kind = VALUE_PENALTY * is_value + LOOSE_PENALTY * is_loose + DESTRUCTOR_PENALTY * (".~" in unit.symbol)
    return by_kind + by_length


def _whole(row: Hit) -> ResultUnit:
    return ResultUnit(row.start, row.end, row.start_line, row.end_line, row.chunk_type, row.symbol)


class _Cosines(NamedTuple):
    """Cosines of the text and of the name of a unit with the query."""

    text: float
    name: float


def _cosines(
    rows: Sequence[Hit], units_by_row: Sequence[Sequence[ResultUnit]], texts: Texts, meaning: QueryMeaning
) -> Iterator[_Cosines]:
    """Yield the cosines of all units; for the text of rows with one unit the stored one, if it is comparable."""
    embedded = [len(units) > 1 or not meaning.is_comparable for units in units_by_row]
    names = [count_identifiers(_defined_name(unit)) for units in units_by_row for unit in units]
    bags = [
        named_text(unit.symbol, own_text(texts[row.source], unit, units))
        for row, units, is_embedded in zip(rows, units_by_row, embedded, strict=True)
        if is_embedded
        for unit in units
    ]
    # All at once, because each call has a cost of its own. einsum, because a unit must get the same bits whichever
    # others are compared with it.
    every = iter(np.einsum("ij,j->i", meaning.encoder.encode_names([*names, *bags]), meaning.vector).tolist())
    of_names = list(islice(every, len(names)))
    of_texts: list[float] = []
    for row, units, is_embedded in zip(rows, units_by_row, embedded, strict=True):
        of_texts += islice(every, len(units)) if is_embedded else [row.scores["semantic"]]
    return map(_Cosines, of_texts, of_names)


def _defined_name(unit: ResultUnit) -> str:
    """Return the name that a unit defines; "" for a constructor or an extension, which has that of another one."""
    parts = qualified_names(unit.symbol)[0]
    return telling_name(unit.symbol) if defines_own_name(parts, CHUNK_TYPES.index(unit.chunk_type)) else ""


def _order(row: Hit, terms: Sequence[str], rated: Sequence[RatedUnit]) -> list[RatedUnit]:
    """Return the units of a row, best first; of equal ones the first in the file."""
    first = rated[0]
    if not _is_around(row.units) or first.unit.chunk_type in _LOOSE:
        return sorted(rated, key=lambda one: -one.rating)
    # A container answers for its fields, unless the query is one of their names.
    named = [one for one in rated[1:] if is_named(one.unit, terms) and not is_named(first.unit, terms)]
    rest = [one for one in rated[1:] if one not in named]
    return [*named, first, *sorted(rest, key=lambda one: -one.rating)]


def _is_around(units: Sequence[ResultUnit]) -> bool:
    return len(units) > 1 and units[0].end >= units[-1].end


def _term_counts(row: Hit, data: bytes, terms: Sequence[str]) -> tuple[list[dict[str, float]], list[int]]:
    """Return for each unit the weighted number of its lines with each term, and its number of lines.

    A line belongs to the first unit only if no other contains it. The name counts like in the index.
    """
    around = _is_around(row.units)
    lines = match_terms(lines_of_span(data, row.start, row.end), frozenset(terms)) if data else {}
    counts: list[dict[str, float]] = []
    for unit in row.units:
        in_name = _name_terms(unit).intersection(terms)
        counts.append(dict.fromkeys(in_name, ROW_WEIGHTS.symbol))
    sizes = [unit.end_line - unit.start_line + 1 for unit in row.units]
    if around:
        sizes[0] = max(1, sizes[0] - sum(sizes[1:]))
    for position, found in lines.items():
        number = row.start_line + position
        holders = [place for place, unit in enumerate(row.units) if unit.start_line <= number <= unit.end_line]
        for place in holders[1:] if around and len(holders) > 1 else holders:
            for term in found:
                counts[place][term] = counts[place].get(term, 0.0) + ROW_WEIGHTS.text
    return counts, sizes


def _bm25(counts: Sequence[Mapping[str, float]], sizes: Sequence[int], terms: Sequence[str]) -> list[float]:
    """Return the BM25 score of each unit among the units of its row: a term that all of them have says little."""
    mean = sum(sizes) / len(sizes)
    total = len(counts)
    scores = [0.0] * total
    for term in terms:
        holding = sum(term in of_unit for of_unit in counts)
        idf = math.log(1 + (total - holding + 0.5) / (holding + 0.5))
        for place, of_unit in enumerate(counts):
            frequency = of_unit.get(term, 0.0)
            norm = 1 - ROW_WEIGHTS.b + ROW_WEIGHTS.b * sizes[place] / mean
            scores[place] += idf * frequency * (K1 + 1) / (frequency + K1 * norm)
    return scores


def is_named(unit: ResultUnit, terms: Sequence[str]) -> bool:
    """Return whether the name of a unit has all terms of the query."""
    return bool(terms) and _name_terms(unit).issuperset(terms)


def _name_terms(unit: ResultUnit) -> set[str]:
    names = unqualified_names(unit.symbol)
    return {term for name in names for identifier in find_identifiers(name) for term in terms_of(identifier)}
