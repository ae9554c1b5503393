"""Signatures that are kept while nothing happens are always those that a reader would read now."""

import os
import shutil
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path

import pytest

from gitmem.errors import ObserverFailed
from gitmem.resident.watching.folder_events import FolderEvents
from gitmem.resident.watching.inotify_queue import InotifyQueue
from gitmem.resident.watching.state_signature import read_signature
from gitmem.resident.watching.state_watcher import StateWatcher
from gitmem.workspace import Workspace
from tests.gitrepo import Repo
from tests.resident.watching.test_state_signature import CHANGES
from tests.resident.watching.trees import overflow
from tests.sample import open_sample

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify exists on Linux only")


class CountedEvents(FolderEvents):
    """Events that count how often the files of a repository are watched: once before each reading."""

    readings = 0

    def watch(self, owner: Hashable, files: Iterable[str]) -> bool:
        type(self).readings += 1
        return super().watch(owner, files)


class Watched:
    """Watcher of one repository, which checks that each signature is that of now."""

    def __init__(self, repo: Repo, start: Callable[[], FolderEvents] = CountedEvents) -> None:
        self.workspace: Workspace = open_sample(repo)
        self.configuration = [str(repo.path / "configuration"), str(repo.path / ".git" / "config")]
        self.watcher = StateWatcher(start)
        CountedEvents.readings = 0

    def is_read_again(self) -> bool:
        """Return whether the watcher reads the signature, which it compares with the present one."""
        before = CountedEvents.readings
        signature = self.watcher.read(self, self.workspace, self.configuration)
        assert signature == read_signature(self.workspace, self.configuration)
        return CountedEvents.readings > before


@pytest.fixture
def watched(own: Repo) -> Iterator[Watched]:
    watched = Watched(own)
    yield watched
    watched.watcher.close()


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_a_signature_is_read_again_after_each_change_of_the_state(
    own: Repo, watched: Watched, change: Callable[[Repo], object]
) -> None:
    assert watched.is_read_again()
    assert not watched.is_read_again()
    change(own)
    assert watched.is_read_again()
    assert not watched.is_read_again()


def test_other_files_next_to_the_state_cost_nothing(own: Repo, watched: Watched) -> None:
    watched.is_read_again()
    (own.path / ".git" / "index.lock").touch()
    (own.path / ".git" / "refs" / "heads" / "other").write_text(own.oid("HEAD"))
    (own.path / ".gitmem" / "state" / "measured").write_bytes(b"search.query ok 0.1\n")
    (own.path / "new.py").touch()
    assert not watched.is_read_again()


def move_away(folder: Path) -> None:
    """Put a copy in the place of a folder: it has the same content, and other files."""
    folder.rename(folder.with_name("away"))
    shutil.copytree(folder.with_name("away"), folder)


OTHER_CHANGES: dict[str, Callable[[Path], object]] = {
    "memory for the first time": lambda root: Repo(root).git("update-ref", "refs/gitmem/memory", "HEAD"),
    "packed": lambda root: (root / ".git/packed-refs").write_text("# pack-refs\n"),
    "git directory replaced": lambda root: move_away(root / ".git"),
    "folder of branches replaced": lambda root: move_away(root / ".git/refs"),
    "index removed": lambda root: shutil.rmtree(root / ".gitmem"),
    "repository replaced": move_away,
    "manifest removed": lambda root: (root / ".gitmem/manifest").unlink(),
    "time set": lambda root: os.utime(root / ".git/config", (1, 1)),
    "many events": lambda root: overflow(root / ".git/refs/heads"),
}


@pytest.mark.parametrize("change", OTHER_CHANGES.values(), ids=list(OTHER_CHANGES))
def test_changes_of_the_folders_above_are_seen(own: Repo, watched: Watched, change: Callable[[Path], object]) -> None:
    watched.is_read_again()
    change(own.path)
    assert watched.is_read_again()
    (own.path / "configuration").write_text("[core]\n")
    assert watched.is_read_again(), "the new folders are watched, too"


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_a_change_through_another_name_of_a_file_is_seen(
    own: Repo, watched: Watched, link: Callable[[Path, Path], None]
) -> None:
    watched.is_read_again()
    elsewhere = own.path.with_name("elsewhere")
    elsewhere.mkdir()
    if link is os.link:
        link(own.path / ".git" / "config", elsewhere / "config")
    else:
        shutil.move(own.path / ".git" / "info", elsewhere)
        link(elsewhere / "info", own.path / ".git" / "info")
        watched.configuration = [str(own.path / ".git" / "info" / "exclude")]
    for number in range(2):
        assert watched.is_read_again()
        (elsewhere / ("config" if link is os.link else "info/exclude")).write_text(f"# {number}\n")
    assert watched.is_read_again()


def test_without_a_queue_each_signature_is_read(own: Repo) -> None:
    def refuse() -> FolderEvents:
        raise ObserverFailed("too many instances")

    watched = Watched(own, refuse)
    watched.is_read_again()
    own.commit({"new.py": "x = 1\n"})
    watched.is_read_again()


def test_a_forgotten_repository_leaves_no_watch(own: Repo) -> None:
    class CountedQueue(InotifyQueue):
        """Queue that knows its watches."""

        watches: set[int]

        def add_watch(self, folder: bytes, mask: int) -> int:
            self.watches = getattr(self, "watches", set())
            watch = super().add_watch(folder, mask)
            self.watches.add(watch)
            return watch

        def remove_watch(self, watch: int) -> None:
            super().remove_watch(watch)
            self.watches.remove(watch)

    queue = CountedQueue()
    watched = Watched(own, lambda: FolderEvents(lambda: queue))
    watched.is_read_again()
    other = object()
    watched.watcher.read(other, watched.workspace, [])
    watched.watcher.forget(watched)
    assert queue.watches, "the other one still needs them"
    watched.watcher.forget(other)
    assert not queue.watches
    watched.watcher.close()
