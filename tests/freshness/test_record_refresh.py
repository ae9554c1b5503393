"""A new record is searchable when the call that stores it returns, even if another process writes the index."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitmem.freshness import record_refresh as remember
from gitmem.locks import writer_lock
from gitmem.records.notes import add_note
from tests.gitrepo import Repo
from tests.indexes import index, python_file, search, workspace_of

pytestmark = pytest.mark.usefixtures("fake_model")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"a.py": python_file("load")})
    index(repo)
    return repo


@contextmanager
def index_locked(repo: Repo, until: threading.Event) -> Iterator[None]:
    """Hold the writer lock of the index until the event is set."""
    started = threading.Event()

    def write() -> None:
        with writer_lock(workspace_of(repo).paths.lock, wait=True):
            started.set()
            until.wait(30)

    writer = threading.Thread(target=write)
    writer.start()
    started.wait()
    try:
        yield
    finally:
        until.set()
        writer.join()


def search_notes(repo: Repo, words: str) -> list[str]:
    """Return the lines of the matching notes, without indexing anything."""
    return [line for _, lines in search(repo, words, kinds=("notes",), refresh=False).hits for line in lines]


def test_add_note_waits_for_a_short_write_of_the_index(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    until = threading.Event()
    monkeypatch.setattr("gitmem.freshness.record_refresh.time.sleep", lambda _: until.set())
    with index_locked(repo, until):
        notices = add_note(workspace_of(repo), "parcels are late").notices
    assert notices == []
    assert search_notes(repo, "parcels") == ["parcels are late"]


def test_add_note_does_not_wait_for_a_long_write_and_loses_nothing(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remember, "MAX_WAIT_SECONDS", 0.1)
    with index_locked(repo, threading.Event()):
        notices = add_note(workspace_of(repo), "parcels are late").notices
    assert notices == ["stored, but not searchable yet: another process is writing this index"]
    assert search_notes(repo, "parcels") == []
    assert search(repo, "parcels", kinds=("notes",)).hits
    assert search_notes(repo, "parcels") == ["parcels are late"]
