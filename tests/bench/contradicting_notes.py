"""Notes that contradict earlier ones: how often the current note comes first, and how often `add` offers to link it."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from gitmem.answering.answer import answer
from gitmem.answering.search_query import Query, SearchFilters
from gitmem.freshness.record_refresh import index_records
from gitmem.freshness.refresh import refresh
from gitmem.records.transfer import import_records
from gitmem.workspace import Workspace, create_index, open_workspace
from tests.bench.figures import Figure
from tests.bench.similar_notes import find_similar
from tests.gitrepo import Repo

LABELS: Final = Path(__file__).with_name("contradicting_notes.json")
"""Topic, earlier note, note that replaced it, and a query. Every second pair is held out, starting with the second."""

FIRST: Final = 0.95


class Pair(NamedTuple):
    """Two notes that contradict each other, and a query about their subject."""

    topic: str
    old: str
    new: str
    query: str


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add no options."""


def measure(options: argparse.Namespace) -> list[Figure]:
    """Measure both halves; the queries of either are asked of a memory with all notes."""
    pairs = load_pairs()
    figures: list[Figure] = []
    for linked in (False, True):
        with TemporaryDirectory() as folder:
            workspace = make_memory(Path(folder), pairs, linked=linked)
            for name, half in (("fitted on", pairs[::2]), ("held out", pairs[1::2])):
                subject = f"{name}, {'with' if linked else 'without'} links"
                figures += judge(workspace, subject, half, FIRST if linked else None)
    offered = find_similar([text for pair in pairs for text in (pair.old, pair.new)])
    share = sum(bool(offered[2 * number + 1, 2 * number]) for number in range(len(pairs))) / len(pairs)
    return [*figures, Figure("all", "pairs", len(pairs)), Figure("all", "link offered by `add`", share)]


def load_pairs() -> list[Pair]:
    """Return all pairs in file order."""
    return [Pair(*labelled) for labelled in json.loads(LABELS.read_text(encoding="utf-8"))]


def make_memory(folder: Path, pairs: Sequence[Pair], *, linked: bool) -> Workspace:
    """Make a repository with the notes of all pairs; with `linked`, each new note supersedes the old one."""
    repo = Repo.init(folder / "repo")
    repo.commit({"readme": "x"})
    workspace = open_workspace(repo.path, {})
    lines: list[dict[str, object]] = []
    for number, pair in enumerate(pairs):
        old, new = f"mem_{number:06x}aaaaaa", f"mem_{number:06x}000000"
        links: dict[str, object] = {"supersedes": [old]} if linked else {}
        # The new note has the lower id, so the order of ids helps neither.
        lines.append({"id": old, "content": pair.old, "time": "2026-01-01T00:00:00Z"})
        lines.append({"id": new, "content": pair.new, "time": "2026-02-01T00:00:00Z", **links})
    create_index(workspace)
    refresh(workspace, workspace.location.head_tree)
    import_records(workspace, map(json.dumps, lines))
    notices, _ = index_records(workspace)
    assert not notices, notices
    return workspace


def judge(workspace: Workspace, subject: str, pairs: Sequence[Pair], at_least: float | None) -> list[Figure]:
    """Return the shares of queries with the current note first, before the old one, and with the old one at all."""
    first = before = present = 0
    for pair in pairs:
        query = Query(pair.query, limit=10, filters=SearchFilters(kinds=("notes",)), min_score=0)
        texts = ["\n".join(lines) for _, lines in answer(workspace, query).hits]
        first += texts[:1] == [pair.new]
        before += pair.new in texts and (pair.old not in texts or texts.index(pair.new) < texts.index(pair.old))
        present += pair.old in texts
    return [
        Figure(subject, "current note first", first / len(pairs), at_least=at_least),
        Figure(subject, "current note before the old one", before / len(pairs)),
        Figure(subject, "old note in the first ten", present / len(pairs)),
    ]
