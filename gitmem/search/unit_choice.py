"""Choose the definitions that are shown for the files that a search found.

Each hit stands for a row of the index, and names further rows of its file that match. All definitions in these rows are
rated (`unit_meaning`, `unit_rating`), and the hits of a file show the best of them. Further ones follow if other files
do not fill the list.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

from gitmem.named_tuple import NamedTuple
from gitmem.search.hits import COMPARED_ROWS, LARGEST_LIFT, LIFT, Hit, show_whole
from gitmem.search.parsed_query import NO_LITERAL, Literal, ParsedQuery
from gitmem.search.select import COLLAPSED_BYTES, REPEAT_DECAY
from gitmem.search.unit_copies import add_unless_copy, find_original
from gitmem.search.unit_meaning import QueryMeaning, Texts, rate_by_meaning
from gitmem.search.unit_rating import RatedUnit, find_matching, has_literal, is_named, put_literal_first, rate_by_words

NAME_BONUS: Final = 0.1
"""What a name that has the query counts if that is one word, relative to a cosine."""


class _Row(NamedTuple):
    """A row with its rated units, best first; a row that is one definition may have none."""

    hit: Hit
    rated: Sequence[RatedUnit]

    def results(self) -> list[Hit]:
        """Return a result for each unit, best first."""
        if not self.hit.units:
            return [show_whole(self.hit)._replace(units=(), others=())]
        return [self.hit._replace(**one.unit._asdict(), units=(), others=()) for one in self.rated]

    def further(self, texts: Texts, terms: Sequence[str]) -> list[Hit]:
        """Return the results after the first one that have a term of the query."""
        if len(self.rated) < 2:
            return []
        matching = find_matching(self.hit, texts[self.hit.source], terms)
        rest = zip(self.results()[1:], self.rated[1:], strict=True)
        return [result for result, one in rest if one.unit in matching]


def choose_units(
    hits: Sequence[Hit],
    texts: Texts,
    terms: Sequence[str],
    limit: int,
    meaning: QueryMeaning | None = None,
    literal: Literal = NO_LITERAL,
) -> list[Hit]:
    """Return at most `limit` hits, in which each is represented by its best definition, and copies by the best.

    Without a `meaning` a hit keeps its row, and the `terms` in the lines choose among the units of that. Units with
    something `literal` precede the others.
    """
    chosen: list[Hit] = []
    if meaning is None:
        rows = _keep_rows(hits, texts, terms, literal)
        for row in rows:
            add_unless_copy(chosen, row.results()[0], texts)
    else:
        rows = _place_rows(chosen, hits, texts, meaning, literal)
    if len(chosen) < limit:
        _fill(chosen, rows, texts, terms, limit)
    return chosen


def _fill(chosen: list[Hit], rows: Sequence[_Row], texts: Texts, terms: Sequence[str], limit: int) -> None:
    """Add further definitions of rows that are shown, until there are `limit` hits."""
    others = [
        result._replace(score=result.score * REPEAT_DECAY) for row in rows for result in row.further(texts, terms)
    ]
    others.sort(key=lambda hit: -hit.score)  # stable: of one row the best unit comes first
    for other in others:
        if len(chosen) >= limit:
            break
        if not any(_represents(hit, other) for hit in chosen):
            add_unless_copy(chosen, other._replace(score=min(other.score, chosen[-1].score)), texts)


def _keep_rows(hits: Sequence[Hit], texts: Texts, terms: Sequence[str], literal: Literal) -> list[_Row]:
    rated = (rate_by_words(hit, texts[hit.source], terms) if hit.units else [] for hit in hits)
    return [_Row(hit, put_literal_first(own, texts[hit.source], literal)) for hit, own in zip(hits, rated, strict=True)]


def rows_of_file(hits: Sequence[Hit]) -> list[Hit]:
    """Return the rows of a file among which its hits choose, in the order of the ranking."""
    return sorted([*hits, *hits[0].others], key=lambda row: row.scores.get(LIFT, 0.0))


def is_compared(place: int, row: Hit) -> bool:
    """Return whether the definitions of a row of a file are compared; `place` is its place in the ranking, from 0."""
    return place < COMPARED_ROWS and row.scores.get(LIFT, 0.0) <= LARGEST_LIFT


def _place_rows(
    chosen: list[Hit], hits: Sequence[Hit], texts: Texts, meaning: QueryMeaning, literal: Literal
) -> list[_Row]:
    """Add the best definitions of each file in place of its hits, and return the rows that they are from."""
    hits_by_file: dict[str, list[Hit]] = {}
    for hit in hits:
        hits_by_file.setdefault(hit.path, []).append(hit)
    # A file with one row that is one definition leaves no choice.
    rows_by_file = {path: rows_of_file(own) for path, own in hits_by_file.items()}
    compared = [row for rows in rows_by_file.values() if len(rows) > 1 or rows[0].units for row in rows]
    rated = {
        _key(row): put_literal_first(own, texts[row.source], literal)
        for row, own in zip(compared, rate_by_meaning(compared, texts, meaning), strict=True)
    }
    rows_of = {path: [_Row(row, rated.get(_key(row), ())) for row in rows] for path, rows in rows_by_file.items()}
    free = {path: _order(rows, meaning.query) for path, rows in rows_of.items()}
    if literal != NO_LITERAL:
        for rows in free.values():
            rows.sort(key=lambda row: not has_literal(row.hit, texts[row.hit.source], literal))
    placed: list[_Row] = []
    for hit, twins in _find_twins(hits, rated, texts):
        left = free[hit.path]
        if not left:
            continue
        # A file whose best definition copies a chosen one shows another, so that it is not lost.
        row = next((row for row in left if find_original(chosen, row.results()[0], texts) is None), left[0])
        # A class that is shown represents its methods, so there may be fewer rows than hits.
        shown = show_whole(row.hit)
        free[hit.path] = [one for one in left if one is not row and not _represents(shown, show_whole(one.hit))]
        placed.append(row._replace(hit=_in_place(row.hit, hit)))
        result = placed[-1].results()[0]
        add_unless_copy(chosen, result, texts)
        for twin in twins:
            same = (one for row in rows_of[twin] for one in row.results() if find_original([result], one, texts) == 0)
            for one in islice(same, 1):
                add_unless_copy(chosen, one, texts)
    return placed


def _find_twins(
    hits: Sequence[Hit], rated: Mapping[tuple[str, int], Sequence[RatedUnit]], texts: Texts
) -> list[tuple[Hit, list[str]]]:
    """Return the hits with the paths of their twins: later hits whose own row copies theirs, as in two versions."""
    found: list[tuple[Hit, list[str]]] = []
    results: list[Hit] = []
    for hit in hits:
        result = _Row(hit, rated.get(_key(hit), ())).results()[0]
        original = find_original(results, result, texts)
        if original is None:
            found.append((hit, []))
            results.append(result)
        else:
            found[original][1].append(hit.path)
    return found


def _key(row: Hit) -> tuple[str, int]:
    return row.path, row.chunk


def _order(rows: Sequence[_Row], query: ParsedQuery) -> list[_Row]:
    """Return the best rows of a file by their best definitions, and then the others.

    Which rows are compared does not depend on the number of requested results. A long definition is in several rows: if
    the query only names it, the first one precedes the others, as in `first_pieces`. A query of one word that
    definitions have as their name means these.
    """
    if len(rows) == 1:
        return list(rows)
    near = [row for place, row in enumerate(rows) if is_compared(place, row.hit)]
    ratings = {_key(row.hit): row.rated[0].rating for row in near}
    best: dict[tuple[str, str], float] = {}
    for row in near:
        if is_named(row.rated[0].unit, query.terms):
            ratings[_key(row.hit)] += NAME_BONUS * query.bare
            best[_definition(row)] = max(ratings[_key(row.hit)], best.get(_definition(row), -math.inf))
    ordered = sorted(
        near,
        key=lambda row: (
            query.bare and not _defines_name(row.hit),
            -best.get(_definition(row), ratings[_key(row.hit)]),
            row.hit.start,
        ),
    )
    return [*ordered, *rows[len(near) :]]


def _defines_name(row: Hit) -> bool:
    return bool(row.scores.get("definition") or row.scores.get("definition_folded"))


def _definition(row: _Row) -> tuple[str, str]:
    return row.rated[0].unit.chunk_type, row.rated[0].unit.symbol


def _in_place(row: Hit, replaced: Hit) -> Hit:
    """Return a row with the score of the one that it replaces, and what it lacks to that."""
    lift = row.scores.get(LIFT, 0.0) - replaced.scores.get(LIFT, 0.0)
    scores = {name: value for name, value in row.scores.items() if name != LIFT}
    return row._replace(score=replaced.score, scores={**scores, LIFT: lift} if lift else scores)


def _represents(hit: Hit, other: Hit) -> bool:
    """Return whether two hits overlap in a file and the wider one is short enough to represent both."""
    if hit.path != other.path or hit.start >= other.end or other.start >= hit.end:
        return False
    return max(hit.end - hit.start, other.end - other.start) <= COLLAPSED_BYTES
