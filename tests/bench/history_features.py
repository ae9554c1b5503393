"""Features of the candidates of labelled queries from public repositories, for the fit of the ranking weights.

A repository is indexed at its searched trees in a temporary index. Neighbouring trees share most of their blobs.
"""

import argparse
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gitmem.embedding.bundled import BundledEncoder
from gitmem.embedding.encoder import Encoder
from gitmem.indexing.fingerprint import current_fingerprint
from gitmem.indexing.scratch_index import ScratchIndex, open_scratch
from gitmem.search.query_parser import parse_query
from gitmem.search.retrieval import retrieve
from gitmem.search.scope import Filters, Scope
from gitmem.store.manifest import Manifest
from gitmem.workspace import Workspace, open_workspace
from tests.bench.history_queries import TreeQuery, choose_names, make_doc_queries, read_commit_queries
from tests.bench.quality import BenchQuery
from tests.bench.ranking_features import MODES, JudgedQuery, judge, places_of
from tests.bench.scoring import Target
from tests.bench.subjects import clone_subject, work_folder

BLOCK: Final = 20
"""Trees that are indexed together."""

Judged = dict[str, list[JudgedQuery]]


def add_history_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for mined messages, clones and the folder of features."""
    parser.add_argument("--mined", type=Path, required=True, help="output of models.recipe.histories")
    parser.add_argument("--repositories", type=Path, required=True, help="folder of bare clones, OWNER+NAME/repo")
    parser.add_argument("--history-features", type=Path, help="folder of features: read what exists, write the rest")


def load_history_features(options: argparse.Namespace) -> Judged:
    """Return the features of all queries by mode, cached in a file per repository if the options name a folder."""
    features: Judged = {mode: [] for mode in MODES}
    for mined in sorted(options.mined.glob("*.jsonl")):
        cached = options.history_features / f"{mined.stem}.pickle" if options.history_features else None
        if cached is not None and cached.exists():
            own: Judged = pickle.loads(cached.read_bytes())
        else:
            own = collect_repository(options, mined)
            if cached is not None:
                cached.write_bytes(pickle.dumps(own))
        for mode in MODES:
            features[mode] += own[mode]
    return features


def collect_repository(options: argparse.Namespace, mined: Path) -> Judged:
    """Index the searched trees of a repository and collect the features of its queries."""
    features: Judged = {mode: [] for mode in MODES}
    with work_folder(options) as work:
        clone = clone_subject(options.repositories / mined.stem / "repo", work).path
        commits = read_commit_queries(mined)
        documented = make_doc_queries(clone, commits[0].tree) if commits else []
        workspace = open_workspace(clone, os.environ)
        encoder = BundledEncoder()
        for query, scope in search_trees(workspace, work / "index", [*commits, *documented]):
            own = BenchQuery(mined.stem, query.text, query.kind, tuple(Target(path) for path in query.paths))
            for mode in MODES:
                features[mode].append(_judge(own, scope, encoder, mode))
    return features


def _judge(query: BenchQuery, scope: Scope, encoder: Encoder, mode: str) -> JudgedQuery:
    retrieved = retrieve(scope, parse_query(query.text), encoder, mode=mode)
    return judge(query.category, query, retrieved, places_of(scope, retrieved))


def search_trees(
    workspace: Workspace, folder: Path, queries: list[TreeQuery], *, names: bool = True
) -> Iterator[tuple[TreeQuery, Scope]]:
    """Yield each query with the scope of its tree, and after the first tree those for its names."""
    settings = workspace.settings
    manifest = Manifest(current_fingerprint(settings))
    with open_scratch(workspace.location, folder, workspace.paths, manifest, settings=settings) as scratch:
        for first in range(0, len(queries), BLOCK):
            yield from _search_block(scratch, queries[first : first + BLOCK], names=names and first == 0)


def _search_block(scratch: ScratchIndex, block: list[TreeQuery], *, names: bool) -> Iterator[tuple[TreeQuery, Scope]]:
    trees = list(dict.fromkeys(query.tree for query in block))
    held = scratch.index_trees(trees)
    views = dict(zip(trees, held.views, strict=True))
    for tree in trees:
        scope = Scope(held.snapshot, views[tree], Filters(), held.snapshot.match(views[tree]))
        own = [query for query in block if query.tree == tree]
        for query in [*own, *(choose_names(scope, tree) if names and tree == trees[0] else [])]:
            yield query, scope
