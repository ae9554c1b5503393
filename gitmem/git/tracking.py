"""Whether git tracks a path, and the one file of a repository that is ever changed: `info/exclude`.

Lines are added with a comment above that says how to take them out again byte for byte.
"""

import os
from pathlib import Path
from typing import Final

from gitmem.fsio import make_folder, remove_empty_folder, remove_file, storage_failed, sync_folder, write_atomic
from gitmem.git.locate import Location
from gitmem.git.program import run_git

ADDED: Final = b"# added by gitmem\n"
ADDED_TO_OPEN_LINE: Final = b"# added by gitmem, below a last line without line feed\n"
ADDED_WITH_FILE: Final = b"# added by gitmem, with this file\n"
ADDED_WITH_FOLDER: Final = b"# added by gitmem, with this file and its folder\n"


def is_tracked(location: Location, name: str) -> bool:
    """Whether the index or HEAD of this working tree holds `name` at its top, or anything below it.

    Upper and lower case count as one: on some systems they name the same file.
    """
    args = ["ls-files", "-z", "--", f":(top,literal,icase){name}"]
    where = location.worktree or location.git_dir
    return bool(run_git(args, git_dir=location.git_dir, cwd=where).stdout) or _in_head(location, name)


def _in_head(location: Location, name: str) -> bool:
    """Only the topmost tree is read: `ls-files --with-tree` reads all of them, ten times as long for 5,000 files."""
    if location.head_tree is None:
        return False
    args = ["--no-replace-objects", "ls-tree", "-z", "--name-only", "--full-tree", location.head_tree]
    held = run_git(args, git_dir=location.git_dir).stdout.split(b"\0")
    return name.lower().encode() in map(bytes.lower, held)


def add_exclude(location: Location, line: str) -> bool:
    """Add a pattern to `info/exclude`; False when it is there already. Raises StorageFailed."""
    file = _exclude_file(location)
    try:
        return _add(file, line.encode() + b"\n", like=location.common_dir / "HEAD")
    except OSError as problem:
        raise storage_failed(file, problem) from problem


def lacks_exclude(location: Location, line: str) -> bool:
    """Whether `info/exclude` does not hold a pattern."""
    file = _exclude_file(location)
    return not file.is_file() or not _holds(file.read_bytes(), line.encode())


def _holds(content: bytes, wanted: bytes) -> bool:
    return wanted.rstrip() in (present.rstrip() for present in content.splitlines())


def _add(file: Path, wanted: bytes, *, like: Path) -> bool:
    if not file.is_file():
        comment_alone = ADDED_WITH_FILE if file.parent.is_dir() else ADDED_WITH_FOLDER
        make_folder(file.parent, mode=like.parent.stat().st_mode & 0o777)
        _publish(file, comment_alone + wanted, like=like)
        return True
    content = file.read_bytes()
    if _holds(content, wanted):
        sync_folder(file.parent)  # whoever put it there may have been killed before that was durable
        return False
    comment = [ADDED] if not content or content.endswith(b"\n") else [b"\n", ADDED_TO_OPEN_LINE]
    _publish(file, b"".join([content, *comment, wanted]), like=file)
    return True


def remove_exclude(location: Location, line: str) -> bool:
    """Take out what `add_exclude` added, and nothing else; False when there is nothing of it. Raises StorageFailed."""
    file = _exclude_file(location)
    try:
        return file.is_file() and _remove(file, line.encode() + b"\n")
    except OSError as problem:
        raise storage_failed(file, problem) from problem


def _remove(file: Path, wanted: bytes) -> bool:
    content = file.read_bytes()
    for comment in (b"\n" + ADDED_TO_OPEN_LINE, ADDED, ADDED_WITH_FILE, ADDED_WITH_FOLDER):
        before, found, after = content.partition(comment + wanted)
        if found:
            _put_back(file, before, after, comment)
            return True
    return False


def _put_back(file: Path, before: bytes, after: bytes, comment: bytes) -> None:
    if comment.startswith(b"\n") and after:
        before += b"\n"
    if comment not in (ADDED_WITH_FILE, ADDED_WITH_FOLDER) or before or after:
        _publish(file, before + after, like=file)
        return
    remove_file(file)
    if comment == ADDED_WITH_FOLDER and not any(file.parent.iterdir()):
        remove_empty_folder(file.parent)


def _exclude_file(location: Location) -> Path:
    return Path(os.path.realpath(location.common_dir / "info" / "exclude"))


def _publish(file: Path, content: bytes, *, like: Path) -> None:
    """Write with the permissions of another file: what git must read is not for this user alone."""
    write_atomic(file, [content], mode=like.stat().st_mode & 0o777)
