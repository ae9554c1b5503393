"""Prefer the definitions that have the name that a query is, spelled alike. Pure.

Words are compared without regard to case and endings, so `Celery` and `celery`, `Param` and `AddParam` differ in
little, and the better place in the tree would decide between them, although the user has typed the name of one.
"""

from collections.abc import Collection
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.search.definition_rows import MAX_DEFINITIONS
from gitmem.search.parsed_query import Name, ParsedQuery, spelled_classes, spelled_names
from gitmem.search.path_roles import ROLES
from gitmem.search.qualified_names import TYPES, defines_own_name, fold, qualified_names
from gitmem.search.rank import IS_PROSE, Candidates, Features
from gitmem.types import CHUNK_TYPES
from gitmem.words import terms_of

_IS_TYPE: Final = np.array([chunk_type in TYPES for chunk_type in CHUNK_TYPES])
_MARGIN: Final = 1e-3
"""Logits by which the best definition that is spelled as the query exceeds the others."""


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
    plain = _are_plain(features)
    exact = np.zeros(len(sums), bool)
    for place in np.flatnonzero(defines & plain).tolist():
        exact[place] = _defines(candidates, place, spellings)
    if query.coded and not (exact & candidates.pool).any():
        exact = _are_classes(candidates, plain, spelled_classes(query))
    # Filters change no score, so the search without them is what counts. Only a name that prose never has is certainly
    # the whole of what is wanted.
    pool = candidates.pool
    others = (pool if query.coded else pool & defines) & ~exact
    own = exact & pool
    if not own.any() or not others.any():
        return None
    missing = float(sums[others].max() - sums[own].max())
    return np.where(exact, missing + _MARGIN, 0.0) if missing > 0 else None


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
    plain = named & _are_plain(features)
    named = plain if (plain & candidates.pool).any() else named & ~candidates.is_generated
    own, others = named & candidates.pool, candidates.pool & ~named
    if not own.any() or not others.any() or own.sum() > MAX_DEFINITIONS:
        return None
    missing = float(sums[others].max() - sums[own].max())
    return np.where(named, missing + _MARGIN, 0.0) if missing > 0 else None


def _are_plain(features: Features) -> NDArray[np.bool_]:
    """Return which candidates are neither tests nor examples nor the like."""
    plain = np.ones(len(features["fused"]), bool)
    for role in ROLES:
        plain &= features[role] == 0
    return plain


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
