"""Find the commit that a date means: the last one of HEAD's first-parent history before it.

Git's own `HEAD@{date}` reads the log of HEAD in this clone, which begins when it was cloned, so it is not used.
"""

from datetime import UTC, datetime
from typing import Final

from gitmem.errors import GitFailed, UnknownRevision, UsageError
from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import first_error_line, run_git

AT: Final = "at:"
"""Prefix of a revision that names a date: `at:2024-01-31`."""

_SHOWN: Final = 40


def find_commit_at(location: RepositoryLocation, date: str) -> str:
    """Return the last commit before a date or time as ISO 8601, UTC by default. A date means its beginning.

    Raises: UsageError if it is no date, UnknownRevision if the history begins later, GitFailed.
    """
    seconds = parse_date(date)
    if location.head_commit is None:
        raise no_commit(location)
    # On the first-parent line each commit is a state that the branch had. Commits of a merged side branch are older
    # than the merge, but the branch did not have them before it.
    args = ["rev-list", "--first-parent", "--max-count=1", f"--min-age={seconds - 1}", location.head_commit]
    result = run_git(args, git_dir=location.git_dir, check=False)
    if result.code != 0:
        raise GitFailed(f"git cannot list the commits: {first_error_line(result.stderr)}", hint="run: git fsck")
    commit = result.stdout.decode("ascii").strip()
    # Git takes a negative age for none at all, and then lists the newest commit.
    if not commit or seconds <= 0:
        shallow = "this is a shallow clone; fetch the rest of its history with: git fetch --unshallow"
        raise UnknownRevision(
            f"the history of HEAD has no commit before `{date}`", hint=shallow if location.shallow else ""
        )
    return commit


def parse_date(date: str) -> int:
    """Return the seconds since 1970 of a date or time as ISO 8601. Raises UsageError."""
    try:
        moment = datetime.fromisoformat(date.strip())
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"the date is `{date[:_SHOWN]}`, it must be a date or time as ISO 8601", hint="2026-01-31T12:00:00Z"
        ) from error


def no_commit(location: RepositoryLocation) -> UnknownRevision:
    """Return the error of a command about commits where there are none."""
    if location.plain:
        return UnknownRevision(
            f"{location.worktree} is not a git repository and has no commits", hint="create one with `git init`"
        )
    return UnknownRevision("the repository has no commit yet", hint="commit something first")
