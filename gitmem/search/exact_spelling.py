"""Prefer the definitions that have the name that a query is, spelled alike. Pure.

Words are compared without regard to case and endings, so `Celery` and `celery`, `Param` and `AddParam` differ in
little, and the better place in the tree would decide between them, although the user has typed the name of one.
"""

from collections.abc import Collection
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.search.parsed_query import Name, ParsedQuery, spelled_classes, spelled_names
from gitmem.search.qualified_names import TYPES, defines_own_name, fold, qualified_names
from gitmem.search.rank import IS_PROSE, Candidates, Features, are_plain, lift_above
from gitmem.types import CHUNK_TYPES
from gitmem.words import terms_of

_IS_TYPE: Final = np.array([chunk_type in TYPES for chunk_type in CHUNK_TYPES])


def lift_exact_spelling(
    query: ParsedQuery, candidates: Candidates, features: Features, sums: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Return what each definition spelled as the query lacks to the best other candidate, [candidates]; None for none.

    All of them are lifted alike. Tests, examples and the like are not. If the query may be prose, the others are those
    that differ in case alone.
    """
    spellings = spelled_names(query)
    if not query.coded and not set(query.terms) <= {term for name in spellings for term in terms_of(name)}:
        return None  # in a sentence a name may be anything: "how Monad composes" is about more than what has this name
    defines = features["definition"] > 0
    plain = are_plain(features)
    exact = np.zeros(len(sums), bool)
    for place in np.flatnonzero(defines & plain).tolist():
        exact[place] = _defines(candidates, place, spellings)
    if query.coded and not (exact & candidates.pool).any():
        exact = _are_classes(candidates, plain, spelled_classes(query))
    # Filters change no score, so the search without them is what counts. Only a name that prose never has is certainly
    # the whole of what is wanted.
    pool = candidates.pool
    others = (pool if query.coded else pool & defines) & ~exact
    return lift_above(exact, exact & pool, others, sums)


def lift_spoken_names(
    query: ParsedQuery, candidates: Candidates, features: Features, sums: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Return what each definition that the query names in words lacks to the best other candidate; None for none.

    Tests, examples and the like are lifted only if no other code has the name, generated code never.
    """
    if not query.spoken:
        return None
    names = frozenset(spoken.name for spoken in query.spoken)
    named = np.zeros(len(sums), bool)
    for place in np.flatnonzero(IS_PROSE[candidates.chunk_type] == 0).tolist():
        symbol = candidates.symbol[place]
        folded = fold(symbol.lower())
        named[place] = any(name in folded for name in names) and any(
            parts and fold(parts[-1].lower()) in names
            for parts in qualified_names(symbol)
            if defines_own_name(parts, int(candidates.chunk_type[place]))
        )
    plain = named & are_plain(features)
    named = plain if (plain & candidates.pool).any() else named & ~candidates.is_generated
    return lift_above(named, named & candidates.pool, ~named & candidates.pool, sums)


def _are_classes(candidates: Candidates, plain: NDArray[np.bool_], names: Collection[Name]) -> NDArray[np.bool_]:
    """Return which candidates hold a type with one of some names. Members without a row are in that of their class.

    Functions may be called like the module that is meant: `json.loads`.
    """
    are = np.zeros(len(plain), bool)
    for place in np.flatnonzero(plain).tolist() if names else ():
        chunk_type = int(candidates.chunk_type[place])
        for parts in qualified_names(candidates.symbol[place]):
            if any(parts[-len(name) :] == name and (_IS_TYPE[chunk_type] or name[-1][:1].isupper()) for name in names):
                are[place] |= defines_own_name(parts, chunk_type)
    return are


def _defines(candidates: Candidates, place: int, names: frozenset[str]) -> bool:
    chunk_type = int(candidates.chunk_type[place])
    return any(
        parts and parts[-1] in names and defines_own_name(parts, chunk_type)
        for parts in qualified_names(candidates.symbol[place])
    )
