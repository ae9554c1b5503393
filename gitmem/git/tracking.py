"""Check whether git tracks a path, and edits of `info/exclude`.

Each line is added below a comment that records how to restore the file byte for byte.
"""

import os
from functools import lru_cache
from pathlib import Path
from typing import Final

from gitmem.fsio import make_folder, remove_empty_folder, remove_file, sync_folder, write_atomic
from gitmem.git.index_file import holds_path
from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import run_git
from gitmem.storage_errors import storage_failed

ADDED: Final = b"# added by gitmem\n"
ADDED_TO_OPEN_LINE: Final = b"# added by gitmem, below a last line without line feed\n"
ADDED_WITH_FILE: Final = b"# added by gitmem, with this file\n"
ADDED_WITH_FOLDER: Final = b"# added by gitmem, with this file and its folder\n"


def is_tracked(location: RepositoryLocation, name: str) -> bool:
    """Return whether the index or HEAD of this working tree contains `name` at its top, or anything below it.

    Case is ignored, because some file systems do so.
    """
    in_index = holds_path(location, name)
    if in_index is None:
        args = ["ls-files", "-z", "--", f":(top,literal,icase){name}"]
        folder = location.worktree or location.git_dir
        in_index = bool(run_git(args, git_dir=location.git_dir, cwd=folder).stdout)
    return in_index or (location.head_tree is not None and _in_tree(location.git_dir, location.head_tree, name))


@lru_cache(maxsize=4)
def _in_tree(git_dir: Path, tree: str, name: str) -> bool:
    # Only the root tree is read: `ls-files --with-tree` reads all trees and takes ten times as long for 5,000 files.
    args = ["--no-replace-objects", "ls-tree", "-z", "--name-only", "--full-tree", tree]
    names = run_git(args, git_dir=git_dir).stdout.split(b"\0")
    return name.lower().encode() in map(bytes.lower, names)


def add_exclude(location: RepositoryLocation, line: str) -> bool:
    """Add a pattern to `info/exclude`; return False if it is there already. Raises StorageFailed."""
    file = _exclude_file(location)
    try:
        return _add(file, line.encode() + b"\n", like=location.common_dir / "HEAD")
    except OSError as problem:
        raise storage_failed(file, problem) from problem


def lacks_exclude(location: RepositoryLocation, line: str) -> bool:
    """Return whether `info/exclude` lacks a pattern."""
    file = _exclude_file(location)
    return not file.is_file() or not _contains(file.read_bytes(), line.encode())


def _contains(content: bytes, line: bytes) -> bool:
    return line.rstrip() in (present.rstrip() for present in content.splitlines())


def _add(file: Path, line: bytes, *, like: Path) -> bool:
    if not file.is_file():
        comment_alone = ADDED_WITH_FILE if file.parent.is_dir() else ADDED_WITH_FOLDER
        make_folder(file.parent, mode=like.parent.stat().st_mode & 0o777)
        _publish(file, comment_alone + line, like=like)
        return True
    content = file.read_bytes()
    if _contains(content, line):
        sync_folder(file.parent)  # a killed process may have added it without fsync
        return False
    comment = [ADDED] if not content or content.endswith(b"\n") else [b"\n", ADDED_TO_OPEN_LINE]
    _publish(file, b"".join([content, *comment, line]), like=file)
    return True


def remove_exclude(location: RepositoryLocation, line: str) -> bool:
    """Remove exactly what `add_exclude` added; return False if there is nothing of it. Raises StorageFailed."""
    file = _exclude_file(location)
    try:
        return file.is_file() and _remove(file, line.encode() + b"\n")
    except OSError as problem:
        raise storage_failed(file, problem) from problem


def _remove(file: Path, line: bytes) -> bool:
    content = file.read_bytes()
    for comment in (b"\n" + ADDED_TO_OPEN_LINE, ADDED, ADDED_WITH_FILE, ADDED_WITH_FOLDER):
        before, added, after = content.partition(comment + line)
        if added:
            _restore(file, before, after, comment)
            return True
    return False


def _restore(file: Path, before: bytes, after: bytes, comment: bytes) -> None:
    """Write the content around the removed lines, or remove a file and folder that `add_exclude` created."""
    if comment.startswith(b"\n") and after:
        before += b"\n"
    if comment not in (ADDED_WITH_FILE, ADDED_WITH_FOLDER) or before or after:
        _publish(file, before + after, like=file)
        return
    remove_file(file)
    if comment == ADDED_WITH_FOLDER and not any(file.parent.iterdir()):
        remove_empty_folder(file.parent)


def _exclude_file(location: RepositoryLocation) -> Path:
    return Path(os.path.realpath(location.common_dir / "info" / "exclude"))


def _publish(file: Path, content: bytes, *, like: Path) -> None:
    """Write with the permissions of another file, because other users of the repository must be able to read it."""
    write_atomic(file, [content], mode=like.stat().st_mode & 0o777)
