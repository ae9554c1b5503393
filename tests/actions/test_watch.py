"""Watching indexes changes before the next query."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gitmem.actions.watch import WatchEvent, watch
from gitmem.errors import NoIndex, ObserverFailed, StorageFailed, UsageError
from gitmem.freshness.index_report import IndexReport
from gitmem.freshness.refresh import refresh
from gitmem.store.snapshot import Snapshot
from gitmem.workspace import require_index
from tests.gitrepo import Repo
from tests.indexes import InlinePool, index, workspace_of

PATIENCE = 300.0
"""Seconds until a test gives up."""


class Events(list[WatchEvent]):
    """Events of a watcher, and a way to wait for them."""

    def await_count(self, count: int) -> None:
        deadline = time.monotonic() + PATIENCE
        while len(self) < count:
            assert time.monotonic() < deadline, f"only these events: {list(self)}"
            time.sleep(0.01)


@contextmanager
def watching(repo: Repo, **options: float) -> Iterator[Events]:
    events, stop, changed = Events(), threading.Event(), threading.Event()
    before = threading.enumerate()
    thread = threading.Thread(target=watch, args=(repo.path, {}, events.append, stop, changed), kwargs=options)
    thread.start()
    try:
        yield events
    finally:
        stop.set()
        changed.set()
        thread.join(PATIENCE)
        assert not thread.is_alive()
        assert not [left for left in threading.enumerate() if left not in before], "the observer goes on"


def is_indexed(repo: Repo, name: str) -> bool:
    """Return whether the index has the content of a file."""
    workspace = workspace_of(repo)
    oid = repo.git("hash-object", name)
    snapshot = Snapshot(workspace.paths, require_index(workspace))
    return any((bytes.fromhex(oid), "python") in segment.load_rows().blobs.keys for segment in snapshot.segments)


@pytest.fixture
def repo(tmp_path: Path, fake_model: type[InlinePool]) -> Repo:
    repo = Repo.init(tmp_path / "repository")
    repo.commit({"a.py": "def first():\n    return 1\n"})
    index(repo)
    return repo


def test_a_new_file_is_indexed_without_a_query(repo: Repo) -> None:
    with watching(repo) as events:
        repo.write({"new/b.py": "def second():\n    return 2\n"})
        events.await_count(1)
        assert is_indexed(repo, "new/b.py")
    assert [(event.problem, event.report.embedded if event.report else 0) for event in events] == [("", 1)]


def test_many_changes_at_once_cause_few_runs(repo: Repo) -> None:
    with watching(repo) as events:
        for number in range(50):
            repo.write({f"many/{number}.py": f"def number_{number}():\n    return {number}\n"})
        deadline = time.monotonic() + PATIENCE
        while sum(event.report.embedded for event in events if event.report) < 50:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    # Usually one to three. On a busy machine the files may take longer than the pause that ends a burst.
    assert len(events) <= 25


def test_a_new_head_is_indexed_even_if_no_file_changes(repo: Repo, fake_model: type[InlinePool]) -> None:
    """A commit by plumbing commands changes only the git directory."""
    with watching(repo) as events:
        blob = repo.git("hash-object", "-w", "--stdin", stdin=b"def third():\n    return 3\n")
        tree = repo.git("mktree", stdin=f"100644 blob {blob}\tc.py\n".encode())
        repo.git("update-ref", "HEAD", repo.git("commit-tree", tree, "-p", "HEAD", "-m", "by hand"))
        events.await_count(1)
    assert fake_model.digested == 2


def test_nothing_is_indexed_during_a_rebase(repo: Repo, fake_model: type[InlinePool]) -> None:
    (repo.path / ".git/rebase-merge").mkdir()
    with watching(repo) as events:
        repo.write({"b.py": "def second():\n    return 2\n"})
        time.sleep(3.0)
        assert events == []
        (repo.path / ".git/rebase-merge").rmdir()
        events.await_count(1)
    assert fake_model.digested == 2


def test_without_file_system_events_the_tree_is_polled(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise ObserverFailed("no watches left")

    monkeypatch.setattr("gitmem.actions.watch.FolderObserver.__enter__", refuse)
    with watching(repo) as events:
        events.await_count(1)
        repo.write({"b.py": "def second():\n    return 2\n"})
        events.await_count(2)
        assert is_indexed(repo, "b.py")
    assert events[0].problem == "no watches left; it is compared every 2 seconds instead"


def test_a_full_poll_finds_changes_whose_events_were_lost(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitmem.folder_observer.FolderObserver.on_any_event", lambda *_: None)
    with watching(repo, full_poll_seconds=3.0) as events:
        time.sleep(2.0)  # the first poll is over
        repo.write({"b.py": "def second():\n    return 2\n"})
        events.await_count(1)


def test_a_failed_run_is_reported_and_retried(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    failures = iter([True])

    def fail_once(*args: Any, **options: Any) -> IndexReport:
        if next(failures, False):
            raise StorageFailed("the disk is full")
        return refresh(*args, **options)

    monkeypatch.setattr("gitmem.actions.watch.refresh", fail_once)
    with watching(repo) as events:
        events.await_count(1)
        repo.write({"b.py": "def second():\n    return 2\n"})
        events.await_count(2)
    assert [event.problem for event in events] == ["the disk is full", ""]


def test_a_repository_without_working_tree_or_index_is_rejected(tmp_path: Path) -> None:
    bare = Repo.init(tmp_path / "bare", "--bare")
    index(bare)
    with pytest.raises(UsageError, match="no working tree"):
        watch(bare.path, {}, Events().append, threading.Event())
    with pytest.raises(NoIndex):
        watch(Repo.init(tmp_path / "new").path, {}, Events().append, threading.Event())
