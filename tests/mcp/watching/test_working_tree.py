"""Whether nothing changed is told for certain, or not at all: by Linux's queue, and by marks as elsewhere."""

import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem import fsio
from gitmem.errors import ObserverFailed
from gitmem.folder_observer import Observation
from gitmem.mcp.watching import inotify
from gitmem.mcp.watching import working_tree as watching
from gitmem.mcp.watching.inotify import InotifyWatcher
from gitmem.mcp.watching.working_tree import WorkingTreeWatcher
from gitmem.types import NOISE
from tests.gitrepo import Repo
from tests.sample import open_sample

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")


def wait_until_quiet(watch: WorkingTreeWatcher) -> bool:
    """Let what was told of earlier changes pass."""
    for _ in range(30_000):
        watch.forget()
        if watch.is_unchanged():
            return True
        time.sleep(0.01)
    return False


@pytest.fixture(params=[pytest.param("queue", marks=LINUX), "marks"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either way of being certain."""
    monkeypatch.setattr(watching, "is_supported", lambda: request.param == "queue")


@pytest.mark.usefixtures("_way")
def test_no_change_is_missed_however_soon_it_is_asked_about(own: Repo) -> None:
    watch = WorkingTreeWatcher(open_sample(own))
    for turn in range(50):
        assert wait_until_quiet(watch)
        assert watch.is_unchanged()
        (own.path / "notes.txt").write_text(f"turn {turn}")
        assert not watch.is_unchanged()
    watch.close()
    assert not watch.is_unchanged()


@pytest.mark.usefixtures("_way")
def test_what_git_and_gitmem_do_for_themselves_is_no_change(own: Repo) -> None:
    watch = WorkingTreeWatcher(open_sample(own))
    assert wait_until_quiet(watch)
    own.git("update-ref", "refs/heads/other", "HEAD")
    (own.path / ".gitmem" / "state" / "anything").touch()
    assert watch.is_unchanged()
    watch.close()


@pytest.mark.usefixtures("_way")
def test_nothing_of_it_is_seen_or_left(own: Repo) -> None:
    state = own.path / ".gitmem" / "state"
    before = set(state.iterdir())
    watch = WorkingTreeWatcher(open_sample(own))
    assert wait_until_quiet(watch)
    assert own.git("status", "--porcelain") == ""
    watch.close()
    assert set(state.iterdir()) == before


def test_where_the_disk_takes_no_mark_nothing_is_certain(own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "is_supported", lambda: False)
    watch = WorkingTreeWatcher(open_sample(own))
    assert wait_until_quiet(watch)

    def refuse(*_: object) -> int:
        raise OSError(30, "read-only")

    monkeypatch.setattr(fsio.disk, "create", refuse)
    assert not watch.is_unchanged()
    watch.close()


@pytest.mark.parametrize("case", ["linked", "no index", "unobserved"])
def test_without_a_place_for_marks_or_any_word_it_is_never_quiet(
    own: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.setattr(watching, "is_supported", lambda: False)
    repo = own
    if case == "linked":
        own.git("worktree", "add", "-q", "--detach", str(tmp_path / "side"))
        repo = Repo(tmp_path / "side")
    elif case == "no index":
        repo = Repo.init(tmp_path / "new")
    else:

        def fail(_self: object) -> None:
            raise ObserverFailed("no watches left")

        monkeypatch.setattr(Observation, "__enter__", fail)
    watch = WorkingTreeWatcher(open_sample(repo))
    watch.forget()
    time.sleep(0.2)
    watch.forget()
    assert not watch.is_unchanged()
    watch.close()


@pytest.mark.usefixtures("_way")
def test_another_folder_in_the_place_of_the_tree_is_watched_in_its_turn(own: Repo, tmp_path: Path) -> None:
    watch = WorkingTreeWatcher(open_sample(own))
    assert wait_until_quiet(watch)
    own.path.rename(tmp_path / "before")
    shutil.copytree(tmp_path / "before", own.path, symlinks=True)
    assert not watch.is_unchanged()
    assert wait_until_quiet(watch)
    (own.path / "later.txt").touch()
    assert not watch.is_unchanged()
    watch.close()


@LINUX
def test_what_others_may_write_to_is_never_quiet(own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    assert inotify.is_local(own.path)
    assert not inotify.is_local(Path("/proc/self"))
    monkeypatch.setattr(watching, "is_local", lambda _: False)
    watch = WorkingTreeWatcher(open_sample(own))
    watch.forget()
    time.sleep(0.1)
    watch.forget()
    assert not watch.is_unchanged()
    watch.close()


@LINUX
def test_a_linked_working_tree_is_quiet_for_certain(own: Repo, tmp_path: Path) -> None:
    own.git("worktree", "add", "-q", "--detach", str(tmp_path / "side"))
    watch = WorkingTreeWatcher(open_sample(Repo(tmp_path / "side")))
    assert wait_until_quiet(watch)
    (own.path / "elsewhere.txt").touch()
    assert watch.is_unchanged()
    (tmp_path / "side" / "here.txt").touch()
    assert not watch.is_unchanged()
    watch.close()


CHANGES: dict[str, Callable[[Path], object]] = {
    "written": lambda tree: (tree / "a" / "file").write_text("more"),
    "made": lambda tree: (tree / "a" / "new").touch(),
    "removed": lambda tree: (tree / "a" / "file").unlink(),
    "renamed": lambda tree: (tree / "a" / "file").rename(tree / "a" / "other"),
    "moved away": lambda tree: (tree / "a" / "file").rename(tree.parent / "other"),
    "executable": lambda tree: (tree / "a" / "file").chmod(0o755),
    "linked": lambda tree: (tree / "a" / "link").symlink_to("file"),
    "a repository": lambda tree: (tree / "a" / ".git").mkdir(),
    "cut": lambda tree: os.truncate(tree / "a" / "file", 1),
}


@LINUX
@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_every_change_of_a_file_is_in_the_queue_at_once(tmp_path: Path, change: Callable[[Path], object]) -> None:
    tree = make_tree(tmp_path)
    queue = InotifyWatcher(tree, NOISE)
    queue.forget()
    (tree / "a" / "file").read_text()
    assert queue.is_unchanged()
    change(tree)
    assert not queue.is_unchanged()
    queue.close()


@LINUX
def test_folders_that_come_are_watched_before_anyone_looks(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    queue = InotifyWatcher(tree, NOISE)
    queue.forget()
    (tree / "b" / "c").mkdir(parents=True)
    assert not queue.is_unchanged()
    queue.forget()
    (tree / "b" / "c" / "new").touch()
    assert not queue.is_unchanged()
    queue.forget()
    shutil.rmtree(tree / "b")
    assert not queue.is_unchanged()
    queue.forget()
    assert queue.is_unchanged()
    queue.close()


@LINUX
def test_a_folder_that_becomes_readable_is_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = make_tree(tmp_path)
    original = InotifyWatcher._watch

    def refuse(self: InotifyWatcher, folder: bytes) -> int:
        if folder.endswith(b"/a"):
            raise PermissionError(13, "Permission denied")
        return original(self, folder)

    monkeypatch.setattr(InotifyWatcher, "_watch", refuse)
    queue = InotifyWatcher(tree, NOISE)
    monkeypatch.undo()
    queue.forget()
    (tree / "a").chmod(0o700)
    assert not queue.is_unchanged()
    queue.forget()
    (tree / "a" / "file").write_text("more")
    assert not queue.is_unchanged()
    queue.close()


@LINUX
@pytest.mark.parametrize("case", ["a folder moved", "the tree is gone", "too much at once"])
def test_where_folders_are_lost_it_says_so_and_is_begun_again(
    own: Repo, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    tree = make_tree(own.path)
    queue = InotifyWatcher(tree, NOISE)
    queue.forget()
    watch = WorkingTreeWatcher(open_sample(own))
    assert wait_until_quiet(watch)
    if case == "a folder moved":
        (tree / "a").rename(tree / "z")
    elif case == "the tree is gone":
        shutil.rmtree(tree)
    else:
        monkeypatch.setattr(inotify, "_parse", lambda _: [(-1, 0x4000, b"")])
        (tree / "a" / "file").touch()
    with pytest.raises(ObserverFailed):
        queue.is_unchanged()
    queue.close()
    assert not watch.is_unchanged()
    monkeypatch.undo()
    assert wait_until_quiet(watch)
    (own.path / "later.txt").touch()
    assert not watch.is_unchanged()
    watch.close()


@LINUX
def test_where_the_system_has_no_watches_left_git_is_asked(own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: InotifyWatcher, _folder: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(InotifyWatcher, "_watch", refuse)
    with pytest.raises(ObserverFailed, match="No space left"):
        InotifyWatcher(own.path, NOISE)
    watch = WorkingTreeWatcher(open_sample(own))
    watch.forget()
    time.sleep(0.1)
    watch.forget()
    assert not watch.is_unchanged()
    watch.close()


def make_tree(folder: Path) -> Path:
    """A folder with a file two levels down."""
    (folder / "tree" / "a").mkdir(parents=True)
    (folder / "tree" / "a" / "file").write_text("text")
    return folder / "tree"
