"""History of one path: the commits that changed it, the blobs it had, and everything else that one commit changed.

`git log` is not plumbing, so the settings that would change its output are fixed. A path may hold any bytes, so it is
matched literally and read back NUL-separated.
"""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Final

from gitmem.errors import GitFailed
from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import first_error_line, run_git, start_git
from gitmem.git.promisor import is_partial
from gitmem.git.raw_diff import parse_raw_commits
from gitmem.named_tuple import NamedTuple

_DETAILS: Final = "--format=%H%x00%an%x00%ae%x00%at%x00%aI%x00%s%x00"
_RENAMES: Final = ("--find-renames=50%", "-l1000")
"""Fixed, because the user's configuration could change both."""

_SAME_PATHS: Final = ("--no-renames",)
_DIFFERENCE: Final = ("diff-tree", "-r", "-z", "--raw", "--no-abbrev")

_LOG: Final = ("-c", "log.showRoot=true", "-c", "log.follow=false", "-c", "log.showSignature=false", "log")
"""`git log`, which would else hide the first commit, follow renames by itself, or print signatures."""


_AS_STORED: Final = "--no-replace-objects"
"""Option for commits as they are stored: a replacement could have any author and any parents."""

_OBJECT_ID: Final = re.compile(r"\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b")

_PATHS_AT_ONCE: Final = 200
"""Paths passed to one git process: a command line has a limit of bytes."""


class PathChange(NamedTuple):
    """Commit that changed a path. `parents` are its nearest ancestors that changed it too, in git's order.

    `blob` is the path's blob in the commit, "" if the commit removed it, and `before` that in the parent, "" if several
    parents have the path. `is_merge` holds for merges whose file differs from that of every parent; a parent that lacks
    the path is not among `parents`.
    """

    commit: str
    parents: tuple[str, ...]
    blob: str
    before: str
    is_merge: bool


class FileChange(NamedTuple):
    """File that differs between a commit and its first parent; both paths differ only if it was renamed.

    A blob is "" on the side on which the file does not exist.
    """

    old_path: bytes
    old_blob: str
    path: bytes
    blob: str


class Difference(NamedTuple):
    """Files that differ between two trees. With `unreadable` blobs no renames were looked for.

    A renamed file is then a removed and an added one. git names the first blob that is missing or damaged, and ends.
    """

    files: list[FileChange]
    unreadable: frozenset[str] = frozenset()


class CommitDetails(NamedTuple):
    """Author, time of authorship (seconds since 1970, and ISO 8601) and subject of a commit."""

    commit: str
    author: str
    address: str
    time: int
    date: str
    subject: str


def read_path_changes(
    location: RepositoryLocation, starts: Sequence[str], path: bytes, options: Sequence[str] = ()
) -> list[PathChange]:
    """Return the changes of a path in the history of commits, newest first. Children come before their parents.

    Side branches are left out if the merged file is as another parent had it: nothing of them has survived there.
    """
    # Without `-m`, which would switch the simplification off, merges are listed without their blobs.
    selection = [
        "--topo-order",
        "--parents",
        # Before a path appears there is nothing to find: without this, git reads all commits down to the first.
        "--remove-empty",
        "--raw",
        "--no-abbrev",
        "--no-renames",
        "-z",
        "--no-relative",
        "--format=%H %P",
    ]
    output = run_history(
        location, ["--literal-pathspecs", *_LOG, *selection, *options, *starts, "--", os.fsdecode(path)]
    )
    changes: dict[str, PathChange] = {}
    for (ids,), files in parse_raw_commits(output, 1):
        commit, *parents = ids.split(" ")
        blobs = (files[-1].before, files[-1].after) if files else ("", "")
        before, blob = map(_existing, blobs)
        changes[commit] = PathChange(commit, tuple(parents), blob, before, len(parents) > 1)
    merge_blobs = _merged_blobs(location, [commit for commit, change in changes.items() if change.is_merge], path)
    for commit, blob in merge_blobs.items():
        changes[commit] = changes[commit]._replace(blob=blob)
    for commit in _read_merges(location, [commit for commit, change in changes.items() if not change.is_merge]):
        changes[commit] = changes[commit]._replace(is_merge=True)
    return list(changes.values())


def _read_merges(location: RepositoryLocation, commits: Sequence[str]) -> list[str]:
    """Return the merges among commits. The simplified history hides the parents of a merge that lack the path."""
    names = "".join(f"{commit}\n" for commit in commits).encode("ascii")
    output = run_history(location, ["rev-list", "--no-walk", "--merges", "--stdin"], names) if names else b""
    return output.decode("ascii").split()


def _merged_blobs(location: RepositoryLocation, merges: Sequence[str], path: bytes) -> dict[str, str]:
    """Return the blob of a path in each of several merges that changed it."""
    if not merges:
        return {}
    args = [
        "--literal-pathspecs",
        "diff-tree",
        "--stdin",
        "-r",
        "-m",
        "--raw",
        "--no-abbrev",
        "-z",
        "--",
        os.fsdecode(path),
    ]
    output = run_history(location, args, "".join(f"{commit}\n" for commit in merges).encode("ascii"))
    blobs: dict[str, str] = {}
    for (heading,), files in parse_raw_commits(output, 1):
        # Further parents repeat the same blob.
        if files:
            blobs.setdefault(heading.split(" ")[0], _existing(files[-1].after))
    return blobs


def read_parents(location: RepositoryLocation, commit: str) -> list[str]:
    """Return the parents of a commit, in git's order."""
    output = run_history(location, ["rev-list", "--no-walk", "--parents", commit]).decode("ascii")
    return output.split()[1:]


def read_commit_files(location: RepositoryLocation, commit: str, *, renames: bool) -> Difference:
    """Return the files that a commit changed, compared with its first parent; all files of a root commit."""
    args = ["-m", "--root", "--no-commit-id", commit]
    return _read_difference(location, args) if renames else Difference(_read_same_paths(location, args))


def read_changed_files(location: RepositoryLocation, since: str, until: str) -> Difference:
    """Return the files that differ between two trees."""
    return _read_difference(location, [since, until])


def _read_difference(location: RepositoryLocation, args: Sequence[str]) -> Difference:
    """Return a difference with renames, or without them if git cannot read one of the blobs that it compares.

    Raises GitFailed if anything else failed, and in a partial clone, whose blobs can be fetched.
    """
    try:
        return Difference(_parse_files(run_history(location, [*_DIFFERENCE, *_RENAMES, *args])))
    except GitFailed as error:
        unreadable = frozenset(_OBJECT_ID.findall(error.message))
        if is_partial(location) or not unreadable:
            raise
    return Difference(_read_same_paths(location, args), unreadable)


def _read_same_paths(location: RepositoryLocation, args: Sequence[str]) -> list[FileChange]:
    return _parse_files(run_history(location, [*_DIFFERENCE, *_SAME_PATHS, *args]))


def _parse_files(output: bytes) -> list[FileChange]:
    """Return the files of a difference without names of commits."""
    changes: dict[bytes, FileChange] = {}
    for _, files in parse_raw_commits(output, 0):
        for file in files:
            # Submodules have commits instead of blobs. Further parents of a merge follow the first.
            if not file.is_submodule and file.path not in changes:
                blobs = _existing(file.before), _existing(file.after)
                changes[file.path] = FileChange(file.old_path, blobs[0], file.path, blobs[1])
    return list(changes.values())


def read_blob_id(location: RepositoryLocation, commit: str, path: bytes) -> str:
    """Return the blob of a path in a commit, "" if there is no such file."""
    output = run_history(
        location, ["--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", os.fsdecode(path)]
    )
    for entry in output.split(b"\0")[:-1]:
        fields, _, name = entry.partition(b"\t")
        _, kind, blob = fields.decode("ascii").split(" ")
        if name == path and kind == "blob":
            return blob
    return ""


def read_blob_ids(location: RepositoryLocation, tree: str, paths: Sequence[bytes]) -> dict[bytes, str]:
    """Return the blobs of paths in a tree; those that it lacks, links and submodules are absent."""
    ids: dict[bytes, str] = {}
    for at in range(0, len(paths), _PATHS_AT_ONCE):
        names = [os.fsdecode(path) for path in paths[at : at + _PATHS_AT_ONCE]]
        output = run_history(
            location, ["--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", tree, "--", *names]
        )
        for entry in output.split(b"\0")[:-1]:
            fields, _, name = entry.partition(b"\t")
            mode, kind, blob = fields.decode("ascii").split(" ")
            if kind == "blob" and mode != "120000":
                ids[name] = blob
    return ids


def read_files_with(location: RepositoryLocation, commit: str, word: str) -> list[bytes]:
    """Return the paths of the text files of a commit that contain a word."""
    args = ["grep", "-z", "--name-only", "--full-name", "-I", "-w", "--fixed-strings", "-e", word, commit, "--"]
    result = run_git(["--no-replace-objects", *args], git_dir=location.git_dir, check=False)
    if result.code > 1:
        raise GitFailed(f"git cannot search {commit}: {first_error_line(result.stderr)}", hint="run: git fsck")
    prefix = len(commit) + 1
    return [entry[prefix:] for entry in result.stdout.split(b"\0")[:-1]]


def is_ancestor(location: RepositoryLocation, old: str, new: str) -> bool:
    """Return whether one commit can be reached from another."""
    return run_git(["merge-base", "--is-ancestor", old, new], git_dir=location.git_dir, check=False).code == 0


def read_details(location: RepositoryLocation, commits: Iterable[str]) -> dict[str, CommitDetails]:
    """Return author, time and subject of commits."""
    names = "".join(f"{commit}\n" for commit in commits)
    if not names:
        return {}
    args = [*_LOG, "--no-walk=unsorted", "--stdin", "-z", "--encoding=UTF-8", "--no-patch", _DETAILS]
    output = run_history(location, args, names.encode("ascii")).decode("utf-8", "replace")
    fields = output.split("\0")
    details = {}
    # `-z` ends each commit with one more NUL.
    for at in range(0, len(fields) - 6, 7):
        commit, author, address, time, date, subject = fields[at : at + 6]
        details[commit] = CommitDetails(commit, author, address, int(time), date, subject)
    return details


def read_shallow(location: RepositoryLocation) -> frozenset[str]:
    """Return the commits at which a shallow clone ends; none in a complete one."""
    if not location.shallow:
        return frozenset()
    try:
        return frozenset((location.common_dir / "shallow").read_text("ascii").split())
    except FileNotFoundError:
        return frozenset()


def _existing(blob: str) -> str:
    """Return a blob, or "" for the null id, by which git means that there is none."""
    return blob if blob.strip("0") else ""


def run_history(location: RepositoryLocation, args: Sequence[str], stdin: bytes = b"") -> bytes:
    """Run git on commits as they are stored, without replacements, and return its output. Raises GitFailed."""
    result = run_git([_AS_STORED, *args], git_dir=location.git_dir, stdin=stdin, check=False)
    if result.code != 0:
        raise _history_failed(location, result.stderr)
    return result.stdout


@contextmanager
def open_history(location: RepositoryLocation, args: Sequence[str]) -> Iterator[IO[bytes]]:
    """Run git as `run_history` does, and yield its output as a stream. Raises GitFailed at its end."""
    with start_git([_AS_STORED, *args], git_dir=location.git_dir, stdin=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        yield process.stdout
        message = process.stderr.read().decode("utf-8", "replace")
    if process.returncode != 0:
        raise _history_failed(location, message)


def _history_failed(location: RepositoryLocation, message: str) -> GitFailed:
    """Return the error for a failed reading of the history, with git's own messages."""
    partial = "this partial clone lacks objects; fetch them with: git fetch --refetch --no-filter"
    hint = partial if is_partial(location) else "run: git fsck"
    return GitFailed(f"git cannot read the history: {first_error_line(message)}", hint=hint)
