"""One ref as a place for data: objects that lie on the disk before they are named, and the ref moved by comparison.

Objects go to git the way a push brings them, so that every object format, permission and kind of repository is git's
business. git makes files durable but not the folders that name them; here both are.
"""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from gitmem.errors import GitFailed
from gitmem.fsio import read_file, remove_file, sync_folder
from gitmem.git.locate import Location
from gitmem.git.object_format import RawObject, format_pack, id_bytes
from gitmem.git.program import first_error_line, run_git

DURABLE: Final = ("-c", "core.fsync=loose-object,pack,pack-metadata,reference", "-c", "core.fsyncMethod=fsync")
"""By default git does not wait until loose objects are on the disk."""

_PACK_FROM: Final = 100
"""From this many objects on they stay in the pack they came in; git takes the same number for what it fetches."""

_LOCK_PATIENCE: Final = 10.0
"""Seconds after which a ref's lock file was left by a process that died: git holds one for milliseconds."""

_PAUSE: Final = 0.05
_TRIES: Final = 3
"""A lock may be gone before it is looked at; what fails so often without one fails for another reason."""


def read_reference(location: Location, name: str) -> str | None:
    """The id of the object that a ref names, None where there is no such ref."""
    args = ["rev-parse", "--verify", "--quiet", "--end-of-options", name]
    result = run_git(args, git_dir=location.git_dir, check=False)
    if result.code == 0:
        return result.stdout.decode("ascii").strip()
    if result.stderr:
        raise GitFailed(f"git cannot read `{name}`: {first_error_line(result.stderr)}", hint="run: git fsck")
    return None


def may_exist(location: Location, name: str) -> bool:
    """Whether there can be such a ref, told without starting git; no only where there is none."""
    folder = location.common_dir
    if (folder / name).exists() or (folder / "reftable").exists():
        return True
    return name.encode() in (read_file(folder / "packed-refs") or b"")


def store_objects(location: Location, objects: Sequence[RawObject]) -> None:
    """Write objects, those that others name first; on return they survive a loss of power. Raises GitFailed."""
    folder = location.common_dir / "objects"
    packed = len(objects) >= _PACK_FROM
    command = ["index-pack", "--stdin"] if packed else ["unpack-objects", "-q"]
    stream = format_pack(objects, location.object_format)
    run_git([*DURABLE, *command], git_dir=location.git_dir, stdin=stream)
    folders = {folder / "pack"} if packed else {folder / item.oid[:2] for item in objects}
    _sync_folders([*sorted(folders), folder])


def update_reference(location: Location, name: str, new: str, old: str | None) -> bool:
    """Let a ref name `new` if it still names `old` (None: if it is not there); False where it names another one.

    On return the ref survives a loss of power. Raises GitFailed.
    """
    before = old or "0" * 2 * id_bytes(location.object_format)
    args = [*DURABLE, "-c", "core.logAllRefUpdates=false", "-c", "core.hooksPath=/dev/null", "update-ref", "--no-deref"]
    lock = _LockFile(location.common_dir / f"{name}.lock")
    while True:
        result = run_git([*args, name, new, before], git_dir=location.git_dir, check=False)
        if result.code == 0:
            _sync_names(location, name)
            return True
        if read_reference(location, name) != old:
            return False
        if not lock.wait():
            raise GitFailed(f"git cannot move `{name}`: {first_error_line(result.stderr)}")


def _sync_names(location: Location, name: str) -> None:
    """The folders of a ref's file; or that of the tables where refs are kept in such."""
    parents = [location.common_dir / parent for parent in list(Path(name).parents)[:-1]]
    _sync_folders([*parents, location.common_dir / "reftable"])


def _sync_folders(folders: Iterable[Path]) -> None:
    """Make names durable; a folder is not there where git had the object in a pack already, or keeps refs elsewhere."""
    for folder in folders:
        if folder.is_dir():
            sync_folder(folder)


class _LockFile:
    """A lock file that stands in the way: waited for, and removed where its owner must have died.

    The caller keeps other writers of the ref away, so that a lock does not change hands while it is looked at.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int] | None = None
        self._since = 0.0
        self._absent = 0

    def wait(self) -> bool:
        """Wait a moment, or remove what is left over; False where there is no lock to wait for."""
        try:
            found = self._path.stat()
        except (FileNotFoundError, NotADirectoryError):
            self._absent += 1
            return self._absent < _TRIES
        if self._seen != (found.st_ino, found.st_mtime_ns):
            self._seen, self._since = (found.st_ino, found.st_mtime_ns), time.monotonic()
        if max(time.time() - found.st_mtime, time.monotonic() - self._since) > _LOCK_PATIENCE:
            remove_file(self._path)
        else:
            time.sleep(_PAUSE)
        return True
