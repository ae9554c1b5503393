"""History of a ref that holds data: its commits with the paths they changed, and lookup of commits by name or date."""

from typing import Final

from gitmem.errors import UnknownRevision
from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import run_git
from gitmem.git.raw_diff import RawChange, parse_raw_commits
from gitmem.named_tuple import NamedTuple

_RAW_DIFF: Final = ("--root", "--diff-merges=first-parent", "-r", "--no-renames", "-z", "--raw", "--no-abbrev",
                    "--encoding=UTF-8", "--format=%H%x00%ct%x00%s")  # fmt: skip
ALL_COMMITS: Final = (1 << 31) - 1
"""Largest number that git accepts as a limit."""
_NULL_ID: Final = "0" * 40


class PathChange(NamedTuple):
    """Path and its blob before and after; None if the commit added or deleted the path."""

    path: bytes
    before: str | None
    after: str | None


class StoredCommit(NamedTuple):
    """Commit of such a ref. `seconds` since 1970, `subject` the first line of its message."""

    oid: str
    seconds: int
    subject: str
    changes: tuple[PathChange, ...]


def read_ref_log(location: RepositoryLocation, tip: str, limit: int, path: bytes = b"") -> list[StoredCommit]:
    """Return the latest commits reachable from `tip`, newest first; with `path`, those that changed it or below it."""
    args = ["--no-replace-objects", "rev-list", f"--max-count={limit}", tip, "--"]
    listed = run_git([*args, *([path.decode()] if path else [])], git_dir=location.git_dir).stdout
    if not listed:
        return []
    command = ["--no-replace-objects", "--literal-pathspecs", "diff-tree", "--stdin", *_RAW_DIFF]
    output = run_git(command, git_dir=location.git_dir, stdin=listed).stdout
    return [
        # git prints no date for a commit before 1970, which former versions could write.
        StoredCommit(oid, int(seconds or 0), subject, tuple(_change(change) for change in changes))
        for (oid, seconds, subject), changes in parse_raw_commits(output)
    ]


def is_ancestor(location: RepositoryLocation, old: str, new: str) -> bool:
    """Return whether a commit contains another one, or is the same."""
    return run_git(["merge-base", "--is-ancestor", old, new], git_dir=location.git_dir, check=False).code == 0


def find_merge_base(location: RepositoryLocation, one: str, other: str) -> str | None:
    """Return the last common ancestor of two commits, or None."""
    output = run_git(["merge-base", one, other], git_dir=location.git_dir, check=False).stdout
    return output.decode("ascii").strip() or None


def _change(raw: RawChange) -> PathChange:
    before, after = (None if oid.startswith(_NULL_ID) else oid for oid in (raw.before, raw.after))
    return PathChange(raw.path, before, after)


def find_commit(location: RepositoryLocation, reference: str, name: str) -> str:
    """Return the commit of a ref that `name` denotes: an id or its prefix, `~2` for two commits ago, or a date.

    Raises: UnknownRevision, also for a commit that is not reachable from the ref.
    """
    if name[:4].isdigit() and name[4:5] == "-":
        args = ["rev-list", "--max-count=1", f"--before={name}", "--end-of-options", reference]
    else:
        revision = reference + name if name.startswith(("~", "^", "@{")) else f"{name}^{{commit}}"
        args = ["rev-parse", "--verify", "--quiet", "--end-of-options", revision]
    oid = run_git(args, git_dir=location.git_dir, check=False).stdout.decode("ascii", "replace").strip()
    if oid and not is_ancestor(location, oid, reference):
        oid = ""
    if not oid:
        raise UnknownRevision(
            f"unknown revision of the memory: `{name}`",
            hint="use an id of `gitmem memory log`, ~1 for the last but one, or a date",
        )
    return oid
