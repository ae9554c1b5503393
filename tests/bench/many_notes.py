"""Cost of operations on a memory of 100,000 notes inside a running process: add, delete, find similar, list, filter."""

import argparse
import resource
import statistics
from collections.abc import Callable
from functools import partial
from typing import Final

from gitmem.freshness.memory_view import open_memory
from gitmem.freshness.record_refresh import index_records
from gitmem.freshness.refresh import refresh
from gitmem.git.locate import locate
from gitmem.git.trees import empty_tree
from gitmem.memory.record_paths import NOTES, new_note_id, note_path
from gitmem.memory.record_store import Changes, RecordStore
from gitmem.record import Record, format_record
from gitmem.records.filters import RecordFilters, matching_records
from gitmem.records.notes import add_note, list_notes
from gitmem.records.similar_notes import find_similar
from gitmem.types import NOTE
from gitmem.workspace import open_workspace
from tests.bench.figures import Figure
from tests.bench.subjects import work_folder
from tests.gitrepo import Repo

RECORDS: Final = 100_000
LIMIT: Final = 20
"""Limit of the CPU milliseconds of an addition, including git's processes."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the number of records and rounds."""
    parser.add_argument("--records", type=int, default=RECORDS, help="number of records already stored")
    parser.add_argument("--rounds", type=int, default=15, help="runs")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Fill a repository, then measure adding, listing and deleting."""
    with work_folder(options) as work:
        repo = Repo.init(work / "memory")
        subject = f"{options.records:,} notes"
        workspace = open_workspace(repo.path, {})
        refresh(workspace, empty_tree(workspace.location))
        with RecordStore(locate(repo.path)) as store:
            notes = [_note(f"note {number}") for number in range(options.records)]
            filled = _cpu(lambda: store.change("fill", lambda _: dict(notes)))
            spent: dict[str, list[float]] = {"add": [], "delete": []}
            for number in range(options.rounds):
                path, data = _note(f"another {number}")
                spent["add"].append(_cpu(partial(store.change, "add", _always({path: data}))))
                spent["delete"].append(_cpu(partial(store.change, "delete", _always({path: None}))))
            paths = _cpu(lambda: store.entries(store.tip(), NOTES))
            tree = store.tip().tree or ""
        opening = _cpu(lambda: open_memory(workspace, tree))
        listed = _cpu(lambda: list_notes(workspace, limit=100))
        filters = RecordFilters(type=("fact",), since="2026-01-01T", until="2026-02-01T", min_confidence=0.5)
        filtered = _cpu(lambda: matching_records(open_memory(workspace, tree), filters))
        notices, indexed = index_records(workspace)
        assert indexed is not None, notices
        newest = list_notes(workspace, limit=options.rounds)
        with RecordStore(workspace.location) as store:
            store.tip()
            similar = statistics.median(_cpu(partial(find_similar, store, indexed, note)) for note in newest)
        added = _cpu(lambda: add_note(workspace, "the same again"))
    return [
        Figure(subject, "import of all", filled, "ms CPU"),
        Figure(subject, "add one", statistics.median(spent["add"]), "ms CPU", at_most=LIMIT),
        Figure(subject, "find similar", similar, "ms CPU"),
        Figure(subject, "add one and find similar", statistics.median(spent["add"]) + similar, "ms CPU", at_most=LIMIT),
        Figure(subject, "add one until it is indexed", added, "ms CPU"),
        Figure(subject, "delete one", statistics.median(spent["delete"]), "ms CPU", at_most=LIMIT),
        Figure(subject, "list all paths", paths, "ms CPU"),
        Figure(subject, "open the view of all", opening, "ms CPU"),
        Figure(subject, "list the newest 100", listed, "ms CPU"),
        Figure(subject, "filter by type, time and confidence", filtered, "ms CPU"),
    ]


def _note(text: str) -> tuple[bytes, bytes]:
    identity = new_note_id()
    fields = {"type": "fact", "confidence": 1.0, "time": "2026-01-31T12:00:00.000000Z"}
    return note_path(identity), format_record(Record(NOTE, identity, fields, text.encode()))


def _always(changes: Changes) -> Callable[[object], Changes]:
    return lambda _: changes


def _cpu(work: Callable[[], object]) -> float:
    """Return the CPU milliseconds of this process and its finished children for a call."""
    before = _spent()
    work()
    return 1000 * (_spent() - before)


def _spent() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
