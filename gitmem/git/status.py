"""Uncommitted changes: differences of the working tree, or of the index, from HEAD, read from `git status`.

The process can be started early and read late, so that it runs while other things are loaded. It takes no lock, does
not refresh the index, and neither starts a file system monitor nor enters submodules. It uses the shortcuts that the
user has configured (`status_shortcuts`).
"""

import os
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.closeable import Closeable
from gitmem.errors import GitFailed
from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import first_error_line, require_folder, run_git, start_git
from gitmem.git.trees import FILE, GITLINK, empty_tree
from gitmem.named_tuple import NamedTuple

MODIFIED: Final = "modified"
STAGED: Final = "staged"
UNTRACKED: Final = "untracked"

WORKTREE_FOLDER: Final = b".claude/worktrees/"
"""Folder in which agents create linked working trees.

One that remains there without its link is not a part of this working tree, but git lists its files as untracked.
"""

_STATUS: Final = ("status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--no-renames",
                  "--ignore-submodules=dirty")  # fmt: skip
_STAGED: Final = ("--no-replace-objects", "diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev",
                  "--ita-invisible-in-index", "--ignore-submodules=none")  # fmt: skip
_UNTRACKED: Final = ("--literal-pathspecs", "ls-files", "--others", "--exclude-standard", "-z", "--")
_NO_FILE: Final = b"000000"
_MAX_FOLDERS: Final = 256
"""Number of untracked folders whose files are listed one folder at a time; of more, all are listed at once."""


class StatusEntry(NamedTuple):
    """Path that differs from HEAD. `change` is MODIFIED, STAGED or UNTRACKED.

    `mode` is None if the path no longer exists. git does not report the mode of an untracked file, so that one counts
    as a regular file. `oid` is the blob if git knows it, or None if the file must be hashed.
    """

    path: bytes
    change: str
    mode: int | None
    oid: str | None


class Status(NamedTuple):
    """Uncommitted changes relative to `commit` (None before the first one), one entry per path."""

    commit: str | None
    entries: list[StatusEntry]


def read_status(location: RepositoryLocation) -> Status:
    """Return all uncommitted changes of a working tree. Raises GitFailed."""
    with StatusProcess(location) as process:
        return process.finish()


def read_staged(location: RepositoryLocation) -> list[StatusEntry]:
    """Return the differences of the index from HEAD; a file in conflict counts as unchanged. Raises GitFailed."""
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
    """Running `git status` of a working tree."""

    def __init__(self, location: RepositoryLocation) -> None:
        assert location.worktree is not None, "a bare repository has no uncommitted changes"
        self._worktree: Path = location.worktree
        self._location = location
        self._process = self._start(location.shortcuts.untracked)

    def _start(self, untracked: str) -> subprocess.Popen[bytes]:
        location = self._location
        options = ["-c", f"core.fsmonitor={location.shortcuts.monitor(location.git_dir)}"]
        args = [*options, f"--work-tree={self._worktree}", *_STATUS, f"--untracked-files={untracked}"]
        return start_git(args, cwd=self._worktree, git_dir=location.git_dir, stdin=subprocess.DEVNULL)

    def finish(self) -> Status:
        """Wait for git and return the changes. Raises GitFailed."""
        status = self._parse_output()
        folders = [entry.path for entry in status.entries if _is_folder(entry)]
        if not folders or self._location.shortcuts.untracked == "all":
            return _without_folders(status, [])  # folders of nested repositories
        if len(folders) <= _MAX_FOLDERS:
            args = [f"--work-tree={self._worktree}", *_UNTRACKED, *map(os.fsdecode, folders)]
            output = run_git(args, cwd=self._worktree, git_dir=self._location.git_dir).stdout
            return _without_folders(status, output.split(b"\0")[:-1])
        self._process = self._start("all")
        return _without_folders(self._parse_output(), [])

    def _parse_output(self) -> Status:
        """Wait for git and parse its output. Raises GitFailed."""
        out, err = self._process.communicate()
        if self._process.returncode != 0:
            require_folder(self._worktree)
            reason = first_error_line(err.decode("utf-8", "replace"))
            raise GitFailed(f"git status failed in {self._worktree}: {reason}")
        return parse_status(out)

    def close(self) -> None:
        """End the process if it is still running."""
        if self._process.returncode is None:
            self._process.kill()
            with suppress(BrokenPipeError):
                self._process.communicate()


def parse_status(output: bytes) -> Status:
    """Parse the output of `git status --porcelain=v2 -z --branch`. Format: git-status(1).

    An untracked folder is an entry whose path ends with a slash.
    """
    commit = None
    entries: dict[bytes, StatusEntry] = {}
    for record in output.split(b"\0")[:-1]:
        kind = record[:1]
        if record.startswith(b"# branch.oid "):
            value = record.rpartition(b" ")[2].decode("ascii")
            commit = None if value == "(initial)" else value
        elif kind == b"1":
            _, state, _, _, _, mode, _, oid, path = record.split(b" ", 8)
            entries[path] = _changed(path, state, mode, oid)
        elif kind == b"u":
            *_, mode, _, _, _, path = record.split(b" ", 10)
            entries[path] = StatusEntry(path, MODIFIED, None if mode == _NO_FILE else int(mode, 8), None)
        elif kind == b"?" and ((path := record[2:]).endswith(b"/") or _is_own_file(path)):
            entries[path] = StatusEntry(path, UNTRACKED, FILE, None)
    return Status(commit, list(entries.values()))


def _changed(path: bytes, state: bytes, mode: bytes, oid: bytes) -> StatusEntry:
    """Return the entry of a path; the two letters of `state` are its state in the index and in the working tree."""
    in_worktree = state[1:]
    change = {b".": STAGED, b"A": UNTRACKED}.get(in_worktree, MODIFIED)
    if mode == _NO_FILE or b"D" in (in_worktree, state[:1] if in_worktree == b"." else b""):
        return StatusEntry(path, change, None, None)
    number = int(mode, 8)
    known = in_worktree == b"." or number == GITLINK
    return StatusEntry(path, change, number, oid.decode("ascii") if known else None)


def _is_folder(entry: StatusEntry) -> bool:
    return entry.change == UNTRACKED and entry.path.endswith(b"/")


def _without_folders(status: Status, files: list[bytes]) -> Status:
    """Return the status with the untracked files below the untracked folders instead of these folders."""
    entries = [entry for entry in status.entries if not _is_folder(entry)]
    entries += [StatusEntry(path, UNTRACKED, FILE, None) for path in files if _is_own_file(path)]
    return status._replace(entries=entries)


def _is_own_file(path: bytes) -> bool:
    """Return whether an untracked path is a file of this working tree.

    git lists a nested repository or linked working tree by its folder alone, with a final slash.
    """
    return not path.endswith(b"/") and b"/" + WORKTREE_FOLDER not in b"/" + path
