"""Choose the results of a row that several units share, such as merged methods: by the query's terms in their lines.

Index and ranking know the row as a whole: its vector and word counts separate its units only by their names. Their
lines say more, and the blobs of the hits are read anyway. Of each row the best unit is shown. Further ones follow if
other rows do not fill the list.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

from gitmem.named_tuple import NamedTuple
from gitmem.search.hits import Hit
from gitmem.search.lexical import K1, ROW_WEIGHTS
from gitmem.search.select import COLLAPSED_BYTES, REPEAT_DECAY
from gitmem.search.signature import unqualified_names
from gitmem.search.snippet import lines_of_span, match_terms
from gitmem.search.unit_copies import add_unless_copy
from gitmem.types import ResultUnit
from gitmem.words import find_identifiers, terms_of

_LOOSE: Final = frozenset({"module", "namespace"})
"""Types of units that are the text around the others. All further units with others inside are containers."""


class _Rated(NamedTuple):
    """A unit with its score, which is 0 without any term of the query."""

    unit: ResultUnit
    score: float


def choose_units(
    hits: Sequence[Hit], texts: Mapping[tuple[str, str], bytes], terms: Sequence[str], limit: int
) -> list[Hit]:
    """Return at most `limit` hits, in which each row with units is represented by its best one, and copies by the best.

    `texts` has the text of the source of each hit, which is empty if it cannot be read.
    """
    chosen: list[Hit] = []
    others: list[Hit] = []
    for hit in hits:
        rated = _rate(hit, texts[hit.source], terms) if hit.units else []
        results = [_replace(hit, one.unit) for one in rated]
        add_unless_copy(chosen, results[0] if results else hit, texts)
        others += [
            result._replace(score=result.score * REPEAT_DECAY)
            for result, one in zip(results[1:], rated[1:], strict=True)
            if one.score
        ]
    others.sort(key=lambda hit: -hit.score)  # stable: of one row the best unit comes first
    for other in others:
        if len(chosen) >= limit:
            break
        if not any(_represents(hit, other) for hit in chosen):
            add_unless_copy(chosen, other._replace(score=min(other.score, chosen[-1].score)), texts)
    return chosen


def _replace(hit: Hit, unit: ResultUnit) -> Hit:
    return hit._replace(**unit._asdict(), units=())


def _represents(hit: Hit, other: Hit) -> bool:
    """Return whether two hits overlap in a file and the wider one is short enough to represent both."""
    if hit.path != other.path or hit.start >= other.end or other.start >= hit.end:
        return False
    return max(hit.end - hit.start, other.end - other.start) <= COLLAPSED_BYTES


def _rate(hit: Hit, data: bytes, terms: Sequence[str]) -> list[_Rated]:
    """Return the units of a hit, best first; of equal ones the first in the file."""
    first, *inner = hit.units
    around = bool(inner) and first.end >= inner[-1].end
    own, words = _term_counts(hit, data, terms, around)
    scores = _bm25(own, words, terms)
    rated = [_Rated(unit, score) for unit, score in zip(hit.units, scores, strict=True)]
    if around and first.chunk_type not in _LOOSE:
        # A container answers for its fields, unless the query is one of their names.
        named = [one for one in rated[1:] if _is_named(one.unit, terms) and not _is_named(first, terms)]
        rest = [one for one in rated[1:] if one not in named]
        return [*named, rated[0], *sorted(rest, key=lambda one: -one.score)]
    return sorted(rated, key=lambda one: -one.score)


def _term_counts(hit: Hit, data: bytes, terms: Sequence[str], around: bool) -> tuple[list[dict[str, float]], list[int]]:
    """Return for each unit the weighted number of its lines with each term, and its number of lines.

    A line belongs to the first unit only if no other contains it. The name counts like in the index.
    """
    lines = match_terms(lines_of_span(data, hit.start, hit.end), frozenset(terms)) if data else {}
    counts: list[dict[str, float]] = []
    for unit in hit.units:
        in_name = _name_terms(unit).intersection(terms)
        counts.append(dict.fromkeys(in_name, ROW_WEIGHTS.symbol))
    sizes = [unit.end_line - unit.start_line + 1 for unit in hit.units]
    if around:
        sizes[0] = max(1, sizes[0] - sum(sizes[1:]))
    for position, found in lines.items():
        number = hit.start_line + position
        holders = [place for place, unit in enumerate(hit.units) if unit.start_line <= number <= unit.end_line]
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


def _is_named(unit: ResultUnit, terms: Sequence[str]) -> bool:
    """Return whether the name of a unit has all terms of the query."""
    return bool(terms) and _name_terms(unit).issuperset(terms)


def _name_terms(unit: ResultUnit) -> set[str]:
    names = unqualified_names(unit.symbol)
    return {term for name in names for identifier in find_identifiers(name) for term in terms_of(identifier)}
