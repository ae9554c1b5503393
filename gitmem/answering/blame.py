"""The commits that introduced and last changed the chunk of a hit, as shown. `chunk_history` finds them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from gitmem.display import visible
from gitmem.named_tuple import NamedTuple

if TYPE_CHECKING:
    from gitmem.git.file_history import CommitDetails

_SHORT: Final = 9
_DAY: Final = len("2026-01-31")


class Blame(NamedTuple):
    """Commits that introduced and last changed a chunk, None where unknown: a shallow clone ends, or no commit did.

    `is_changed` says that the tree has changes of the chunk that are not committed.
    """

    introduced: "CommitDetails | None"
    changed: "CommitDetails | None"
    is_changed: bool = False


def describe_blame(blame: Blame) -> list[str]:
    """Return the lines that show a blame."""
    lines = [f"introduced {describe_commit(blame.introduced)}"] if blame.introduced is not None else []
    if blame.changed is not None and blame.changed != blame.introduced:
        lines.append(f"last changed {describe_commit(blame.changed)}")
    return [*lines, "has changes that are not committed"] if blame.is_changed else lines


def blame_json(blame: Blame | None) -> dict[str, Any] | None:
    """Return a blame as JSON values."""
    if blame is None:
        return None
    first, last = map(commit_json, (blame.introduced, blame.changed))
    return {"introduced": first, "changed": last, "uncommitted": blame.is_changed}


def describe_commit(commit: "CommitDetails") -> str:
    """Return a commit as one line: short id, day, subject and author."""
    return f"{commit.commit[:_SHORT]} {commit.date[:_DAY]} {visible(commit.subject)} ({visible(commit.author)})"


def commit_json(commit: "CommitDetails | None") -> dict[str, str] | None:
    """Return a commit as JSON values; None for an unknown one."""
    if commit is None:
        return None
    author = f"{commit.author} <{commit.address}>"
    return {"commit": commit.commit, "author": author, "date": commit.date, "subject": commit.subject}


def mask_blame(blame: Blame, mask: Callable[[str], str]) -> Blame:
    """Return a blame with the secrets in authors and subjects masked."""
    first, last = (
        commit and commit._replace(author=mask(commit.author), subject=mask(commit.subject))
        for commit in (blame.introduced, blame.changed)
    )
    return Blame(first, last, blame.is_changed)
