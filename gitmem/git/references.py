"""Durable storage of objects and atomic update of a reference to them.

Objects are passed to git as a pack stream, as in a push, so that git handles object formats, permissions and kinds of
repository. git can fsync files, but not the folders that contain them; this module does both.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from gitmem.errors import GitFailed, StorageFailed, UnsafeIndex
from gitmem.fsio import read_file, sync_file, sync_folder
from gitmem.git.locate import RepositoryLocation
from gitmem.git.object_format import RawObject, format_pack, id_bytes
from gitmem.git.object_quarantine import quarantine
from gitmem.git.program import first_error_line, full_disk_hint, run_git
from gitmem.git.reference_lock import ReferenceLock, run_with_locks
from gitmem.lazy_pattern import lazy_pattern

DURABLE: Final = ("-c", "core.fsync=loose-object,pack,pack-metadata,reference", "-c", "core.fsyncMethod=fsync")
"""Options that make git fsync; by default it does not for loose objects."""

_PACK_FROM: Final = 100
"""Number of objects from which on they are stored as a pack; git's default for a fetch (`fetch.unpackLimit`)."""

_OID: Final = lazy_pattern(rb"[0-9a-f]+\n")
_MAX_REF_BYTES: Final = 100


def read_reference(location: RepositoryLocation, name: str) -> str | None:
    """Return the id of the object that a ref of the whole repository points to, None if it does not exist.

    A ref that has a file of its own is read from it: git, too, prefers this to packed refs. Raises GitFailed.
    """
    try:
        data = read_file(location.common_dir / name, limit=_MAX_REF_BYTES) or b""
    except (StorageFailed, UnsafeIndex):
        data = b""  # a symbolic link, a folder, or unreadable: git follows or reports it
    if _OID.fullmatch(data) and len(data) == 2 * id_bytes(location.object_format) + 1:
        return data.decode("ascii").rstrip()
    args = ["rev-parse", "--verify", "--quiet", "--end-of-options", name]
    result = run_git(args, git_dir=location.git_dir, check=False)
    if result.code == 0:
        return result.stdout.decode("ascii").strip()
    if result.stderr:
        raise GitFailed(f"git cannot read `{name}`: {first_error_line(result.stderr)}", hint="run: git fsck")
    return None


def may_exist(location: RepositoryLocation, name: str) -> bool:
    """Return False only if a ref certainly does not exist; checked without starting git."""
    folder = location.common_dir
    if (folder / name).exists() or (folder / "reftable").exists():
        return True
    return name.encode() in (read_file(folder / "packed-refs") or b"")


def store_objects(location: RepositoryLocation, objects: Sequence[RawObject], *, packed: bool = False) -> None:
    """Write objects, referenced ones before those that refer to them; durable on return.

    Many are stored as a pack, and with `packed` few ones too: a push copies large objects out of it as they are. If it
    fails, or is killed, no temporary file stays in the object database. Raises GitFailed, StorageFailed.
    """
    folder = location.common_dir / "objects"
    packed = packed or len(objects) >= _PACK_FROM
    command = ["index-pack", "--stdin"] if packed else ["unpack-objects", "-q"]
    stream = format_pack(objects, location.object_format)
    with quarantine(location) as new:
        run_git([*DURABLE, *command], git_dir=location.git_dir, environment=new.environment, stdin=stream)
        if packed:
            new.release_packs()
        else:
            new.release_loose(item.oid for item in objects)
    folders = {folder / "pack"} if packed else {folder / item.oid[:2] for item in objects}
    _sync_folders([*sorted(folders), folder])


def update_reference(
    location: RepositoryLocation,
    name: str,
    new: str,
    old: str | None,
    *,
    follower: str | None = None,
    reflog: bool = True,
) -> bool:
    """Compare-and-swap on a ref: set it to `new` if it still points to `old`; None means that it must not exist.

    Return False if it points elsewhere, so that the caller recomputes its edit. The update is durable on return, and
    recorded in a reflog, unless `reflog` is off. A `follower` is a ref that is set to `new` afterwards, in the same
    transaction. Raises GitFailed; if that is because of the follower, the ref has moved.
    """
    # `git update-ref <new> <old>` takes the ref's lock file and compares under it, so two writers cannot overwrite each
    # other's update. A hook could veto or observe the update, so hooks are off.
    before = old or "0" * 2 * id_bytes(location.object_format)
    names = [name, follower] if follower else [name]
    lines = [f"update {name} {new} {before}\n", *([f"update {follower} {new}\n"] if follower else [])]
    log = ["--create-reflog"] if reflog else []
    args = [*DURABLE, "-c", "core.hooksPath=/dev/null", "update-ref", "--no-deref", *log, "--stdin"]
    locks = [ReferenceLock(location, each) for each in names]
    while True:
        result = run_git(args, git_dir=location.git_dir, stdin="".join(lines).encode(), check=False)
        current = new if result.code == 0 else read_reference(location, name)
        if current == new and (result.code == 0 or new != old):
            # Not the folders of the follower: after a power cut it may be where it was before.
            _sync_names(location, name)
            if follower and result.code != 0:
                # git moves the refs of a transaction one after the other, and failed behind the first. To recompute the
                # edit now would make it twice.
                update_reference(location, follower, new, read_reference(location, follower))
            return True
        if current != old:
            return False
        if not any(lock.wait() for lock in locks):
            reason = first_error_line(result.stderr)
            raise GitFailed(f"git cannot move `{name}`: {reason}", hint=full_disk_hint(result.stderr))


def delete_reference(location: RepositoryLocation, name: str) -> None:
    """Delete a ref and its reflog; a lock of a git that died is removed. Raises GitFailed."""
    args = [*DURABLE, "-c", "core.hooksPath=/dev/null", "update-ref", "--no-deref", "-d", name]
    result = run_with_locks(lambda: run_git(args, git_dir=location.git_dir, check=False), location, [name])
    if result.code:
        reason = first_error_line(result.stderr)
        raise GitFailed(f"git cannot delete `{name}`: {reason}", hint=full_disk_hint(result.stderr))


def drop_reflog(location: RepositoryLocation, name: str) -> None:
    """Empty a ref's reflog, if it has one, durably; locks of a git that died are removed.

    Raises: GitFailed, StorageFailed.
    """
    if run_git(["reflog", "exists", name], git_dir=location.git_dir, check=False).code != 0:
        return
    args = ["reflog", "expire", "--expire=all", "--expire-unreachable=all", name]
    locks = [ReferenceLock(location, each) for each in (f"logs/{name}", name)]
    while True:
        result = run_git(args, git_dir=location.git_dir, check=False)
        if result.code == 0:
            break
        if not any(lock.wait() for lock in locks):
            raise GitFailed(f"git cannot empty the reflog of `{name}`: {first_error_line(result.stderr)}")
    # git does not sync it. After a power cut the former entries would name objects that have been removed since.
    log = location.common_dir / "logs" / name
    if log.is_file():  # reftables hold their own log
        sync_file(log)
        sync_folder(log.parent)


def _sync_names(location: RepositoryLocation, name: str) -> None:
    """Fsync the folders of a ref's file, or the folder of the reftables."""
    parents = [location.common_dir / parent for parent in list(Path(name).parents)[:-1]]
    _sync_folders([*parents, location.common_dir / "reftable"])


def _sync_folders(folders: Iterable[Path]) -> None:
    """Fsync the folders that exist; git may have had an object in a pack already, or store refs elsewhere."""
    for folder in folders:
        if folder.is_dir():
            sync_folder(folder)
