"""Folders outside of any repository: each gets a git directory of its own in the user's data folder.

To git such a folder is the working tree of a repository without commits, all of whose files are untracked. So it is
listed, hashed, ignored, watched and searched like any other. Nothing is written into the folder itself: a git directory
there could come with a download, and git runs commands that the configuration of a git directory names.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from gitmem.errors import NotARepository, UsageError
from gitmem.fsio import make_folder, read_file, remove_tree, write_atomic
from gitmem.git.program import run_git
from gitmem.locks import writer_lock
from gitmem.named_tuple import NamedTuple
from gitmem.registry import data_folder, make_folders

_FOLDERS: Final = "folders"
_EXCLUDE: Final = "info/exclude"
_COMPLETE: Final = "gitmem-folder"
"""File with the path of the folder. It is written last, so a git directory without it is unfinished."""

_EVERYTHING: Final = b"/*"
_MAX_BYTES: Final = 1 << 20
_SPECIAL: Final = b"\\*?[ "


class PlainFolder(NamedTuple):
    """Folder outside of any repository, and its git directory."""

    folder: Path
    git_dir: Path


def find_plain_folder(path: Path, environment: Mapping[str, str]) -> PlainFolder | None:
    """Return the nearest known folder that contains a path without symbolic links; None if there is none."""
    for folder in (path, *path.parents):
        git_dir = _git_dir(folder, environment)
        if git_dir is None:
            return None
        # The name is a hash: the file makes sure that it is that of this path.
        if read_file(git_dir / _COMPLETE, _MAX_BYTES) == os.fsencode(folder):
            return PlainFolder(folder, git_dir)
    return None


def make_plain_folder(path: Path, environment: Mapping[str, str]) -> None:
    """Make a folder known, or add a file to those that are known of its folder. A known parent serves as well.

    Raises: NotARepository if the path does not exist, UsageError for a device, a pipe or a socket and without a data
    folder, GitFailed, StorageFailed.
    """
    place = Path(os.path.realpath(path))
    if not place.exists():
        raise NotARepository(f"{path} does not exist")
    if not (place.is_dir() or place.is_file()):
        raise UsageError(f"`{path}` is neither a file nor a folder", hint="index the folder or file with the text")
    folder = place if place.is_dir() else place.parent
    if "\n" in place.name and place != folder:
        raise UsageError(f"`{path}` has a line feed in its name", hint="index its folder instead")
    git_dir = _git_dir(folder, environment)
    if git_dir is None:
        raise UsageError(f"`{folder}` is outside of any repository, and its index needs a data folder", hint="set HOME")
    make_folders(git_dir.parent)
    with writer_lock(git_dir.parent / "lock", wait=True):
        known = find_plain_folder(folder, environment)
        if known is not None and known.folder != folder:
            return
        if known is None:
            _make(folder, git_dir)
        _write_excludes(git_dir, _own_excludes(folder, environment), _single_files(git_dir, place, is_new=not known))
        write_atomic(git_dir / _COMPLETE, [os.fsencode(folder)])


def forget_plain_folder(folder: Path, environment: Mapping[str, str], *, all_data: bool) -> bool:
    """Remove the git directory of a folder. Unless `all_data` is set, one that ever had records is kept.

    Return whether it was removed. Raises: StorageFailed.
    """
    git_dir = _git_dir(folder, environment)
    if git_dir is None or not git_dir.is_dir():
        return False
    # Deleted records can be restored from former commits of the ref, so its existence counts.
    had_records = (git_dir / "packed-refs").exists() or any((git_dir / "refs").glob("gitmem*/*"))
    if had_records and not all_data:
        return False
    remove_tree(git_dir)
    return True


def _git_dir(folder: Path, environment: Mapping[str, str]) -> Path | None:
    data = data_folder(environment)
    return None if data is None else data / _FOLDERS / hashlib.sha256(os.fsencode(folder)).hexdigest()[:32]


def _make(folder: Path, git_dir: Path) -> None:
    # Neither the user's template nor their default branch: this directory is gitmem's.
    run_git(["-c", "init.defaultBranch=files", "init", "--quiet", "--template=", "--bare", str(git_dir)])
    run_git(["config", "core.bare", "false"], git_dir=git_dir)
    run_git(["config", "core.worktree", str(folder)], git_dir=git_dir)
    make_folder(git_dir / "info")


def _own_excludes(folder: Path, environment: Mapping[str, str]) -> list[bytes]:
    """Return a pattern for gitmem's data folder, which may be inside of the folder, for example of the home folder."""
    data = Path(os.path.realpath(data_folder(environment) or folder))
    inside = data.is_relative_to(folder) and data != folder
    return [_pattern(os.fsencode(data.relative_to(folder))) + b"/"] if inside else []


def _single_files(git_dir: Path, place: Path, *, is_new: bool) -> list[bytes]:
    """Return patterns that leave only the files that are indexed alone; none if the whole folder is."""
    if place.is_dir():
        return []
    lines = (read_file(git_dir / _EXCLUDE, _MAX_BYTES) or b"").splitlines()
    if not is_new and _EVERYTHING not in lines:
        return []
    # git does not enter what a pattern excludes, so the rest of a large folder costs nothing.
    files = [line for line in lines if line.startswith(b"!")]
    return [_EVERYTHING, *dict.fromkeys([*files, b"!" + _pattern(os.fsencode(place.name))])]


def _pattern(path: bytes) -> bytes:
    """Return the ignore pattern of exactly one path from the root."""
    return b"/" + b"".join(b"\\" + path[at : at + 1] if byte in _SPECIAL else path[at : at + 1]
                           for at, byte in enumerate(path))  # fmt: skip


def _write_excludes(git_dir: Path, *lines: Iterable[bytes]) -> None:
    write_atomic(git_dir / _EXCLUDE, [line + b"\n" for group in lines for line in group])
