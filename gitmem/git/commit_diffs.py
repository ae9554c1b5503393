"""Recent history: commits with one parent, their subjects, the paths and the lines they changed.

Read through git's plumbing, whose output does not depend on configuration. Merges and root commits are left out,
because they have no single parent to compare with.
"""

import os
import re
from collections.abc import Sequence
from typing import Final

from gitmem.errors import GitFailed
from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import first_error_line, run_git
from gitmem.git.promisor import is_partial
from gitmem.git.raw_diff import RawChange, parse_raw_commits
from gitmem.named_tuple import NamedTuple

_HUNK: Final = re.compile(rb"@@ -(\d+)(?:,(\d+))? ")
_NEW_HUNK: Final = re.compile(rb"@@ -\S+ \+(\d+)(?:,(\d+))? ")
_BOTH_SIDES: Final = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_INDEX: Final = re.compile(rb"index ([0-9a-f]+)\.\.")
_PAIR: Final = re.compile(rb"index ([0-9a-f]+\.\.[0-9a-f]+)")
_ID: Final = re.compile(rb"[0-9a-f]{40,64}\Z")
# The fixed diff algorithm makes changed lines independent of `diff.algorithm`.
_PATCH: Final = ("--patch", "--unified=0", "--full-index", "--diff-algorithm=myers", "--no-ext-diff",
                 "--no-textconv", "--no-color")  # fmt: skip


class Change(NamedTuple):
    """Path that a commit changed. `before` is its previous blob, None if the commit added the path."""

    path: bytes
    before: str | None


class Commit(NamedTuple):
    """Commit with one parent. `author` is name and address, `subject` the first paragraph of the message."""

    oid: str
    author: str
    subject: str
    changes: tuple[Change, ...]


class LineSpan(NamedTuple):
    """Changed lines of one side of a diff: `size` lines from `first` on (1-based).

    If `size` is 0, that side has no changed lines; the other side has some, after line `first`.
    """

    first: int
    size: int


def read_commits(location: RepositoryLocation, limit: int) -> list[Commit]:
    """Return the latest commits reachable from HEAD that have one parent and change something, newest first.

    At most `limit` commits with one parent are examined. A commit at the boundary of a shallow clone has no parent
    there.
    """
    if location.head_commit is None:
        return []
    selection = ("--min-parents=1", "--max-parents=1", f"--max-count={limit}")
    listed = _run(location, ["rev-list", *selection, location.head_commit])
    formatting = ("--raw", "--no-abbrev", "--encoding=UTF-8", "--format=%H%x00%an <%ae>%x00%s")
    output = _run(location, ["diff-tree", *_TREES, "-z", *formatting], stdin=listed)
    return [
        Commit(oid, author, subject, tuple(map(_to_change, changes)))
        for (oid, author, subject), changes in parse_raw_commits(output)
    ]


def _to_change(raw: RawChange) -> Change:
    return Change(raw.path, None if raw.status == b"A" else raw.before)


_TREES: Final = ("--stdin", "-r", "--no-renames")


def read_parent_trees(location: RepositoryLocation, commits: Sequence[str]) -> list[str]:
    """Return the tree of each commit's parent. Raises GitFailed if one cannot be read."""
    names = "".join(f"{oid}^^{{tree}}\n" for oid in commits).encode("ascii")
    trees = _run(location, ["cat-file", "--batch-check=%(objectname)"], stdin=names).split(b"\n")[:-1]
    unreadable = next((oid for oid, tree in zip(commits, trees, strict=True) if not _ID.match(tree)), None)
    if unreadable is not None:
        raise _failed(location, f"git cannot read the parent of {unreadable}")
    return [tree.decode("ascii") for tree in trees]


def read_changed_lines(location: RepositoryLocation, commits: Sequence[str]) -> dict[str, dict[str, list[LineSpan]]]:
    """Return for each commit the changed lines of every modified file, by the file's blob in the parent."""
    args = ["diff-tree", *_TREES, *_PATCH, "--diff-filter=M"]
    output = _run(location, args, stdin="".join(f"{oid}\n" for oid in commits).encode())
    spans_by_commit: dict[str, dict[str, list[LineSpan]]] = {oid: {} for oid in commits}
    files: dict[str, list[LineSpan]] = {}
    spans: list[LineSpan] = []
    for line in output.split(b"\n"):
        if line[:1] in (b"+", b"-", b"\\"):
            continue
        if hunk := _HUNK.match(line):
            spans.append(LineSpan(int(hunk[1]), int(hunk[2] or 1)))
        elif index := _INDEX.match(line):
            spans = files.setdefault(index[1].decode("ascii"), [])
        elif _ID.match(line):
            files = spans_by_commit[line.decode("ascii")]
    return spans_by_commit


def read_new_lines(location: RepositoryLocation, old: str, new: str) -> dict[bytes, list[LineSpan] | None]:
    """Return the lines of `new` that differ from `old`, by path in `new`; unchanged and deleted paths are absent.

    None means all lines of a new path. A renamed file differs in its changed lines only. In a span of `size` 0, lines
    were removed after line `first`.
    """
    compared = ["diff-tree", "-r", "--find-renames", "--ignore-submodules=all"]
    fields = iter(_run(location, [*compared, "-z", "--raw", "--no-abbrev", old, new]).split(b"\0")[:-1])
    spans = _parse_new_lines(_run(location, [*compared, *_PATCH, "--diff-filter=MR", old, new]))
    spans_by_path: dict[bytes, list[LineSpan] | None] = {}
    for record in fields:
        _, _, before, after, status = record.split(b" ")
        path = next(fields)
        if status[:1] in b"RC":
            path = next(fields)  # a rename has two paths, the new one last
        if status != b"D":
            spans_by_path[path] = spans.get(before + b".." + after, []) if status[:1] in b"MR" else None
    return spans_by_path


def read_uncommitted_hunks(
    location: RepositoryLocation, path: bytes, *, staged: bool = False
) -> list[tuple[int, int, int, int]]:
    """Return the differences of a file of the working tree from HEAD: first line and size of the old and new side.

    With `staged` the file is that of git's index.
    """
    index_only = ["--cached"] if staged else []
    args = ["--literal-pathspecs", "diff-index", *_PATCH, *index_only, "--no-renames", "HEAD", "--", os.fsdecode(path)]
    result = run_git(["--no-replace-objects", *args], cwd=location.worktree, check=False)
    if result.code != 0:
        raise _failed(location, f"git diff-index failed: {first_error_line(result.stderr)}")
    return [(int(hunk[1]), int(hunk[2] or 1), int(hunk[3]), int(hunk[4] or 1))
            for line in result.stdout.split(b"\n") if (hunk := _BOTH_SIDES.match(line))]  # fmt: skip


def _parse_new_lines(patch: bytes) -> dict[bytes, list[LineSpan]]:
    """Return the changed lines of the new side, by `<old blob>..<new blob>` as in the patch."""
    spans_by_blobs: dict[bytes, list[LineSpan]] = {}
    spans: list[LineSpan] = []
    for line in patch.split(b"\n"):
        if line[:1] in (b"+", b"-", b"\\"):
            continue
        if hunk := _NEW_HUNK.match(line):
            spans.append(LineSpan(int(hunk[1]), int(hunk[2] or 1)))
        elif pair := _PAIR.match(line):
            spans = spans_by_blobs.setdefault(pair[1], [])
    return spans_by_blobs


def _run(location: RepositoryLocation, args: list[str], stdin: bytes = b"") -> bytes:
    result = run_git(["--no-replace-objects", *args], git_dir=location.git_dir, stdin=stdin, check=False)
    if result.code != 0:
        raise _failed(location, f"git {args[0]} failed: {first_error_line(result.stderr)}")
    return result.stdout


def _failed(location: RepositoryLocation, message: str) -> GitFailed:
    partial = "this partial clone lacks objects; fetch them with: git fetch --refetch --no-filter"
    return GitFailed(message, hint=partial if is_partial(location) else "run: git fsck")
