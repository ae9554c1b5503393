"""Weights of the search of the past, fitted on definitions that are asked for by name or by documentation.

Rows are drawn at random, so a definition is drawn as often as it has versions. Half of the queries are the words of the
name, half the first sentence of the documentation in that version. The model is a softmax over the definitions among
the candidates, each with its best version, which is chosen again in every round. `--indexes` is the folder that
`past-search --keep` left.
"""

import argparse
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.answering.past_search import open_past
from gitmem.answering.query_encoder import query_encoder
from gitmem.chunking.languages import language_of
from gitmem.git.objects import open_reader
from gitmem.indexing.lifetimes import split_version_path
from gitmem.search.definition_ranking import (
    DEFINITION_FUSION,
    DEFINITION_WEIGHTS,
    Definitions,
    compute_definition_features,
    retrieve_versions,
)
from gitmem.search.fuse import FusionWeights
from gitmem.search.path_roles import path_role
from gitmem.search.query_parser import parse_query
from gitmem.search.scope import Filters, Scope
from gitmem.types import CHUNK_TYPES
from gitmem.workspace import Workspace, open_workspace, require_index
from models.recipe.pairs import documented_chunks, read_source
from models.recipe.prose import words_of
from tests.bench.figures import Figure
from tests.bench.scoring import mean

FITTED: Final = ("dense", "lexical", "name", "same_name", "path_cosine", "versions")
"""Features that are fitted: both parts of `fused`, and those of `DEFINITION_WEIGHTS`. Others keep their weights."""

ROUNDS: Final = 6
STEPS: Final = 60
RATE: Final = 0.02
PENALTY: Final = 0.02
"""L2 penalty of the distance from the current weights, in units of each feature's deviation."""

_FUNCTIONS: Final = ("function", "method")
_READ: Final = 3000
"""Rows whose documentation is looked for."""

Values = NDArray[np.float64]


class Judged(NamedTuple):
    """Features of the candidates of a query, the rest of their sums, their definitions, and the one asked for."""

    kind: str
    values: Values
    rest: Values
    group: NDArray[np.int64]
    wanted: int


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for the indexes and the number of definitions."""
    parser.add_argument("--indexes", type=Path, required=True, help="folder that `past-search --keep` left")
    parser.add_argument("--fit", nargs="+", required=True, metavar="OWNER/NAME", help="repositories to fit on")
    parser.add_argument("--test", nargs="*", default=[], metavar="OWNER/NAME", help="repositories to measure only")
    parser.add_argument("--definitions", type=int, default=300, metavar="N", help="definitions of each repository")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Fit the weights, print them, and compare them with the current ones."""
    judged = {
        part: [one for name in names for one in judge(options.indexes / name.replace("/", "+"), options.definitions)]
        for part, names in (("fit", options.fit), ("test", options.test))
    }
    current = {"dense": DEFINITION_FUSION.semantic, "lexical": DEFINITION_FUSION.lexical, **DEFINITION_WEIGHTS}
    before = np.array([current[name] for name in FITTED])
    after = fit(judged["fit"], before)
    print(", ".join(f"{name} {weight:.2f}" for name, weight in zip(FITTED, after, strict=True)), file=sys.stderr)
    return [
        figure
        for part, queries in judged.items()
        for name, weights in (("current", before), ("fitted", after))
        for figure in _summarise(f"{part}, {name}", queries, weights)
    ]


def judge(folder: Path, count: int) -> Iterator[Judged]:
    """Yield the candidates of the queries for definitions of one repository."""
    workspace = open_workspace(folder, os.environ)
    view, snapshot = open_past(workspace)
    lives = view.lives(snapshot)
    scope = Scope(snapshot, view, Filters(), snapshot.match(view))
    scope.restrict(lives.group >= 0)
    encoder = query_encoder(workspace.settings, require_index(workspace).fingerprint)
    definitions = Definitions(lives.group, lives.group_versions)
    others = {name: weight for name, weight in DEFINITION_WEIGHTS.items() if name not in (*FITTED, "fused")}
    for row, text, kind in draw_queries(workspace, scope, count):
        retrieved, _ = retrieve_versions(scope, parse_query(text), encoder, split_version_path, "hybrid")
        group, wanted = lives.group[retrieved.candidates.row], int(lives.group[row])
        if wanted not in group:
            continue
        features = dict(compute_definition_features(retrieved, definitions, "zscore"))
        for name, fusion in (("dense", FusionWeights(1, 0)), ("lexical", FusionWeights(0, 1))):
            features[name] = compute_definition_features(retrieved, definitions, "zscore", fusion)["fused"]
        values = np.stack([features[name] for name in FITTED], axis=1)
        rest = sum((weight * features[name] for name, weight in others.items()), start=np.zeros(len(group)))
        yield Judged(kind, values, rest, group, wanted)


def draw_queries(workspace: Workspace, scope: Scope, count: int) -> Iterator[tuple[int, str, str]]:
    """Yield rows of functions in ordinary code with queries for them, half by name and half by documentation."""
    rows = np.flatnonzero(scope.mask).tolist()
    random.Random(5).shuffle(rows)
    left = {"documentation": count // 2, "name": count - count // 2}
    with open_reader(workspace.location, bulk=False) as reader:
        for number, row in enumerate(rows):
            column = scope.snapshot.gather(("kind", "line"), np.array([row]))
            entry = int(scope.entry_of[row])
            path, oid = split_version_path(scope.view.path(entry).decode("utf-8", "replace")), scope.view.oid(entry)
            if CHUNK_TYPES[int(column["kind"][0])] not in _FUNCTIONS or path_role(path):
                continue
            symbol, text = scope.snapshot.symbols(np.array([row]))[0], ""
            if left["documentation"] and number < _READ:
                text = _documentation(dict(reader.read_many([oid]))[oid] or b"", path, symbol)
            kind = "documentation" if text else "name"
            text = text or " ".join(words_of(symbol.rpartition(".")[2]))
            if text and left[kind]:
                left[kind] -= 1
                yield row, text, kind


def _documentation(data: bytes, path: str, symbol: str) -> str:
    """Return the first sentence of the documentation of a definition, "" without any."""
    source = read_source(data, language_of(path), path)
    documented = documented_chunks(source) if source is not None else iter(())
    return next((one.query for one in documented if one.chunk.symbol == symbol), "")


def fit(judged: list[Judged], before: Values) -> Values:
    """Return the weights with the highest likelihood of the definitions asked for; none is negative."""
    weights, deviation = before.copy(), np.concatenate([one.values for one in judged]).std(axis=0) + 1e-3
    mean_gradient, mean_square, step = np.zeros(len(weights)), np.zeros(len(weights)), 0
    for _ in range(ROUNDS):
        best = [(one, best_versions(one, weights)) for one in judged]
        for _ in range(STEPS):
            gradient = sum((_gradient(one, places, weights) for one, places in best), start=np.zeros(len(weights)))
            gradient = gradient / len(best) + PENALTY * (weights - before) * deviation**2
            step += 1  # Adam (Kingma and Ba 2015)
            mean_gradient = 0.9 * mean_gradient + 0.1 * gradient
            mean_square = 0.999 * mean_square + 0.001 * gradient**2
            size = mean_gradient / (1 - 0.9**step) / (np.sqrt(mean_square / (1 - 0.999**step)) + 1e-9)
            weights = np.maximum(weights - RATE * size / deviation, 0.0)
    return weights


def best_versions(one: Judged, weights: Values) -> NDArray[np.int64]:
    """Return the position of the best version of each definition."""
    order = np.lexsort((-(one.values @ weights + one.rest), one.group))
    first: NDArray[np.int64] = order[np.unique(one.group[order], return_index=True)[1]]
    return first


def _gradient(one: Judged, places: NDArray[np.int64], weights: Values) -> Values:
    """Return the gradient of the negative log-likelihood of the definition asked for."""
    values, wanted = one.values[places], one.group[places] == one.wanted
    sums = values @ weights + one.rest[places]
    shares = np.exp(sums - sums.max())
    gradient: Values = values.T @ (shares / shares.sum()) - values[wanted][0]
    return gradient


def rank(one: Judged, weights: Values) -> int:
    """Return the rank of the definition asked for, from 1 on."""
    places = best_versions(one, weights)
    sums = one.values[places] @ weights + one.rest[places]
    return 1 + int((sums > sums[one.group[places] == one.wanted][0]).sum())


def _summarise(subject: str, judged: list[Judged], weights: Values) -> Iterator[Figure]:
    for kind in sorted({one.kind for one in judged}):
        ranks = [rank(one, weights) for one in judged if one.kind == kind]
        yield Figure(f"{subject}, by {kind}", "queries", len(ranks))
        yield Figure(f"{subject}, by {kind}", "first", mean(place == 1 for place in ranks))
        yield Figure(f"{subject}, by {kind}", "in the first ten", mean(place <= 10 for place in ranks))
