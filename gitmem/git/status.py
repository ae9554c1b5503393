"""What is uncommitted: how the working tree, or the index, differs from HEAD, as `git status` tells it.

The process is started early and asked late, so that it runs while other things are loaded. It takes no lock, refreshes
no index, starts no monitor and looks into no submodule.
"""

import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.closeable import Closeable
from gitmem.errors import GitFailed
from gitmem.git.locate import Location
from gitmem.git.program import first_error_line, run_git, start_git
from gitmem.git.trees import FILE, GITLINK, empty_tree

MODIFIED: Final = "modified"
STAGED: Final = "staged"
UNTRACKED: Final = "untracked"

WORKTREE_FOLDER: Final = b".claude/worktrees/"
"""Where agents put linked working trees. One that was left behind there without its link is no part of this one."""

_STATUS: Final = ("status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--untracked-files=all",
                  "--no-renames", "--ignore-submodules=dirty")  # fmt: skip
_STAGED: Final = ("--no-replace-objects", "diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev",
                  "--ita-invisible-in-index", "--ignore-submodules=none")  # fmt: skip
_NO_FILE: Final = b"000000"


class StatusEntry(NamedTuple):
    """A path that is not as HEAD has it, and what is uncommitted about it: MODIFIED, STAGED or UNTRACKED.

    `mode` is None where nothing stands there any more; git does not tell that of an untracked file, which counts as a
    regular one. `oid` is the blob as far as git knows it; None where the content of the file must be hashed for it.
    """

    path: bytes
    change: str
    mode: int | None
    oid: str | None


class Status(NamedTuple):
    """All that is uncommitted, seen from `commit` (None before the first one); one entry a path."""

    commit: str | None
    entries: list[StatusEntry]


def read_status(location: Location) -> Status:
    """Everything that is uncommitted in a working tree. Raises GitFailed."""
    with StatusProcess(location) as process:
        return process.finish()


def read_staged(location: Location) -> list[StatusEntry]:
    """What the index holds instead of HEAD's files; one that is in conflict counts as HEAD has it. Raises GitFailed."""
    args = [*_STAGED, location.head_commit or empty_tree(location)]
    fields = run_git(args, git_dir=location.git_dir).stdout.split(b"\0")
    entries = []
    for head, path in zip(fields[0:-1:2], fields[1::2], strict=True):
        _, mode, _, oid, state = head.split(b" ")
        if state == b"D":
            entries.append(StatusEntry(path, STAGED, None, None))
        elif state != b"U":
            entries.append(StatusEntry(path, STAGED, int(mode, 8), oid.decode("ascii")))
    return entries


class StatusProcess(Closeable):
    """`git status` under way in a working tree, until it is asked for what it found."""

    def __init__(self, location: Location) -> None:
        assert location.worktree is not None, "a bare repository has nothing uncommitted"
        self._worktree: Path = location.worktree
        where = f"--work-tree={self._worktree}"
        self._process = start_git(
            [where, *_STATUS], cwd=self._worktree, git_dir=location.git_dir, stdin=subprocess.DEVNULL
        )

    def finish(self) -> Status:
        """Wait for git and read its answer. Raises GitFailed."""
        out, err = self._process.communicate()
        if self._process.returncode != 0:
            complaint = first_error_line(err.decode("utf-8", "replace"))
            raise GitFailed(f"git cannot tell what is uncommitted in {self._worktree}: {complaint}")
        return parse_status(out)

    def close(self) -> None:
        """End the process if it is still running."""
        if self._process.returncode is None:
            self._process.kill()
            with suppress(BrokenPipeError):
                self._process.communicate()


def parse_status(output: bytes) -> Status:
    """Read the answer of `git status --porcelain=v2 -z --branch`."""
    commit = None
    entries: dict[bytes, StatusEntry] = {}
    for record in output.split(b"\0")[:-1]:
        kind = record[:1]
        if record.startswith(b"# branch.oid "):
            told = record.rpartition(b" ")[2].decode("ascii")
            commit = None if told == "(initial)" else told
        elif kind == b"1":
            _, state, _, _, _, mode, _, oid, path = record.split(b" ", 8)
            entries[path] = _changed(path, state, mode, oid)
        elif kind == b"u":
            *_, mode, _, _, _, path = record.split(b" ", 10)
            entries[path] = StatusEntry(path, MODIFIED, None if mode == _NO_FILE else int(mode, 8), None)
        elif kind == b"?" and _is_own_file(path := record[2:]):
            entries[path] = StatusEntry(path, UNTRACKED, FILE, None)
    return Status(commit, list(entries.values()))


def _changed(path: bytes, state: bytes, mode: bytes, oid: bytes) -> StatusEntry:
    """A path whose state in the index and in the working tree is told by two letters."""
    in_worktree = state[1:]
    change = {b".": STAGED, b"A": UNTRACKED}.get(in_worktree, MODIFIED)
    if mode == _NO_FILE or b"D" in (in_worktree, state[:1] if in_worktree == b"." else b""):
        return StatusEntry(path, change, None, None)
    number = int(mode, 8)
    known = in_worktree == b"." or number == GITLINK
    return StatusEntry(path, change, number, oid.decode("ascii") if known else None)


def _is_own_file(path: bytes) -> bool:
    """Not a repository or linked working tree inside this one, which git lists by its folder alone."""
    return not path.endswith(b"/") and b"/" + WORKTREE_FOLDER not in b"/" + path
