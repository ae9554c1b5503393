"""Recent history: commits with one parent, what they call themselves, what they changed, and which lines that was.

Asked of git's plumbing, so that no configuration bends the answer. Merges and first commits are left out: they have no
single former state to compare with.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from gitmem.errors import GitFailed
from gitmem.git.locate import Location
from gitmem.git.program import first_error_line, run_git
from gitmem.git.promisor import is_partial
from gitmem.git.raw_diff import parse_raw_commits

_HUNK: Final = re.compile(rb"@@ -(\d+)(?:,(\d+))? ")
_NEW_HUNK: Final = re.compile(rb"@@ -\S+ \+(\d+)(?:,(\d+))? ")
_INDEX: Final = re.compile(rb"index ([0-9a-f]+)\.\.")
_PAIR: Final = re.compile(rb"index ([0-9a-f]+\.\.[0-9a-f]+)")
_ID: Final = re.compile(rb"[0-9a-f]{40,64}\Z")
_PATCH: Final = ("--patch", "--unified=0", "--full-index", "--diff-algorithm=myers", "--no-ext-diff",
                 "--no-textconv", "--no-color")  # fmt: skip


class Change(NamedTuple):
    """A path that a commit changed. `before` is its former blob, None where the commit added the path."""

    path: bytes
    before: str | None


class Commit(NamedTuple):
    """A commit with one parent. `author` is name and address, `subject` the first paragraph of the message."""

    oid: str
    author: str
    subject: str
    changes: tuple[Change, ...]


class LineSpan(NamedTuple):
    """Lines of a former file that a commit changed: from `first` on (1-based). Where `size` is 0 nothing went, but
    something was put in behind that line."""

    first: int
    size: int


def read_commits(location: Location, most: int) -> list[Commit]:
    """The latest commits HEAD reaches that have one parent and changed something, the newest first.

    At most `most` are looked at. A commit at the end of a shallow clone has no parent there.
    """
    if location.head_commit is None:
        return []
    wanted = ("--min-parents=1", "--max-parents=1", f"--max-count={most}")
    listed = _ask(location, ["rev-list", *wanted, location.head_commit])
    shown = ("--raw", "--no-abbrev", "--encoding=UTF-8", "--format=%H%x00%an <%ae>%x00%s")
    output = _ask(location, ["diff-tree", *_TREES, "-z", *shown], stdin=listed)
    return [
        Commit(*fields, tuple(Change(raw.path, None if raw.status == b"A" else raw.before) for raw in changes))
        for fields, changes in parse_raw_commits(output)
    ]


_TREES: Final = ("--stdin", "-r", "--no-renames")


def read_parent_trees(location: Location, commits: Sequence[str]) -> list[str]:
    """The tree of each commit's parent."""
    names = "".join(f"{oid}^^{{tree}}\n" for oid in commits).encode("ascii")
    found = _ask(location, ["cat-file", "--batch-check=%(objectname)"], stdin=names).split(b"\n")[:-1]
    lacking = next((oid for oid, tree in zip(commits, found, strict=True) if not _ID.match(tree)), None)
    if lacking is not None:
        raise _failed(location, f"git cannot read the parent of {lacking}")
    return [tree.decode("ascii") for tree in found]


def read_changed_lines(location: Location, commits: Sequence[str]) -> dict[str, dict[str, list[LineSpan]]]:
    """For each commit, by the former blob of a file that stayed, the lines that changed."""
    args = ["diff-tree", *_TREES, *_PATCH, "--diff-filter=M"]
    output = _ask(location, args, stdin="".join(f"{oid}\n" for oid in commits).encode())
    found: dict[str, dict[str, list[LineSpan]]] = {oid: {} for oid in commits}
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
            files = found[line.decode("ascii")]
    return found


def read_new_lines(location: Location, old: str, new: str) -> dict[bytes, list[LineSpan] | None]:
    """For each path that differs between two trees and is there in the newer one, the lines of it that differ.

    None stands for all of them, where the path is new. A file that was moved differs by what was changed in it. Where a
    span's `size` is 0, something was taken out behind that line.
    """
    compared = ["diff-tree", "-r", "--find-renames", "--ignore-submodules=all"]
    fields = iter(_ask(location, [*compared, "-z", "--raw", "--no-abbrev", old, new]).split(b"\0")[:-1])
    spans = _parse_new_lines(_ask(location, [*compared, *_PATCH, "--diff-filter=MR", old, new]))
    found: dict[bytes, list[LineSpan] | None] = {}
    for record in fields:
        _, _, before, after, status = record.split(b" ")
        path = next(fields)
        if status[:1] in b"RC":
            path = next(fields)
        if status != b"D":
            found[path] = spans.get(before + b".." + after, []) if status[:1] in b"MR" else None
    return found


def _parse_new_lines(patch: bytes) -> dict[bytes, list[LineSpan]]:
    """The lines that are new, by the blobs before and after as a patch names them."""
    found: dict[bytes, list[LineSpan]] = {}
    spans: list[LineSpan] = []
    for line in patch.split(b"\n"):
        if line[:1] in (b"+", b"-", b"\\"):
            continue
        if hunk := _NEW_HUNK.match(line):
            spans.append(LineSpan(int(hunk[1]), int(hunk[2] or 1)))
        elif pair := _PAIR.match(line):
            spans = found.setdefault(pair[1], [])
    return found


def _ask(location: Location, args: list[str], stdin: bytes = b"") -> bytes:
    result = run_git(["--no-replace-objects", *args], git_dir=location.git_dir, stdin=stdin, check=False)
    if result.code != 0:
        raise _failed(location, f"git {args[0]} failed: {first_error_line(result.stderr)}")
    return result.stdout


def _failed(location: Location, message: str) -> GitFailed:
    partial = "this clone left parts of the history out; get them with: git fetch --refetch --no-filter"
    return GitFailed(message, hint=partial if is_partial(location) else "run: git fsck")
