"""Choose the definitions that outline a tree: those through which rank flowed to their files, the best first.

Aider divides the rank of a file among the names it mentions, so each definition has the rank that it brought its file.
Definitions that match the words of a user are added, and behind them all others of the best files, so that a large
budget lists everything.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from gitmem.named_tuple import NamedTuple
from gitmem.references.file_graph import FileGraph, Numbers, Ranks
from gitmem.references.file_names import CLASS, FUNCTION, VALUE, Definition, FileNames
from gitmem.references.tree_names import Names

_UNUSED: Final = 1e-3
"""Share of the rank of a file that its unmentioned definitions divide among themselves."""

_UNUSED_VALUE: Final = 0.1
"""The same for a constant or attribute, relative to a function or class."""

_FIELD: Final = 0.1
"""Share of the rank that a field or a constant of a class brought: the class says more."""


class OutlinedDefinition(NamedTuple):
    """Definition to show, its importance, and the containers around it, outermost first."""

    definition: Definition
    score: float
    containers: tuple[Definition, ...]


class OutlinedTree(NamedTuple):
    """Definitions of the best files, the best first, and the number of files with names."""

    definitions: list[OutlinedDefinition]
    files: int


def outline(
    names: Names,
    graph: FileGraph,
    ranks: Ranks,
    entries: Numbers,
    matches: Mapping[tuple[int, str], float],
    limit: int,
) -> OutlinedTree:
    """Return the definitions of at most `limit` files among some paths, the best first.

    `matches` are scores of symbols by node, in units of rank: those that match the words of a user. Raises DamagedFile.
    """
    nodes, chosen = graph.files(entries)
    # A test gets rank from what it uses, and is still no part of the structure.
    weights = graph.weights[chosen]
    order = np.lexsort((chosen, -weights * ranks.files[nodes]))
    definitions: list[OutlinedDefinition] = []
    for place in order[:limit].tolist():
        node = int(nodes[place])
        own = {symbol: score for (of, symbol), score in matches.items() if of == node}
        file = names.file(int(chosen[place]))
        outlined = _outline_file(file, graph.definitions_of(node, ranks), own, float(ranks.files[node]))
        definitions += [each._replace(score=each.score * float(weights[place])) for each in outlined]
    definitions.sort(key=lambda each: (-each.score, each.definition.entry, each.definition.line))
    return OutlinedTree(definitions, len(order))


def _outline_file(
    file: FileNames, brought: Mapping[str, float], matches: Mapping[str, float], rank: float
) -> list[OutlinedDefinition]:
    """Return the definitions of a file with their scores, those inside of functions excepted."""
    contained = [(each, find_containers(file, each)) for each in file.all_definitions()]
    reachable = [(each, around) for each, around in contained if all(holder.kind != FUNCTION for holder in around)]
    # However large the file is, its unmentioned definitions come behind every mentioned one of a similar file.
    unused = _UNUSED * rank / (len(reachable) or 1)
    outlined, seen = [], set()
    for each, containers in reachable:
        score = unused * (_UNUSED_VALUE if each.kind == VALUE else 1) + matches.get(each.symbol, 0.0)
        # Of several definitions of a name, such as overloads, the first one stands for all.
        if each.name not in seen:
            is_field = each.kind == VALUE and bool(each.container)
            score += brought.get(each.name, 0.0) * (_FIELD if is_field else 1)
            seen.add(each.name)
        outlined.append(OutlinedDefinition(each, score, containers))
    return outlined


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
