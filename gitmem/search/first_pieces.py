"""Prefer the first piece of a definition that was cut into several, if the query is no more than its name. Pure.

The pieces share the name and differ only in how often their lines repeat it, so ranking by words alone shows a person
who asks for `process` some lines in the middle of it. The first piece has the signature and the documentation.
"""

import numpy as np

from gitmem.arrays import NDArray
from gitmem.search.hits import Spans
from gitmem.search.parsed_query import ParsedQuery
from gitmem.search.qualified_names import own_name
from gitmem.search.rank import Candidates
from gitmem.words import find_identifiers, terms_of


def lift_first_pieces(
    query: ParsedQuery, candidates: Candidates, spans: Spans, sums: NDArray[np.float64], defines: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Return what each first piece lacks to the best sum of its definition's pieces, [candidates]; None for nothing.

    Pieces are candidates of one file, type and symbol that pass the filters; adjacent overloads look the same.
    `defines` is the feature `definition`.
    """
    lifts = np.zeros(len(sums))
    for pieces in _find_pieces(query, candidates, defines > 0):
        first = min(pieces, key=lambda position: int(spans.start[position]))
        lifts[first] = float(sums[pieces].max() - sums[first])
    return lifts if lifts.any() else None


def _find_pieces(query: ParsedQuery, candidates: Candidates, defines: NDArray[np.bool_]) -> list[list[int]]:
    """Return the positions of the pieces of each definition that has several, if the query is just its name.

    The name holds all words of the query, or the query names it with its classes and packages (`gson.Gson`).
    """
    terms = set(query.terms)
    groups: dict[tuple[int, int, str], list[int]] = {}
    columns = (candidates.inside.tolist(), candidates.file.tolist(), candidates.chunk_type.tolist(), candidates.symbol)
    for position, (inside, *key) in enumerate(zip(*columns, strict=True)):
        if inside and key[2]:
            groups.setdefault((key[0], key[1], key[2]), []).append(position)
    return [
        pieces
        for (_, _, symbol), pieces in groups.items()
        if terms
        and len(pieces) > 1
        and (terms.issubset(_name_terms(symbol)) or (query.coded and bool(defines[pieces].any())))
    ]


def _name_terms(symbol: str) -> set[str]:
    return {term for identifier in find_identifiers(own_name(symbol)) for term in terms_of(identifier)}
