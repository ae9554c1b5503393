"""What waits for an exchange of records with a slow remote, and what does not."""

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from gitmem import fsio
from gitmem.actions.index_exchange import push_index
from gitmem.fsio import Disk
from gitmem.git.remotes import PushedRef, RefUpdate
from gitmem.records import automatic_sharing
from gitmem.records.automatic_sharing import share_after
from gitmem.records.exchange import exchange
from gitmem.records.exchange_lock import exchange_lock
from gitmem.records.notes import add_note
from gitmem.records.purge import purge_memory
from gitmem.records.transport import GitRemote
from gitmem.workspace import open_workspace
from tests.git.hanging_ssh import HangingSsh
from tests.gitrepo import Repo
from tests.indexes import index
from tests.records.sharing_clones import Clone

LONG = 60.0
"""Seconds after which a thread counts as stuck."""

SHORT = 0.5
"""Seconds in which a thread that need not wait would be done."""


class SlowRemote(GitRemote):
    """Remote that answers only after something else has happened."""

    def __init__(self, clone: Clone, meanwhile: Callable[[str], None]) -> None:
        super().__init__(clone.workspace.location, "", push=True)
        self._meanwhile = meanwhile

    def list_refs(self) -> dict[str, str]:
        self._meanwhile("list")
        return super().list_refs()

    def fetch(self, targets: Mapping[str, str]) -> None:
        self._meanwhile("fetch")
        super().fetch(targets)

    def push(self, updates: Sequence[RefUpdate]) -> list[PushedRef]:
        self._meanwhile("push")
        return super().push(updates)


def start(action: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=action, daemon=True)
    thread.start()
    return thread


def test_a_note_is_stored_while_a_remote_does_not_answer(ann: Clone, bob: Clone) -> None:
    add_note(bob.workspace, "of bob")
    bob.sync()
    add_note(ann.workspace, "first")
    stuck: list[str] = []

    def store_note(step: str) -> None:
        thread = start(lambda: add_note(open_workspace(ann.repo.path, {}), f"during {step}"))
        thread.join(LONG / 10)
        stuck.extend([step] if thread.is_alive() else [])

    exchange(ann.workspace, SlowRemote(ann, store_note), pull=True, push=True)
    assert stuck == []
    ann.sync()
    bob.sync()
    assert ann.texts() == bob.texts() == ["during fetch", "during list", "during push", "first", "of bob"]


def test_a_purge_waits_for_an_exchange(ann: Clone) -> None:
    add_note(ann.workspace, "one")
    with exchange_lock(ann.workspace.location):
        thread = start(lambda: purge_memory(ann.workspace))
        thread.join(SHORT)
        assert thread.is_alive()
    thread.join(LONG)
    assert not thread.is_alive()


def test_sharing_in_the_background_gives_up_on_a_remote_that_hangs(
    ann: Clone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_TERMINAL_PROMPT", "GIT_ASKPASS", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "GCM_INTERACTIVE",
                 "GIT_HTTP_LOW_SPEED_LIMIT", "GIT_HTTP_LOW_SPEED_TIME"):  # fmt: skip
        monkeypatch.setenv(name, "")
    ssh = HangingSsh(tmp_path)
    ann.repo.git("config", "core.sshCommand", str(ssh.program))
    ann.repo.git("config", "gitmem.autoShare", "true")
    ann.repo.git("remote", "set-url", "origin", "ssh://host.invalid/team.git")
    monkeypatch.setattr(automatic_sharing, "PATIENCE_SECONDS", 1.0)
    assert share_after(open_workspace(ann.repo.path, {}), pushes=True)
    ssh.await_ended()


class InterruptedDisk(Disk):
    """Lets something else happen before the first file is made among the objects of a repository."""

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        self._meanwhile: Callable[[], None] | None = meanwhile

    def rename(self, source: Path, target: Path) -> None:
        self._interrupt(target)
        super().rename(source, target)

    def link(self, source: Path, target: Path) -> None:
        self._interrupt(target)
        super().link(source, target)

    def _interrupt(self, target: Path) -> None:
        meanwhile = self._meanwhile
        if meanwhile and "objects" in target.parts:
            self._meanwhile = None
            meanwhile()


@pytest.mark.usefixtures("fake_model")
def test_a_note_removes_nothing_that_the_push_of_an_index_is_storing(
    remote: Repo, ann: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann.repo.git("switch", "--quiet", "-c", "work")
    ann.repo.commit({"a.py": "def alpha():\n    return 1\n"})
    ann.repo.git("push", "--quiet", "-u", "origin", "work")
    index(ann.repo)
    threads: list[threading.Thread] = []

    def store_note() -> None:
        monkeypatch.setattr(fsio, "disk", Disk())
        threads.append(start(lambda: add_note(open_workspace(ann.repo.path, {}), "meanwhile")))
        threads[0].join(SHORT)

    monkeypatch.setattr(fsio, "disk", InterruptedDisk(store_note))
    assert push_index(open_workspace(ann.repo.path, {})).blobs == 1
    (thread,) = threads
    thread.join(LONG)
    assert ann.texts() == ["meanwhile"]
    remote.git("fsck", "--strict")
