"""Messages of commits with the notes that git attached to them (`refs/notes/*`), and the paths that commits changed."""

import re
from collections.abc import Sequence
from typing import Final

from gitmem.errors import GitFailed
from gitmem.git.locate import RepositoryLocation
from gitmem.git.path_encoding import path_text
from gitmem.git.program import first_error_line, run_git
from gitmem.git.promisor import is_partial
from gitmem.git.raw_diff import parse_raw_commits
from gitmem.named_tuple import NamedTuple

# Commits are read as stored: a replacement could name any author.
_LOG: Final = ("--no-replace-objects", "-c", "log.showSignature=false", "log", "--encoding=UTF-8", "-z")
_FORMAT: Final = ("--no-patch", "--no-standard-notes", "--notes=*", "--format=%H%x00%P%x00%an <%ae>%x00%B%x00%N")
_FIELDS: Final = 5
_ID: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_DELETED: Final = b"D"


class CommitMessage(NamedTuple):
    """Message of a commit, its author as name and address, and the text that `git notes` attached to it."""

    commit: str
    is_merge: bool
    author: str
    message: str
    attached: str


def read_messages(location: RepositoryLocation, tip: str, *, since: str = "", limit: int = 0) -> list[CommitMessage]:
    """Return commits in the history of `tip`, newest first: those that `since` lacks, the newest `limit`, or all.

    `tip` and `since` are full ids of commits. Raises GitFailed.
    """
    most = [f"--max-count={limit}"] if limit else []
    fields = _log(location, [*_FORMAT, *most, *([f"^{since}"] if since else []), tip]).split(b"\0")
    texts = [field.decode("utf-8", "replace") for field in fields[:-1]]
    messages: list[CommitMessage] = []
    at = 0
    while at + _FIELDS <= len(texts):
        commit, parents, author, message = texts[at : at + _FIELDS - 1]
        # Fields end with a NUL byte, which a message cannot have but a note of git can: it ends at the next commit.
        end = next((place for place in range(at + _FIELDS, len(texts)) if _ID.fullmatch(texts[place])), len(texts))
        attached = "\n".join(texts[at + _FIELDS - 1 : end])
        messages.append(CommitMessage(commit, " " in parents, author, message, attached))
        at = end
    return messages


def read_changed_paths(location: RepositoryLocation, commits: Sequence[str]) -> dict[str, list[str]]:
    """Return the paths that each commit added or changed, compared with its first parent. Raises GitFailed."""
    if not commits:
        return {}
    # Without renames: no blob is read to compare contents.
    args = ["--no-walk=unsorted", "--stdin", "-m", "--first-parent", "--raw", "--no-abbrev", "--no-renames"]
    output = _log(location, [*args, "--format=%H"], "".join(f"{commit}\n" for commit in commits).encode("ascii"))
    return {
        fields[0]: [path_text(change.path) for change in changes if change.status != _DELETED]
        for fields, changes in parse_raw_commits(output, 1)
    }


def _log(location: RepositoryLocation, args: Sequence[str], stdin: bytes = b"") -> bytes:
    result = run_git([*_LOG, *args], git_dir=location.git_dir, stdin=stdin, check=False)
    if result.code != 0:
        partial = "this partial clone lacks objects; fetch them with: git fetch --refetch --no-filter"
        hint = partial if is_partial(location) else "run: git fsck"
        raise GitFailed(f"git cannot read the commits: {first_error_line(result.stderr)}", hint=hint)
    return result.stdout
