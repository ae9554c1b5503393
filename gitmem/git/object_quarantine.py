"""A folder in which git stores new objects before they move into the object database.

A git that is killed, or meets a full disk, leaves temporary files next to the objects it wrote. In the object database
nobody could tell them from those of a fetch that still runs. In a folder of our own they are known to be ours.
"""

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from gitmem.errors import StorageFailed
from gitmem.fsio import make_folder_like, make_temporary_folder, publish_unsynced, remove_tree
from gitmem.git.locate import RepositoryLocation

PREFIX: Final = "tmp_objdir-gitmem-"
"""`git gc` too removes folders of old with the first part of this name: git's own quarantines have it."""

_INDEX: Final = ".idx"
_TRIES: Final = 20
_PAUSE_SECONDS: Final = 0.05


class Quarantine:
    """Open folder of new objects. Objects that the repository has already are not stored in it."""

    def __init__(self, folder: Path, objects: Path) -> None:
        self._folder = folder
        self._objects = objects

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables that make git store objects here and read those of the repository too."""
        return {
            "GIT_OBJECT_DIRECTORY": str(self._folder),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quote(str(self._objects)),
        }

    def release_loose(self, oids: Iterable[str]) -> None:
        """Move loose objects into the database, in the given order: referenced ones before those that refer to them."""
        for oid in oids:
            source = self._folder / oid[:2] / oid[2:]
            if source.exists():
                _move_loose(source, self._objects / oid[:2])

    def release_packs(self) -> None:
        """Move packs into the database, each with its index last: git ignores a pack without an index."""
        source, target = self._folder / "pack", self._objects / "pack"
        make_folder_like(target, source)
        names = [path.name for path in source.iterdir() if path.name.startswith("pack-")]
        for name in sorted(names, key=lambda name: (name.endswith(_INDEX), name)):
            publish_unsynced(source / name, target / name)


@contextmanager
def quarantine(location: RepositoryLocation) -> Iterator[Quarantine]:
    """Make a quarantine, and remove it with all that was not released. Raises StorageFailed."""
    objects = location.common_dir / "objects"
    folder = objects / f"{PREFIX}{os.urandom(6).hex()}"
    make_temporary_folder(folder)
    try:
        yield Quarantine(folder, objects)
    finally:
        remove_tree(folder)


def remove_abandoned(location: RepositoryLocation) -> None:
    """Remove the quarantines of dead writers. The caller excludes living ones by a lock. Raises StorageFailed."""
    for folder in (location.common_dir / "objects").glob(f"{PREFIX}*"):
        _remove(folder)


def _move_loose(source: Path, folder: Path) -> None:
    """Move an object into a folder of the database. A `git gc` removes empty folders: then it is made again."""
    for tries_left in reversed(range(_TRIES)):
        try:
            # git has given the folder here the permissions that `core.sharedRepository` asks for.
            make_folder_like(folder, source.parent)
            publish_unsynced(source, folder / source.name)
        except StorageFailed as problem:
            if not (tries_left and isinstance(problem.__cause__, FileNotFoundError) and source.exists()):
                raise
        else:
            return


def _remove(folder: Path) -> None:
    """Remove a folder in which a git may still be writing: it ends soon after the process that fed it."""
    for _ in range(_TRIES):
        with suppress(StorageFailed):
            remove_tree(folder)
            return
        time.sleep(_PAUSE_SECONDS)
    remove_tree(folder)


def _quote(path: str) -> str:
    """Quote an entry of git's list of object folders, whose separator may occur in the path."""
    if os.pathsep not in path and "\n" not in path and not path.startswith('"'):
        return path
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
