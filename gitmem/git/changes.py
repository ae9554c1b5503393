"""The history of a ref that holds data: its commits with every path each changed, and commits by name or time."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from gitmem.errors import UnknownRevision
from gitmem.git.locate import Location
from gitmem.git.program import run_git

_SHOWN: Final = ("--root", "-r", "--no-renames", "-z", "--raw", "--no-abbrev", "--encoding=UTF-8",
                 "--format=%H%x00%ct%x00%s")  # fmt: skip
_NOTHING: Final = "0" * 40


class PathChange(NamedTuple):
    """A path and its blob before and after; None where there was none, or is none any more."""

    path: bytes
    before: str | None
    after: str | None


class StoredCommit(NamedTuple):
    """A commit of such a ref. `seconds` since 1970, `subject` the first line of its message."""

    oid: str
    seconds: int
    subject: str
    changes: tuple[PathChange, ...]


def read_commits_of(location: Location, tip: str, most: int, path: bytes = b"") -> list[StoredCommit]:
    """The latest commits that `tip` reaches, the newest first; with a path, those that changed it or what is below."""
    args = ["--no-replace-objects", "rev-list", f"--max-count={most}", tip, "--"]
    listed = run_git([*args, *([path.decode()] if path else [])], git_dir=location.git_dir).stdout
    if not listed:
        return []
    command = ["--no-replace-objects", "--literal-pathspecs", "diff-tree", "--stdin", *_SHOWN]
    return list(_parse(run_git(command, git_dir=location.git_dir, stdin=listed).stdout))


def _parse(output: bytes) -> Iterator[StoredCommit]:
    """Fields end with NUL: id, time and subject, then a pair for each path, whose first begins with a colon."""
    fields = output.split(b"\0")[:-1]
    at = 0
    while at < len(fields):
        oid, seconds, subject = (field.strip(b"\n").decode("utf-8", "replace") for field in fields[at : at + 3])
        at += 3
        changes = []
        while at < len(fields) and fields[at].lstrip(b"\n").startswith(b":"):
            changes.append(_parse_change(fields[at], fields[at + 1]))
            at += 2
        yield StoredCommit(oid, int(seconds), subject, tuple(changes))


def _parse_change(record: bytes, path: bytes) -> PathChange:
    _, _, before, after, _ = record.split(b" ")
    return PathChange(path, _blob(before), _blob(after))


def _blob(field: bytes) -> str | None:
    oid = field.decode("ascii")
    return None if oid.startswith(_NOTHING) else oid


def find_commit(location: Location, reference: str, name: str) -> str:
    """The commit of a ref that a name or time means: an id or its beginning, `~2` for two changes ago, or a date.

    Raises: UnknownRevision, also for a commit that the ref does not reach.
    """
    if name[:4].isdigit() and name[4:5] == "-":
        args = ["rev-list", "--max-count=1", f"--before={name}", "--end-of-options", reference]
    else:
        asked = reference + name if name.startswith(("~", "^", "@{")) else f"{name}^{{commit}}"
        args = ["rev-parse", "--verify", "--quiet", "--end-of-options", asked]
    found = run_git(args, git_dir=location.git_dir, check=False).stdout.decode("ascii", "replace").strip()
    if found and run_git(["merge-base", "--is-ancestor", found, reference], git_dir=location.git_dir, check=False).code:
        found = ""
    if not found:
        raise UnknownRevision(
            f"`{name}` names no state of the memory",
            hint="an id of `gitmem memory log`, ~1 for the last but one, or a date",
        )
    return found
