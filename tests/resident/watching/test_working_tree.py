"""Changes of a working tree are detected with certainty or not at all: by inotify, and by marker files elsewhere."""

import shutil
import sys
import threading
import time
from pathlib import Path

import pytest

from gitmem import fsio
from gitmem.errors import ObserverFailed
from gitmem.resident.watching.inotify import InotifyWatcher
from gitmem.resident.watching.working_tree import (
    ChangeObserver,
    StartObserver,
    WorkingTreeWatcher,
    start_inotify,
    start_marker_file,
    start_observer,
)
from gitmem.types import OWN_FOLDERS
from tests.gitrepo import Repo
from tests.resident.watching.trees import overflow
from tests.sample import open_sample

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="inotify exists on Linux only")


@pytest.fixture(params=[pytest.param(start_inotify, marks=LINUX), start_marker_file], ids=["inotify", "marker file"])
def start(request: pytest.FixtureRequest) -> StartObserver:
    """Start either observer."""
    parameter: StartObserver = request.param
    return parameter


def refuse(_worktree: Path, _state: Path) -> ChangeObserver:
    """Fail as a system that has no watches left."""
    raise ObserverFailed("no watches left")


def wait_until_unchanged(watcher: WorkingTreeWatcher) -> bool:
    """Wait for the observer, and for the late events of earlier changes."""
    for _ in range(30_000):
        watcher.start()
        watcher.reset()
        if watcher.is_unchanged():
            return True
        time.sleep(0.01)
    return False


def is_never_unchanged(watcher: WorkingTreeWatcher) -> bool:
    """Return whether the watcher stays uncertain, also after its observer had time to start."""
    watcher.start()
    watcher.reset()
    time.sleep(0.2)
    watcher.reset()
    return not watcher.is_unchanged()


def test_a_change_is_detected_immediately_after_it_is_made(own: Repo, start: StartObserver) -> None:
    watcher = WorkingTreeWatcher(open_sample(own), start)
    for turn in range(50):
        assert wait_until_unchanged(watcher)
        assert watcher.is_unchanged()
        (own.path / "notes.txt").write_text(f"turn {turn}")
        assert not watcher.is_unchanged()
    watcher.close()
    assert not watcher.is_unchanged()


def test_nothing_is_certain_before_the_watcher_starts_and_after_its_start_the_caller_is_told(
    own: Repo, start: StartObserver
) -> None:
    started = threading.Event()
    watcher = WorkingTreeWatcher(open_sample(own), start, started.set)
    watcher.reset()
    assert not watcher.is_unchanged()
    assert not started.is_set()
    watcher.start()
    assert started.wait(300)
    assert wait_until_unchanged(watcher)
    watcher.close()


def test_files_of_git_and_gitmem_do_not_count_as_changes(own: Repo, start: StartObserver) -> None:
    watcher = WorkingTreeWatcher(open_sample(own), start)
    assert wait_until_unchanged(watcher)
    own.git("update-ref", "refs/heads/other", "HEAD")
    (own.path / ".gitmem" / "state" / "anything").touch()
    assert watcher.is_unchanged()
    watcher.close()


def test_watching_leaves_no_files_behind(own: Repo, start: StartObserver) -> None:
    state = own.path / ".gitmem" / "state"
    before = set(state.iterdir())
    watcher = WorkingTreeWatcher(open_sample(own), start)
    assert wait_until_unchanged(watcher)
    assert own.git("status", "--porcelain") == ""
    watcher.close()
    assert set(state.iterdir()) == before


def test_without_a_marker_file_nothing_is_certain(own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    watcher = WorkingTreeWatcher(open_sample(own), start_marker_file)
    assert wait_until_unchanged(watcher)

    def fail(*_: object) -> int:
        raise OSError(30, "read-only")

    monkeypatch.setattr(fsio.disk, "create", fail)
    assert not watcher.is_unchanged()
    watcher.close()


@pytest.mark.parametrize("case", ["linked working tree", "no index", "no watches left"])
def test_without_a_marker_folder_or_events_nothing_is_certain(own: Repo, tmp_path: Path, case: str) -> None:
    repo = own
    if case == "linked working tree":
        own.git("worktree", "add", "-q", "--detach", str(tmp_path / "side"))
        repo = Repo(tmp_path / "side")
    elif case == "no index":
        repo = Repo.init(tmp_path / "new")
    watcher = WorkingTreeWatcher(open_sample(repo), refuse if case == "no watches left" else start_marker_file)
    assert is_never_unchanged(watcher)
    watcher.close()


def test_a_replaced_working_tree_is_watched_again(own: Repo, start: StartObserver, tmp_path: Path) -> None:
    watcher = WorkingTreeWatcher(open_sample(own), start)
    assert wait_until_unchanged(watcher)
    own.path.rename(tmp_path / "before")
    shutil.copytree(tmp_path / "before", own.path, symlinks=True)
    assert not watcher.is_unchanged()
    assert wait_until_unchanged(watcher)
    (own.path / "later.txt").touch()
    assert not watcher.is_unchanged()
    watcher.close()


@LINUX
def test_a_file_system_that_others_write_to_is_not_observed() -> None:
    with pytest.raises(ObserverFailed, match="other machines may write"):
        start_inotify(Path("/proc/self"), Path("/proc/self"))


@LINUX
def test_changes_of_a_linked_working_tree_are_detected(own: Repo, tmp_path: Path) -> None:
    own.git("worktree", "add", "-q", "--detach", str(tmp_path / "side"))
    watcher = WorkingTreeWatcher(open_sample(Repo(tmp_path / "side")), start_observer)
    assert wait_until_unchanged(watcher)
    (own.path / "elsewhere.txt").touch()
    assert watcher.is_unchanged()
    (tmp_path / "side" / "here.txt").touch()
    assert not watcher.is_unchanged()
    watcher.close()


@LINUX
@pytest.mark.parametrize("case", ["folder moved", "overflow"])
def test_an_observer_that_lost_track_is_started_again(own: Repo, case: str) -> None:
    (own.path / "a").mkdir()
    (own.path / "b").mkdir()
    watcher = WorkingTreeWatcher(open_sample(own), lambda worktree, _state: InotifyWatcher(worktree, OWN_FOLDERS))
    assert wait_until_unchanged(watcher)
    if case == "folder moved":
        (own.path / "a").rename(own.path / "b" / "a")
    else:
        overflow(own.path / "a")
    assert not watcher.is_unchanged()
    assert wait_until_unchanged(watcher)
    (own.path / "b" / "later.txt").touch()
    assert not watcher.is_unchanged()
    watcher.close()
