"""Whether git tracks a path, and the one file of a repository that is ever changed: `info/exclude`.

Lines are added with a comment above that says how to take them out again byte for byte.
"""

import os
from pathlib import Path
from typing import Final

from gitmem.fsio import remove_file, write_atomic
from gitmem.git.locate import Location
from gitmem.git.program import run_git

ADDED: Final = b"# added by gitmem\n"
ADDED_TO_OPEN_LINE: Final = b"# added by gitmem, below a last line without line feed\n"
ADDED_WITH_FILE: Final = b"# added by gitmem, with this file\n"
ADDED_WITH_FOLDER: Final = b"# added by gitmem, with this file and its folder\n"


def tracked(location: Location, path: str) -> bool:
    """Whether the index or HEAD of this working tree holds `path` (from its root) or anything below it.

    Upper and lower case count as one: on some systems they name the same file.
    """
    head = [f"--with-tree={location.head_tree}"] if location.head_tree else []
    args = ["ls-files", "-z", *head, "--", f":(top,literal,icase){path}"]
    where = location.worktree or location.git_dir
    return bool(run_git(args, git_dir=location.git_dir, cwd=where).stdout)


def add_exclude(location: Location, line: str) -> bool:
    """Add a pattern to `info/exclude`; False when it is there already."""
    file = _exclude_file(location)
    wanted = line.encode() + b"\n"
    if not file.parent.is_dir():
        file.parent.mkdir(parents=True)
        write_atomic(file, [ADDED_WITH_FOLDER, wanted])
        return True
    if not file.is_file():
        write_atomic(file, [ADDED_WITH_FILE, wanted])
        return True
    content = file.read_bytes()
    if wanted.rstrip() in (present.rstrip() for present in content.splitlines()):
        return False
    comment = [ADDED] if not content or content.endswith(b"\n") else [b"\n", ADDED_TO_OPEN_LINE]
    _replace(file, b"".join([content, *comment, wanted]))
    return True


def remove_exclude(location: Location, line: str) -> bool:
    """Take out what `add_exclude` added, and nothing else; False when there is nothing of it."""
    file = _exclude_file(location)
    if not file.is_file():
        return False
    content = file.read_bytes()
    wanted = line.encode() + b"\n"
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
        _replace(file, before + after)
        return
    remove_file(file)
    if comment == ADDED_WITH_FOLDER and not any(file.parent.iterdir()):
        file.parent.rmdir()


def _exclude_file(location: Location) -> Path:
    return Path(os.path.realpath(location.common_dir / "info" / "exclude"))


def _replace(file: Path, content: bytes) -> None:
    mode = file.stat().st_mode & 0o7777
    write_atomic(file, [content])
    file.chmod(mode)
