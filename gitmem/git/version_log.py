"""The versions of files in a history: for each commit the paths that it changed, with their blobs before and after.

Of a merge only the files count that differ from those of all parents: the others were changed by the commits of a side.
A commit at which a shallow clone ends has its files before it, too: git would list all of them as new.
"""

import sys
from collections.abc import Iterator
from typing import Final

from gitmem.git.commit_log import ListedCommit
from gitmem.git.file_history import read_shallow
from gitmem.git.locate import RepositoryLocation
from gitmem.git.raw_diff import RawChange, RawCommit
from gitmem.git.rename_log import iter_commits
from gitmem.named_tuple import NamedTuple

_LOG: Final = ("-c", "log.showRoot=true", "-c", "log.showSignature=false", "log", "--encoding=UTF-8", "--topo-order",
               "--diff-merges=combined", "--raw", "--no-abbrev", "-z", "--no-relative",
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

    At most `limit` are read, none from before `since` (seconds since 1970), and none that `known` reaches. A commit
    some of whose blobs git lacks may be without its renames.
    """
    bounds = [*([f"--max-age={since}"] if since else []), *([f"^{known}"] if known else [])]
    log = iter_commits(location, _LOG, [*bounds, tip, "--"], limit)
    return list(_share(log, read_shallow(location)))[::-1]


def _share(log: Iterator[RawCommit], shallow: frozenset[str]) -> Iterator[CommitVersions]:
    # Each blob is the result of one commit and the beginning of the next, and most paths are changed often: one copy of
    # each halves the memory.
    paths: dict[bytes, bytes] = {}
    for (commit, author, seconds), changes in log:
        listed = ListedCommit(commit, sys.intern(author), int(seconds or 0))
        files = [_share_texts(file, paths) for file in _files(changes)]
        if commit in shallow:
            files = [file._replace(before=(file.after,)) for file in files]
        yield CommitVersions(listed, files)


def _share_texts(file: FileVersions, paths: dict[bytes, bytes]) -> FileVersions:
    """Return a file with one copy of each path and each id."""
    old_path, path = (paths.setdefault(each, each) for each in file[:2])
    return FileVersions(old_path, path, tuple(map(sys.intern, file.before)), sys.intern(file.after))


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
