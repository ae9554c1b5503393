"""Read `git log --raw` with renames, also if git lacks some of the blobs that it compares for them.

git finds renames by content, and ends at the first blob that is missing or damaged. The commit of that blob is then
read without renames, and the log goes on behind it.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from gitmem.errors import GitFailed
from gitmem.git.file_history import open_history
from gitmem.git.locate import RepositoryLocation
from gitmem.git.promisor import is_partial
from gitmem.git.raw_diff import RawCommit, parse_raw_stream

_RENAMES: Final[tuple[str, ...]] = ("--find-renames=50%", "-l1000")
_NO_RENAMES: Final[tuple[str, ...]] = ("--no-renames",)

_MAX_RESTARTS: Final = 30
"""Commits at which the log may go on: each costs a walk of the history. If git lacks more, the rest has no renames."""


def iter_commits(
    location: RepositoryLocation, log: Sequence[str], selection: Sequence[str], limit: int | None = None
) -> Iterator[RawCommit]:
    """Yield the first `limit` commits of a `git log --raw -z` whose format has three fields.

    `log` are the command and its options, `selection` the commits. Raises GitFailed if git lacks a commit or a tree,
    and in a partial clone at the first blob.
    """
    done = 0
    renames = _RENAMES

    def read(count: int | None, renames: Sequence[str]) -> Iterator[RawCommit]:
        bounds = [f"--skip={done}", *([f"--max-count={count}"] if count is not None else [])]
        with open_history(location, [*log, *renames, *bounds, *selection]) as stream:
            yield from parse_raw_stream(stream)

    for restart in range(_MAX_RESTARTS + 1):
        rest = None if limit is None else limit - done
        if restart == _MAX_RESTARTS:
            renames = _NO_RENAMES
        try:
            # The last commit before an error may be incomplete, so each is held back until the next one.
            for commit in _hold_last(read(rest, renames)):
                yield commit
                done += 1
        except (GitFailed, IndexError):
            if is_partial(location) or renames is _NO_RENAMES:
                raise
        else:
            return
        try:
            alone = list(read(1, _RENAMES))
        except (GitFailed, IndexError):
            alone = list(read(1, _NO_RENAMES))
        yield from alone
        done += len(alone)
        if not alone:
            return


def _hold_last(commits: Iterator[RawCommit]) -> Iterator[RawCommit]:
    """Yield each commit after the next one was read, and the last one after the end."""
    held = list(islice(commits, 1))
    for commit in commits:
        yield held[0]
        held = [commit]
    yield from held
