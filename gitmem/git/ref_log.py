"""The history of a ref that holds data: its commits with every path each changed, and commits by name or time."""

from typing import Final, NamedTuple

from gitmem.errors import UnknownRevision
from gitmem.git.locate import Location
from gitmem.git.program import run_git
from gitmem.git.raw_diff import RawChange, parse_raw_commits

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


def read_ref_log(location: Location, tip: str, most: int, path: bytes = b"") -> list[StoredCommit]:
    """The latest commits that `tip` reaches, the newest first; with a path, those that changed it or what is below."""
    args = ["--no-replace-objects", "rev-list", f"--max-count={most}", tip, "--"]
    listed = run_git([*args, *([path.decode()] if path else [])], git_dir=location.git_dir).stdout
    if not listed:
        return []
    command = ["--no-replace-objects", "--literal-pathspecs", "diff-tree", "--stdin", *_SHOWN]
    output = run_git(command, git_dir=location.git_dir, stdin=listed).stdout
    return [
        StoredCommit(oid, int(seconds), subject, tuple(_change(change) for change in changes))
        for (oid, seconds, subject), changes in parse_raw_commits(output)
    ]


def _change(raw: RawChange) -> PathChange:
    before, after = (None if oid.startswith(_NOTHING) else oid for oid in (raw.before, raw.after))
    return PathChange(raw.path, before, after)


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
