"""Every change below a folder is in the queue of inotify as soon as it has been made."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.errors import ObserverFailed
from gitmem.resident.watching.inotify import InotifyWatcher
from gitmem.resident.watching.inotify_queue import InotifyQueue
from gitmem.types import OWN_FOLDERS
from tests.resident.watching.trees import make_tree, overflow

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify exists on Linux only")

CHANGES: dict[str, Callable[[Path], object]] = {
    "written": lambda tree: (tree / "a" / "file").write_text("more"),
    "created": lambda tree: (tree / "a" / "new").touch(),
    "deleted": lambda tree: (tree / "a" / "file").unlink(),
    "renamed": lambda tree: (tree / "a" / "file").rename(tree / "a" / "other"),
    "moved away": lambda tree: (tree / "a" / "file").rename(tree.parent / "other"),
    "made executable": lambda tree: (tree / "a" / "file").chmod(0o755),
    "linked": lambda tree: (tree / "a" / "link").symlink_to("file"),
    "made a repository": lambda tree: (tree / "a" / ".git").mkdir(),
    "truncated": lambda tree: os.truncate(tree / "a" / "file", 1),
}


class QueueWithoutWatches(InotifyQueue):
    """Queue of a user who has reached the limit on watches."""

    def add_watch(self, folder: bytes, mask: int) -> int:
        raise OSError(28, "No space left on device")


class UnreadableAtFirst(InotifyQueue):
    """Queue for which the folder `a` is unreadable when it is watched for the first time. The tests may run as root."""

    refusals = 1

    def add_watch(self, folder: bytes, mask: int) -> int:
        if folder.endswith(b"/a") and self.refusals:
            self.refusals -= 1
            raise PermissionError(13, "Permission denied")
        return super().add_watch(folder, mask)


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_every_change_of_a_file_is_detected_at_once(tmp_path: Path, change: Callable[[Path], object]) -> None:
    tree = make_tree(tmp_path)
    watcher = InotifyWatcher(tree, OWN_FOLDERS)
    assert not watcher.is_unchanged()
    watcher.reset()
    (tree / "a" / "file").read_text()
    assert watcher.is_unchanged()
    change(tree)
    assert not watcher.is_unchanged()
    watcher.close()


def test_changes_in_ignored_folders_are_not_detected(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    (tree / ".git" / "refs").mkdir(parents=True)
    watcher = InotifyWatcher(tree, OWN_FOLDERS)
    watcher.reset()
    (tree / ".git" / "refs" / "new").touch()
    (tree / ".git").chmod(0o700)
    assert watcher.is_unchanged()
    watcher.close()


def test_new_folders_are_watched_before_the_tree_is_read(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    watcher = InotifyWatcher(tree, OWN_FOLDERS)
    watcher.reset()
    (tree / "b" / "c").mkdir(parents=True)
    assert not watcher.is_unchanged()
    watcher.reset()
    (tree / "b" / "c" / "new").touch()
    assert not watcher.is_unchanged()
    watcher.reset()
    shutil.rmtree(tree / "b")
    assert not watcher.is_unchanged()
    watcher.reset()
    assert watcher.is_unchanged()
    watcher.close()


def test_a_folder_that_becomes_readable_is_watched(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    watcher = InotifyWatcher(tree, OWN_FOLDERS, UnreadableAtFirst)
    watcher.reset()
    (tree / "a").chmod(0o700)
    assert not watcher.is_unchanged()
    watcher.reset()
    (tree / "a" / "file").write_text("more")
    assert not watcher.is_unchanged()
    watcher.close()


@pytest.mark.parametrize("case", ["folder moved", "tree deleted", "overflow"])
def test_losing_track_of_folders_is_an_error(tmp_path: Path, case: str) -> None:
    tree = make_tree(tmp_path)
    watcher = InotifyWatcher(tree, OWN_FOLDERS)
    watcher.reset()
    if case == "folder moved":
        (tree / "a").rename(tree / "z")
    elif case == "tree deleted":
        shutil.rmtree(tree)
    else:
        overflow(tree)
    with pytest.raises(ObserverFailed, match="cannot watch"):
        watcher.is_unchanged()
    watcher.close()
    watcher.close()


def test_a_system_without_watches_left_is_an_error_with_the_limit_to_raise(tmp_path: Path) -> None:
    with pytest.raises(ObserverFailed, match="No space left") as raised:
        InotifyWatcher(tmp_path, OWN_FOLDERS, QueueWithoutWatches)
    assert "max_user_watches" in raised.value.hint
