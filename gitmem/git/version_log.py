"""The versions of files in a history: for each commit the paths that it changed, with their blobs before and after.

Of a merge only the files count that differ from those of all parents: the others were changed by the commits of a side.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from gitmem.git.commit_log import ListedCommit
from gitmem.git.file_history import run_history
from gitmem.git.locate import RepositoryLocation
from gitmem.git.raw_diff import RawChange, parse_raw_commits

_LOG: Final = ("-c", "log.showRoot=true", "-c", "log.showSignature=false", "log", "--encoding=UTF-8", "--topo-order",
               "--diff-merges=combined", "--raw", "--no-abbrev", "-z", "--find-renames=50%", "-l1000", "--no-relative",
               "--format=%H%x00%an <%ae>%x00%ct")  # fmt: skip
_NO_BLOB: Final = "0"


class FileVersions(NamedTuple):
    """File that a commit changed: its blobs before, one for each parent, and after, "" where it is missing."""

    old_path: bytes
    path: bytes
    before: tuple[str, ...]
    after: str


class CommitVersions(NamedTuple):
    """Commit with the files that it changed."""

    commit: ListedCommit
    files: list[FileVersions]


def read_versions(
    location: RepositoryLocation, tip: str, limit: int, since: int = 0, known: str = ""
) -> list[CommitVersions]:
    """Return the newest commits in a history, oldest first: parents come before their children. Raises GitFailed.

    At most `limit` are read, none from before `since` (seconds since 1970), and none that `known` reaches.
    """
    bounds = [f"--max-count={limit}", *([f"--max-age={since}"] if since else []), *([f"^{known}"] if known else [])]
    output = run_history(location, [*_LOG, *bounds, tip, "--"])
    return list(_parse(output))[::-1]


def _parse(output: bytes) -> Iterator[CommitVersions]:
    for (commit, author, seconds), changes in parse_raw_commits(output):
        yield CommitVersions(ListedCommit(commit, author, int(seconds or 0)), _files(changes))


def _files(changes: list[RawChange]) -> list[FileVersions]:
    """Return the changed files. Submodules have commits instead of blobs, and are left out."""
    files: dict[bytes, FileVersions] = {}
    for change in changes:
        if change.is_submodule:
            continue
        # A merge has one change for each parent.
        earlier = files[change.path].before if change.path in files else ()
        before, after = (blob if blob.strip(_NO_BLOB) else "" for blob in (change.before, change.after))
        files[change.path] = FileVersions(change.old_path, change.path, (*earlier, before), after)
    return list(files.values())
