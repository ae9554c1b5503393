"""Compare the names of a query with those that candidates define: the features `definition` and `definition_folded`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.named_tuple import NamedTuple
from gitmem.package_names import is_qualified, may_be_exported
from gitmem.search.parsed_query import Name, ParsedQuery
from gitmem.search.qualified_names import defines_own_name, fold, qualified_names

UNKNOWN_RARITY: Final = 0.5
"""Rarity of a name of a long text whose frequency was not looked up, relative to its rarest term."""


def definition_features(
    query: ParsedQuery,
    symbols: Sequence[str],
    paths: Callable[[int], str],
    chunk_types: NDArray[np.uint8],
    can_define: NDArray[np.bool_],
    idf: Mapping[str, float],
) -> dict[str, NDArray[np.float64]]:
    """Return which candidates define a name of the query, by feature.

    `symbols` and `chunk_types` are columns of the candidates, `paths` returns the path of one; `can_define` says which
    chunk types define anything.
    """
    features = {name: np.zeros(len(symbols)) for name in ("definition", "definition_folded")}
    if not query.names:
        return features
    weights = _name_weights(query, idf)
    every, qualified = _by_last_part(weights), _by_last_part({name: weights[name] for name in weights if len(name) > 1})
    last_parts = {fold(name[-1]) for name in query.names}
    for position in np.flatnonzero(can_define[chunk_types]).tolist():
        symbol = symbols[position]
        folded = fold(symbol.lower())
        # A substring test rules out nearly all candidates before their names are split and compared.
        if not symbol or not any(part in folded for part in last_parts):
            continue
        chunk_type = int(chunk_types[position])
        for parts in qualified_names(symbol):
            if defines_own_name(parts, chunk_type):
                exact, alike = _defines(every, parts, paths(position))
            else:
                exact, alike = _defines(qualified, parts)
            if exact or alike:
                column = features["definition" if exact else "definition_folded"]
                column[position] = max(column[position], exact or alike)
    return features


def _name_weights(query: ParsedQuery, idf: Mapping[str, float]) -> dict[Name, float]:
    """Return the weights of the names; in a long text a name counts the less, the more of the tree has it."""
    if not query.name_weights:
        return dict.fromkeys(query.names, 1.0)
    rarity = {term: value / query.weights[term] for term, value in idf.items()}
    highest = max(rarity.values(), default=0.0) or 1.0
    return {
        name: weight * rarity.get(fold(name[-1]), UNKNOWN_RARITY * highest) / highest
        for name, weight in query.name_weights.items()
    }


class _WeightedName(NamedTuple):
    """A name of the query, the same without underscores, and its weight."""

    parts: Name
    folded: Name
    weight: float


def _by_last_part(weights: Mapping[Name, float]) -> dict[str, list[_WeightedName]]:
    """Return the names of the query by their last part without underscores: those that a definition can equal."""
    names: dict[str, list[_WeightedName]] = {}
    for name, weight in weights.items():
        folded = tuple(map(fold, name))
        names.setdefault(folded[-1], []).append(_WeightedName(name, folded, weight))
    return names


def _defines(names: Mapping[str, Sequence[_WeightedName]], parts: Sequence[str], path: str = "") -> tuple[float, float]:
    """Return the weight of the query's name that a qualified name has: ignoring case, and underscores too.

    With a path a name may begin with packages in it.
    """
    alike = names.get(fold(parts[-1].lower())) if parts else None
    if not alike:
        return 0.0, 0.0
    lower = tuple(part.lower() for part in parts)
    exact = max((name.weight for name in alike if _means(name.parts, lower, path)), default=0.0)
    if exact:
        return exact, 0.0
    bare = tuple(map(fold, lower))
    return 0.0, max((name.weight for name in alike if name.folded == bare[-len(name.folded) :]), default=0.0)


def _means(name: Name, parts: Name, path: str) -> bool:
    """Return whether a name of the query, in lower case, is a qualified one: with its classes, or with packages."""
    if len(name) <= len(parts) or not path:
        return name == parts[-len(name) :]
    path = path.lower()
    return is_qualified(path, parts, name) or may_be_exported(path, parts, name)
