"""A record is searchable when the call that keeps it returns, whoever else writes the index then."""

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
def somebody_writing(repo: Repo, until: threading.Event) -> Iterator[None]:
    """The index is being written until the event is set."""
    begun = threading.Event()

    def write() -> None:
        with writer_lock(workspace_of(repo).paths.lock, wait=True):
            begun.set()
            until.wait(30)

    writer = threading.Thread(target=write)
    writer.start()
    begun.wait()
    try:
        yield
    finally:
        until.set()
        writer.join()


def found(repo: Repo, words: str) -> list[str]:
    """Lines of the notes that are found without anything being indexed."""
    return [line for _, lines in search(repo, words, kinds=("notes",), refresh=False).hits for line in lines]


def test_who_writes_the_index_for_a_moment_is_waited_for(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    until, notes = threading.Event(), list[str]()
    monkeypatch.setattr("gitmem.freshness.record_refresh.time.sleep", lambda _: until.set())
    with somebody_writing(repo, until):
        add_note(workspace_of(repo), "parcels are late", notes=notes)
    assert notes == []
    assert found(repo, "parcels") == ["parcels are late"]


def test_who_writes_for_long_is_not_and_nothing_is_lost(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = list[str]()
    monkeypatch.setattr(remember, "MAX_WAIT_SECONDS", 0.1)
    with somebody_writing(repo, threading.Event()):
        add_note(workspace_of(repo), "parcels are late", notes=notes)
    assert notes == ["stored, but not searchable yet: another process is writing this index"]
    assert found(repo, "parcels") == []
    assert search(repo, "parcels", kinds=("notes",)).hits
    assert found(repo, "parcels") == ["parcels are late"]
