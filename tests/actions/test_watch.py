"""Watching: what changes is indexed before anybody asks."""

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


class Told(list[WatchEvent]):
    """What was told, to wait for."""

    def await_one(self, wanted: int) -> None:
        deadline = time.monotonic() + PATIENCE
        while len(self) < wanted:
            assert time.monotonic() < deadline, f"told only {list(self)}"
            time.sleep(0.01)


@contextmanager
def watching(repo: Repo) -> Iterator[Told]:
    told, stop, changed = Told(), threading.Event(), threading.Event()
    thread = threading.Thread(target=watch, args=(repo.path, {}, told.append, stop, changed))
    thread.start()
    try:
        yield told
    finally:
        stop.set()
        changed.set()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def holds(repo: Repo, name: str) -> bool:
    """Whether the content of a file is in the index."""
    workspace = workspace_of(repo)
    oid = repo.git("hash-object", name)
    snapshot = Snapshot(workspace.paths, require_index(workspace))
    return any((bytes.fromhex(oid), "python") in segment.load_rows().blobs.keys for segment in snapshot.segments)


@pytest.fixture
def repo(tmp_path: Path, fake_model: type[InlinePool]) -> Repo:
    made = Repo.init(tmp_path / "repository")
    made.commit({"a.py": "def first():\n    return 1\n"})
    index(made)
    return made


def test_a_file_that_is_written_is_indexed_unasked(repo: Repo) -> None:
    with watching(repo) as told:
        repo.write({"new/b.py": "def second():\n    return 2\n"})
        told.await_one(1)
        assert holds(repo, "new/b.py")
    assert [(looked.problem, looked.report.embedded if looked.report else 0) for looked in told] == [("", 1)]


def test_many_changes_at_once_are_one_look(repo: Repo) -> None:
    with watching(repo) as told:
        for number in range(50):
            repo.write({f"many/{number}.py": f"def number_{number}():\n    return {number}\n"})
        deadline = time.monotonic() + PATIENCE
        while sum(looked.report.embedded for looked in told if looked.report) < 50:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert len(told) <= 3


def test_head_is_looked_at_though_no_file_changes(repo: Repo, fake_model: type[InlinePool]) -> None:
    """A commit made by plumbing touches nothing but the git directory."""
    with watching(repo) as told:
        blob = repo.git("hash-object", "-w", "--stdin", stdin=b"def third():\n    return 3\n")
        tree = repo.git("mktree", stdin=f"100644 blob {blob}\tc.py\n".encode())
        repo.git("update-ref", "HEAD", repo.git("commit-tree", tree, "-p", "HEAD", "-m", "by hand"))
        told.await_one(1)
    assert fake_model.digested == 2


def test_nothing_is_done_in_the_middle_of_a_rebase(repo: Repo, fake_model: type[InlinePool]) -> None:
    (repo.path / ".git/rebase-merge").mkdir()
    with watching(repo) as told:
        repo.write({"b.py": "def second():\n    return 2\n"})
        time.sleep(3.0)
        assert told == []
        (repo.path / ".git/rebase-merge").rmdir()
        told.await_one(1)
    assert fake_model.digested == 2


def test_a_system_that_does_not_watch_is_done_without(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise ObserverFailed("no watches left")

    monkeypatch.setattr("gitmem.actions.watch.FolderObserver.__enter__", refuse)
    with watching(repo) as told:
        told.await_one(1)
        repo.write({"b.py": "def second():\n    return 2\n"})
        told.await_one(2)
        assert holds(repo, "b.py")
    assert told[0].problem == "no watches left; it is compared every 2 seconds instead"


def test_lost_events_are_made_up_for(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitmem.folder_observer.FolderObserver.on_any_event", lambda *_: None)
    monkeypatch.setattr("gitmem.actions.watch._FULL_POLL_SECONDS", 3.0)
    with watching(repo) as told:
        time.sleep(2.0)  # the first look is over
        repo.write({"b.py": "def second():\n    return 2\n"})
        told.await_one(1)


def test_what_goes_wrong_is_told_and_tried_again(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    failures = iter([True])

    def fail_once(*args: Any, **options: Any) -> IndexReport:
        if next(failures, False):
            raise StorageFailed("the disk is full")
        return refresh(*args, **options)

    monkeypatch.setattr("gitmem.actions.watch.refresh", fail_once)
    with watching(repo) as told:
        told.await_one(1)
        repo.write({"b.py": "def second():\n    return 2\n"})
        told.await_one(2)
    assert [looked.problem for looked in told] == ["the disk is full", ""]


def test_what_cannot_be_watched_is_refused(tmp_path: Path) -> None:
    bare = Repo.init(tmp_path / "bare", "--bare")
    index(bare)
    with pytest.raises(UsageError, match="no working tree"):
        watch(bare.path, {}, Told().append, threading.Event())
    with pytest.raises(NoIndex):
        watch(Repo.init(tmp_path / "new").path, {}, Told().append, threading.Event())
