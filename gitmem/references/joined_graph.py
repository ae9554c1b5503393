"""Join the graphs of the files of several trees that import each other by the names of packages.

Within a tree the links stay as they are. A file that imports a package of another tree links to the files there that
define the names it mentions. A name that an unrelated tree has as well links nothing.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final

import numpy as np

from gitmem.named_tuple import NamedTuple
from gitmem.references.file_graph import (
    ELSEWHERE,
    MAX_DEFINING,
    FileGraph,
    Numbers,
    Weights,
    choose_entries,
    factor_of,
    shares,
    weight_of,
)
from gitmem.references.joined_names import JoinedNames
from gitmem.store.occurrences import DEFINED

MAX_FILES: Final = 4_000
"""Files whose imports are read for one graph, those of plain code first."""


class _Crossing(NamedTuple):
    """Name that files of one tree mention and files of another one define: its weight, and the nodes of both.

    Each node that mentions it has a factor of the weight.
    """

    name: str
    weight: float
    defining: list[int]
    referring: list[tuple[int, float]]


def join_graphs(
    names: JoinedNames, graphs: Sequence[FileGraph], check: Callable[[], None] = lambda: None
) -> tuple[FileGraph, int]:
    """Return the graph of all trees, and the number of files whose imports were not read. Raises DamagedFile."""
    graph = _side_by_side(graphs)
    crossings, omitted = _crossings(names, graph, check)
    return _with_links(graph, crossings), omitted


def _side_by_side(graphs: Sequence[FileGraph]) -> FileGraph:
    """Return graphs as one without links between them; the surfer starts at each file by its weight."""
    nodes = [0, *accumulate(len(graph.prior) for graph in graphs)]
    blobs = [0, *accumulate(len(graph.node_of_blob) for graph in graphs)]
    links = [0, *accumulate(len(graph.names) for graph in graphs)]

    def joined(columns: Sequence[Numbers], starts: Sequence[int]) -> Numbers:
        """Return numbers counted on from graph to graph; negative ones stay."""
        parts = [np.where(column >= 0, column + start, column) for column, start in zip(columns, starts, strict=False)]
        return np.concatenate(parts)

    weights = np.concatenate([_node_weights(graph) for graph in graphs])
    return FileGraph(
        joined([graph.blob_of for graph in graphs], blobs),
        np.concatenate([graph.weights for graph in graphs]),
        joined([graph.node_of_blob for graph in graphs], nodes),
        weights / (weights.sum() or 1.0),
        np.concatenate([graph.has_names for graph in graphs]),
        [name for graph in graphs for name in graph.names],
        joined([graph.ref_node for graph in graphs], nodes),
        joined([graph.ref_name for graph in graphs], links),
        np.concatenate([graph.ref_weight for graph in graphs]),
        np.concatenate([graph.ref_share for graph in graphs]),
        joined([graph.def_node for graph in graphs], nodes),
        joined([graph.def_name for graph in graphs], links),
        np.concatenate([graph.def_share for graph in graphs]),
    )


def _node_weights(graph: FileGraph) -> Weights:
    entries = choose_entries(graph.blob_of, graph.weights, np.arange(len(graph.blob_of)))
    weights: Weights = np.where(graph.has_names, graph.weights[entries], 0.0)
    return weights


def _crossings(names: JoinedNames, graph: FileGraph, check: Callable[[], None]) -> tuple[list[_Crossing], int]:
    """Return the links between trees, and the number of files that were not read."""
    nodes, entries = graph.files(np.arange(len(graph.blob_of)))
    importing = [place for place, entry in enumerate(entries.tolist()) if names.imports_others(names.tree_of(entry))]
    best = sorted(importing, key=lambda place: (-graph.weights[entries[place]], place))
    crossings: dict[tuple[str, str, int], _Crossing] = {}
    for place in best[:MAX_FILES]:
        check()
        file = names.file(int(entries[place]))
        others = names.reach(file) - {file.tree}
        texts, sets = file.occurrences.roles()
        mentions = [(text.decode("utf-8", "replace"), roles) for text, roles in zip(texts, sets.tolist(), strict=True)]
        for tree in sorted(others):
            for name, roles in mentions:
                key = name, file.family, tree
                if key not in crossings:
                    crossings[key] = _Crossing(name, *_target(names, graph, *key), [])
                if crossings[key].defining and not roles & DEFINED:
                    crossings[key].referring.append((int(nodes[place]), factor_of(roles)))
    links = [crossing for crossing in crossings.values() if crossing.referring]
    return links, max(0, len(best) - MAX_FILES)


def _target(names: JoinedNames, graph: FileGraph, name: str, family: str, tree: int) -> tuple[float, list[int]]:
    """Return the weight of a name that another tree defines, and the nodes that define it."""
    entries = names.defining(name, tree).tolist()
    # A name with more definitions links nothing, so their files need not be read for the language.
    few = entries if len(entries) <= MAX_DEFINING else []
    nodes = sorted({graph.node(entry) for entry in few if names.file(entry).family == family})
    return weight_of(name, family, len(nodes)), nodes


def _with_links(graph: FileGraph, crossings: Sequence[_Crossing]) -> FileGraph:
    """Return a graph with more links. A file divides its rank among all names that it mentions, as in one tree."""
    if not crossings:
        return graph
    first, count = len(graph.names), len(graph.prior)
    ref_node = np.array([node for each in crossings for node, _ in each.referring], np.int64)
    ref_name = np.repeat(np.arange(len(crossings)), [len(each.referring) for each in crossings])
    ref_weight = np.array([each.weight * factor for each in crossings for _, factor in each.referring])
    def_node = np.array([node for each in crossings for node in each.defining], np.int64)
    def_name = np.repeat(np.arange(len(crossings)), [len(each.defining) for each in crossings])
    weights = np.concatenate([graph.ref_weight, ref_weight])
    nodes = np.concatenate([graph.ref_node, ref_node])
    owners = np.concatenate([graph.def_node, def_node])
    defined = np.concatenate([graph.def_name, first + def_name])
    share = np.concatenate([graph.def_share, shares(graph.prior[def_node], def_name, len(crossings))])
    order = np.argsort(owners, kind="stable")
    return graph._replace(
        names=[*graph.names, *(each.name for each in crossings)],
        ref_node=nodes,
        ref_name=np.concatenate([graph.ref_name, first + ref_name]),
        ref_weight=weights,
        ref_share=shares(weights, nodes, count, ELSEWHERE),
        def_node=owners[order],
        def_name=defined[order],
        def_share=share[order],
    )
