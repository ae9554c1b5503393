"""The file of a report: its folder, its name, and how it is kept out of the index.

A report lies inside the repository or in a folder that the user has allowed, and never replaces a file. The name of a
folder may come from an agent, so links are followed before it is judged.
"""

import os
import re
from pathlib import Path
from typing import Final

from gitmem.errors import StorageFailed, UsageError
from gitmem.fsio import disk, make_folder, read_file, remove_file, write_atomic
from gitmem.paths import INDEX_NAME
from gitmem.settings import PREFIX
from gitmem.storage_errors import storage_failed
from gitmem.workspace import Workspace

_ENDING: Final = ".md"
_MAX_NAME: Final = 180
"""Bytes of a name behind the time: with time, number and the ending of a temporary file, file systems allow 255."""

_MAX_NUMBER: Final = 1000
_FILE_MODE: Final = 0o644
_FOLDER_MODE: Final = 0o755
_UNSAFE: Final = re.compile(r"[^\w-]+")
_IGNORE_FILE: Final = ".gitmemignore"
_IGNORE_BYTES: Final = 1 << 20
_PATTERN: Final = "/" + "[0-9]" * 8 + "_" + "[0-9]" * 6 + "_*.md"
"""Pattern of the names of reports, for `.gitmemignore` in their folder."""


def find_folder(workspace: Workspace, folder: str = "") -> Path:
    """Return the folder of a report, by default that of the settings; it need not exist. Raises: UsageError."""
    setting = folder.strip() or workspace.settings.report_folder
    root = workspace.location.worktree
    if "\0" in setting or any("\ud800" <= char <= "\udfff" for char in setting):
        raise UsageError("the folder of the report is not valid text", hint="name a folder inside the repository")
    path = Path(setting)
    if not path.is_absolute():
        if root is None:
            raise UsageError(
                "the repository has no working tree for reports",
                hint=f"git config --global {PREFIX}reportAllowed FOLDER",
            )
        path = root / path
    real = Path(os.path.realpath(path))
    if root is not None and real.is_relative_to(os.path.realpath(root)):
        own = (workspace.location.git_dir, workspace.location.common_dir, workspace.paths.root)
        is_own = any(real.is_relative_to(os.path.realpath(each)) for each in own)
        # A folder inside may be a repository itself.
        if not is_own and not {".git", INDEX_NAME}.intersection(real.relative_to(os.path.realpath(root)).parts):
            return real
        raise UsageError(f"`{setting}` belongs to git or to the index", hint="name another folder of the repository")
    if any(real.is_relative_to(os.path.realpath(allowed)) for allowed in _allowed(workspace)):
        return real
    raise UsageError(
        f"`{setting}` lies outside of the repository",
        hint=f"to allow it: git config --global --add {PREFIX}reportAllowed {path}",
    )


def _allowed(workspace: Workspace) -> list[str]:
    """Return the allowed folders; a relative one would mean another folder in each repository."""
    return [folder for folder in workspace.settings.report_allowed if Path(folder).is_absolute()]


def report_name(time_text: str, file_name: str, ascii_name: str, query: str) -> str:
    """Return the name of a report: its time, followed by the given name or the query. Raises: UsageError."""
    if not ascii_name.isascii():
        raise UsageError(f"`{ascii_name[:80]}` has characters outside of ASCII", hint="use `file_name` for such a name")
    title = (file_name or ascii_name).strip().removesuffix(_ENDING) or query.strip()
    name = _UNSAFE.sub("_", title).strip("_")
    short = name.encode("utf-8")[:_MAX_NAME].decode("utf-8", "ignore").strip("_")
    return f"{time_text}_{short or 'report'}"


def write_report(workspace: Workspace, folder: Path, name: str, text: str) -> Path:
    """Write a report under a free name, and keep reports of this folder out of the index.

    Raises: UsageError if the folder cannot be one, StorageFailed, UnsafeIndex if a file in the way is a link.
    """
    _make_folders(folder)
    root = workspace.location.worktree
    if root is not None and folder.is_relative_to(os.path.realpath(root)):
        _ignore_reports(folder)
    data = text.encode("utf-8")
    for number in range(1, _MAX_NUMBER):
        path = folder / (f"{name}{_ENDING}" if number == 1 else f"{name}_{number}{_ENDING}")
        if _write_new(path, data):
            return path
    raise StorageFailed(f"`{folder}` has {_MAX_NUMBER:,} reports named `{name}`", hint="choose another name")


def _make_folders(folder: Path) -> None:
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    for parent in reversed(missing):
        make_folder(parent, _FOLDER_MODE)
    if not folder.is_dir():
        raise UsageError(f"`{folder}` is not a folder", hint="name another folder")


def _ignore_reports(folder: Path) -> None:
    """Add the names of reports to the ignore file of their folder, unless they are in it.

    The file belongs to the tree, like `.gitignore`, so other clones leave committed reports out, too. Only names of
    this form are left out: the folder may hold other documents.
    """
    file = folder / _IGNORE_FILE
    content = read_file(file, _IGNORE_BYTES) or b""
    if _PATTERN.encode() in content.splitlines():
        return
    start = content if not content or content.endswith(b"\n") else content + b"\n"
    lines = b"# Reports of gitmem quote the repository, so they are not indexed.\n" + _PATTERN.encode() + b"\n"
    write_atomic(file, [start + lines], mode=_FILE_MODE)


def _write_new(path: Path, data: bytes) -> bool:
    """Write a file unless the name is taken; return whether it was free.

    Creating the file reserves the name, which works on every file system. The content then replaces it by a rename,
    so that readers see an empty report or a complete one.
    """
    try:
        os.close(disk.create(path, _FILE_MODE))
    except FileExistsError:
        return False
    except OSError as problem:
        raise storage_failed(path, problem) from problem
    try:
        write_atomic(path, [data], mode=_FILE_MODE)
    except StorageFailed:
        remove_file(path)
        raise
    return True
