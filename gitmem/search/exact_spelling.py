"""Prefer the definitions that have the name that a query is, spelled alike. Pure.

Words are compared without regard to case and endings, so `Celery` and `celery`, `Param` and `AddParam` differ in
little, and the better place in the tree would decide between them, although the user has typed the name of one.
"""

from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.search.parsed_query import ParsedQuery, spelled_names
from gitmem.search.path_roles import ROLES
from gitmem.search.qualified_names import defines_own_name, qualified_names
from gitmem.search.rank import Candidates, Features
from gitmem.words import terms_of

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
    plain = defines.copy()
    for role in ROLES:
        plain &= features[role] == 0
    exact = np.zeros(len(sums), bool)
    for place in np.flatnonzero(plain).tolist():
        exact[place] = _defines(candidates, place, spellings)
    # Filters change no score, so the search without them is what counts. Only a name that prose never has is certainly
    # the whole of what is wanted.
    pool = candidates.pool
    others = (pool if query.coded else pool & defines) & ~exact
    own = exact & pool
    if not own.any() or not others.any():
        return None
    missing = float(sums[others].max() - sums[own].max())
    return np.where(exact, missing + _MARGIN, 0.0) if missing > 0 else None


def _defines(candidates: Candidates, place: int, names: frozenset[str]) -> bool:
    chunk_type = int(candidates.chunk_type[place])
    return any(
        parts and parts[-1] in names and defines_own_name(parts, chunk_type)
        for parts in qualified_names(candidates.symbol[place])
    )
