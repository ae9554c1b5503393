"""Choose the definitions that outline a tree: those through which rank flowed to their files, the best first.

Aider divides the rank of a file among the names it mentions, so each definition has the rank that it brought its file.
What everything mentions is often a helper. So the rank counts more for a definition with many members, for the one
that its file is named after, and near the root. Definitions that match the words of a user are added, and behind them
all others of the best files, so that a large budget lists everything.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import dropwhile
from typing import Final

import numpy as np

from gitmem.named_tuple import NamedTuple
from gitmem.package_names import plain_name
from gitmem.references.file_graph import FileGraph, Numbers, Ranks
from gitmem.references.file_names import CLASS, FUNCTION, VALUE, Definition, FileNames
from gitmem.references.tree_names import Names
from gitmem.store.occurrences import DEFINED

_UNUSED: Final = 1e-3
"""Part of the rank of a file that a definition has which no other file mentions: little, unless it is prominent."""

_UNUSED_VALUE: Final = 0.1
"""The same for a constant or attribute, relative to a function or class."""

_FIELD: Final = 0.1
"""Share of the rank that a field or a constant of a class brought: the class says more."""

_MEMBERS: Final = 0.8
"""Power of the number of members, and 1 for the definition itself, by which the rank counts more."""

_LIKE_FILE: Final = 10.0
"""Factor for a definition with the name of its file, such as `Gui` in `gui.go`."""

_LEVEL: Final = 0.6
"""Factor for each folder around the file.

The last three are fitted on names that documents and messages of commits mention, by `tests/bench/outline_quality.py`.
"""

_NAMESPACE_FILES: Final = 5
"""Files that define a name, from which on it is that of a namespace: `module RuboCop` says nothing in each of them."""


class _Namespaces(dict[str, bool]):
    """Whether a name is that of a namespace; looked up once."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def __missing__(self, name: str) -> bool:
        self[name] = verdict = len(self._names.entries(name, DEFINED)) >= _NAMESPACE_FILES
        return verdict


class OutlinedDefinition(NamedTuple):
    """Definition to show, its importance, and the containers around it, outermost first, namespaces excepted."""

    definition: Definition
    score: float
    containers: tuple[Definition, ...]


class OutlinedTree(NamedTuple):
    """Definitions of the best files, the best first, and the number of files with names."""

    definitions: list[OutlinedDefinition]
    files: int


class _Rated(NamedTuple):
    """Definition with the rank that it brought its file, the factor that this counts, and the score of its match."""

    definition: Definition
    containers: tuple[Definition, ...]
    rank: float
    prominence: float
    match: float


def outline(
    names: Names,
    graph: FileGraph,
    ranks: Ranks,
    entries: Numbers,
    matches: Mapping[tuple[int, str], float],
    stem_of: Callable[[str], str],
    limit: int,
) -> OutlinedTree:
    """Return the definitions of at most `limit` files among some paths, the best first.

    `matches` are scores of symbols by node, in units of rank: those that match the words of a user. `stem_of` returns
    the name of the file at a path, or of the folder that it represents. Raises DamagedFile.
    """
    nodes, chosen = graph.files(entries)
    # A test gets rank from what it uses, and is still no part of the structure.
    weights = graph.weights[chosen]
    order = np.lexsort((chosen, -weights * ranks.files[nodes]))
    rated: list[_Rated] = []
    for place in order[:limit].tolist():
        node, weight = int(nodes[place]), float(weights[place])
        own = {symbol: weight * score for (of, symbol), score in matches.items() if of == node}
        brought = {name: weight * rank for name, rank in graph.definitions_of(node, ranks).items()}
        file = names.file(int(chosen[place]))
        rated += _rate_file(file, brought, own, weight * float(ranks.files[node]), plain_name(stem_of(file.path)))
    # The prominent definitions gain what the others lose, so matches weigh as much as without.
    total, prominent = sum(each.rank for each in rated), sum(each.rank * each.prominence for each in rated)
    scale = total / (prominent or 1.0)
    namespaces = _Namespaces(names)
    definitions = [
        OutlinedDefinition(
            each.definition,
            scale * each.prominence * each.rank + each.match,
            tuple(dropwhile(lambda holder: namespaces[holder.name], each.containers)),
        )
        for each in rated
    ]
    definitions.sort(key=lambda each: (-each.score, each.definition.entry, each.definition.line))
    return OutlinedTree(definitions, len(order))


def _rate_file(
    file: FileNames, brought: Mapping[str, float], matches: Mapping[str, float], rank: float, stem: str
) -> list[_Rated]:
    """Return the definitions of a file, those inside of functions excepted."""
    # A template as a whole is its path, which is shown above its definitions.
    named = (each for each in file.all_definitions() if not each.name.startswith("/"))
    contained = [(each, find_containers(file, each)) for each in named]
    reachable = [(each, around) for each, around in contained if all(holder.kind != FUNCTION for holder in around)]
    members = Counter(each.container[:size] for each, _ in reachable for size in range(1, len(each.container) + 1))
    level = _LEVEL ** file.path.count("/")
    rated, seen = [], set()
    for each, containers in reachable:
        own_rank = _UNUSED * rank * (_UNUSED_VALUE if each.kind == VALUE else 1)
        # Of several definitions of a name, such as overloads, the first one stands for all.
        if each.name not in seen:
            is_field = each.kind == VALUE and bool(each.container)
            own_rank += brought.get(each.name, 0.0) * (_FIELD if is_field else 1)
            seen.add(each.name)
        prominence = level * (1 + members[*each.container, each.name]) ** _MEMBERS
        prominence *= _LIKE_FILE if plain_name(each.name) == stem else 1
        rated.append(_Rated(each, containers, own_rank, prominence, matches.get(each.symbol, 0.0)))
    return rated


def find_containers(file: FileNames, definition: Definition) -> tuple[Definition, ...]:
    """Return the definitions around one in its file, outermost first; those of other files are left out."""
    containers = []
    for size in range(1, len(definition.container) + 1):
        *above, name = definition.container[:size]
        around = [each for each in file.definitions(name) if each.container == tuple(above)]
        # A name may be defined twice, under conditions for example: the last one above is the container.
        before = [each for each in around if each.line <= definition.line] or around
        # A class and a value of the same name: the class is the container.
        best = [each for each in before if each.kind == CLASS] or before
        containers += best[-1:]
    return tuple(containers)
