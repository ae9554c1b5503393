"""Search for requests for a change: mean reciprocal rank of files for messages of commits, hybrid and lexical.

`--mined` is the output of `models.recipe.histories`. A query is searched in the tree before its commit, and a file that
the commit changed is right. The interval is that of a paired bootstrap over queries.
"""

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from gitmem.embedding.bundled import BundledEncoder
from gitmem.embedding.encoder import Encoder
from gitmem.search.engine import rank_candidates
from gitmem.search.query_parser import parse_query
from gitmem.search.retrieval import retrieve
from gitmem.search.scope import Scope
from gitmem.workspace import open_workspace
from tests.bench.figures import Figure
from tests.bench.fit_code_weights import bootstrap
from tests.bench.history_features import search_trees
from tests.bench.history_queries import TreeQuery
from tests.bench.scoring import mean
from tests.bench.subjects import SubjectError, git, work_folder

LINE: Final = "subject without text"
TEXT: Final = "subject and paragraph"
SUBJECT: Final = "subject alone"
"""The whole message of a commit without a body, that of one with a body, and the subject of the latter."""

GROUPS: Final = {
    "messages": (LINE, TEXT),
    "messages of one line": (LINE,),
    "messages with a paragraph": (TEXT,),
    "subjects of all": (LINE, SUBJECT),
}
MODES: Final = ("hybrid", "lexical")


class RankedQuery(NamedTuple):
    """Query with the reciprocal rank of its first right file in each mode."""

    repository: str
    kind: str
    text: str
    hybrid: float
    lexical: float


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for mined messages and clones."""
    parser.add_argument("--mined", type=Path, required=True, help="output of models.recipe.histories")
    parser.add_argument("--repositories", type=Path, required=True, help="folder of bare clones, OWNER+NAME/repo")
    parser.add_argument("--only", nargs="+", default=[], metavar="OWNER+NAME", help="only these repositories")
    parser.add_argument("--commits", type=int, default=45, help="most commits of a repository")
    parser.add_argument("--results", type=Path, metavar="FILE", help="write the reciprocal ranks as JSON")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Search for all messages and compare the modes."""
    mined = [file for file in sorted(options.mined.glob("*.jsonl")) if not options.only or file.stem in options.only]
    ranked = [one for file in mined for one in rank_repository(options, file)]
    if not ranked:
        raise SubjectError(f"{options.mined} has no queries")
    if options.results:
        options.results.write_text(json.dumps([one._asdict() for one in ranked]), encoding="utf-8")
    return [figure for name, kinds in GROUPS.items() for figure in compare(name, ranked, kinds)]


def rank_repository(options: argparse.Namespace, mined: Path) -> Iterator[RankedQuery]:
    """Index the searched trees of a repository and rank the files for its queries."""
    queries = read_messages(mined, options.commits)
    encoder = BundledEncoder()
    with work_folder(options) as work:
        git(work, "clone", "-q", "--shared", "--no-checkout", str(options.repositories / mined.stem / "repo"), "clone")
        workspace = open_workspace(work / "clone", os.environ)
        for query, scope in search_trees(workspace, work / "index", queries, names=False):
            ranks = [reciprocal_rank(query, scope, encoder, mode) for mode in MODES]
            yield RankedQuery(mined.stem, query.kind, query.text, *ranks)


def read_messages(mined: Path, limit: int) -> list[TreeQuery]:
    """Read the messages of a repository; a message with a paragraph gives two queries."""
    queries = []
    for line in mined.read_text(encoding="utf-8").splitlines()[:limit]:
        entry = json.loads(line)
        paths = tuple(dict.fromkeys(function["path"] for function in entry["functions"]))
        texts = {LINE: entry["text"]} if "\n" not in entry["text"] else {TEXT: entry["text"], SUBJECT: entry["subject"]}
        queries += [TreeQuery(kind, entry["tree"], text, paths) for kind, text in texts.items()]
    return queries


def reciprocal_rank(query: TreeQuery, scope: Scope, encoder: Encoder, mode: str) -> float:
    """Return 1 / rank of the first right file, 0 if no candidate is in one. A file counts by its best chunk."""
    retrieved = retrieve(scope, parse_query(query.text), encoder, mode=mode)
    candidates = retrieved.candidates
    best = np.full(len(candidates.paths), -np.inf)
    np.maximum.at(best, candidates.file, rank_candidates(retrieved, limit=1).sums)
    right = best[[path in query.paths for path in candidates.paths]].max(initial=-np.inf)
    return float(1 / (1 + (best > right).sum())) if np.isfinite(right) else 0.0


def compare(name: str, ranked: Sequence[RankedQuery], kinds: Sequence[str]) -> list[Figure]:
    """Return the figures of some kinds of queries; each query has the same weight."""
    own = [one for one in ranked if one.kind in kinds]
    if not own:
        return []
    gains = np.array([one.hybrid - one.lexical for one in own])
    low, high = bootstrap(gains, np.ones(len(own)))
    subject = f"{len(own)} {name}"
    return [
        Figure(subject, "reciprocal rank, hybrid", mean(one.hybrid for one in own)),
        Figure(subject, "reciprocal rank, lexical", mean(one.lexical for one in own)),
        Figure(subject, f"hybrid less lexical [{low:+.4f}, {high:+.4f}]", float(gains.mean()), at_least=0.0),
    ]
