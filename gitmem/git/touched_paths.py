"""The commits in a history that pass a test, and the present paths of the files that they touched."""

from collections.abc import Callable
from typing import Final

from gitmem.git.commit_log import ListedCommit
from gitmem.git.locate import RepositoryLocation
from gitmem.git.rename_log import iter_commits
from gitmem.named_tuple import NamedTuple

_LOG: Final = ("-c", "log.showRoot=true", "-c", "log.showSignature=false", "log", "--encoding=UTF-8", "--topo-order",
               "--raw", "--no-abbrev", "-z", "--no-relative",
               "--format=%H%x00%an <%ae>%x00%ct")  # fmt: skip


class TouchedPaths(NamedTuple):
    """Commits that passed, and paths that may have been last changed by one of them."""

    commits: frozenset[str]
    paths: frozenset[bytes]


NOTHING_TOUCHED: Final = TouchedPaths(frozenset(), frozenset())


def read_touched(
    location: RepositoryLocation, tip: str, passes: Callable[[ListedCommit], bool], since: float | None = None
) -> TouchedPaths:
    """Return the commits in the history of `tip` that pass, and the paths that their files have now.

    Nothing before `since` (seconds since 1970) is read. Raises GitFailed.
    """
    commits: set[str] = set()
    paths: set[bytes] = set()
    # Newest first: by the time a commit is read, all later renames of its files are known.
    present: dict[bytes, bytes] = {}
    limit = [f"--max-age={int(since)}"] if since is not None else []
    for (commit, author, seconds), changes in iter_commits(location, _LOG, [*limit, tip, "--"]):
        is_passing = passes(ListedCommit(commit, author, int(seconds or 0)))
        if is_passing:
            commits.add(commit)
        for change in changes:
            now = present.get(change.path, change.path)
            if change.old_path != change.path:
                present[change.old_path] = now
            if is_passing:
                paths.add(now)
    return TouchedPaths(frozenset(commits), frozenset(paths))
