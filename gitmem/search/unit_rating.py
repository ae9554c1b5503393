"""Rate the definitions of one row of the index by the words of a query, and order them.

Methods that share a row share its scores. Their own names and lines tell which of them a query means, if that is a name
or if meaning does not count. Pure.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

from gitmem.named_tuple import NamedTuple
from gitmem.search.hits import Hit
from gitmem.search.lexical import K1, ROW_WEIGHTS
from gitmem.search.parsed_query import Literal
from gitmem.search.qualified_names import has_name
from gitmem.search.signature import unqualified_names
from gitmem.search.snippet import lines_of_span, match_terms
from gitmem.types import ResultUnit
from gitmem.words import find_identifiers, terms_of

LOOSE: Final = frozenset({"module", "namespace"})
"""Types of units that are the text around the others. All further units with others inside are containers."""


class RatedUnit(NamedTuple):
    """A unit with its rating, which compares it with other units alone."""

    unit: ResultUnit
    rating: float


def rate_by_words(row: Hit, data: bytes, terms: Sequence[str]) -> list[RatedUnit]:
    """Return the units of a row by the terms in their names and lines, best first; equal ones in the order of lines."""
    counts, sizes = _term_counts(row, data, terms)
    return order_units(list(map(RatedUnit, row.units, _bm25(counts, sizes, terms))), terms)


def put_literal_first(rated: Sequence[RatedUnit], data: bytes, literal: Literal) -> list[RatedUnit]:
    """Return units, best first, with those first that a query names, or that have its quotation.

    The smallest unit with a quotation precedes the class around it. `data` is the text of the file.
    """
    own = [one for one in rated if has_literal(one.unit, data, literal)]
    if literal.quotation is not None:
        own.sort(key=lambda one: one.unit.end - one.unit.start)
    return [*own, *(one for one in rated if one not in own)] if own else list(rated)


def has_literal(place: ResultUnit | Hit, data: bytes, literal: Literal) -> bool:
    """Return whether a unit or row has a name that a query is, or its quotation."""
    if literal.quotation is not None and literal.quotation.is_in(data, place.start, place.end):
        return True
    return any(has_name(place.symbol, name) for name in literal.names)


def find_matching(row: Hit, data: bytes, terms: Sequence[str]) -> frozenset[ResultUnit]:
    """Return the units of a row that have a term in their names or lines."""
    counts, _ = _term_counts(row, data, terms)
    return frozenset(unit for unit, of_unit in zip(row.units, counts, strict=True) if of_unit)


def order_units(rated: Sequence[RatedUnit], terms: Sequence[str]) -> list[RatedUnit]:
    """Return all units of a row, given in the order of lines, best first.

    A container answers for its fields, unless the query is one of their names.
    """
    first = rated[0]
    if not _is_around([one.unit for one in rated]) or first.unit.chunk_type in LOOSE:
        return sorted(rated, key=lambda one: -one.rating)
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
