"""Labelled queries from a repository's own history.

The subject of a commit is the query, and the chunks it changed are the relevant results, both in the tree before the
commit: so the change itself cannot be matched. Tests, examples, documents, vendored code and chunks without a symbol do
not count as relevant.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final

import numpy as np

from gitmem.answering.changed_rows import rows_of_lines
from gitmem.arrays import NDArray
from gitmem.git.commit_diffs import Commit, LineSpan, read_changed_lines, read_commits, read_parent_trees
from gitmem.git.locate import RepositoryLocation
from gitmem.git.path_encoding import path_text
from gitmem.named_tuple import NamedTuple
from gitmem.search.commit_subjects import find_query
from gitmem.search.path_roles import path_role
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import View
from gitmem.types import CHUNK_TYPES

COMMITS_PER_QUERY: Final = 20
"""Commits to read for each requested query. In repositories full of bots and merges one commit in ten is usable."""

MAX_FILES: Final = 10
MAX_TARGETS: Final = 10
"""A commit that changes more files or chunks does not point to one place."""

UNINFORMATIVE: Final = "say too little"
REPEATED: Final = "repeat a later subject"
TOO_WIDE: Final = "change too much"
NO_CODE: Final = "change no named code"

_PROSE: Final = tuple(CHUNK_TYPES.index(chunk_type) for chunk_type in ("text", "section"))


class LabelledQuery(NamedTuple):
    """Query and the tree to search. `changed` has the paths and lines of the relevant code."""

    commit: str
    text: str
    tree: str
    changed: tuple[tuple[bytes, tuple[LineSpan, ...]], ...]

    @property
    def held_out(self) -> bool:
        """Whether it belongs to the held-out half. The commit's id decides, so later commits move nothing."""
        return int(self.commit[:8], 16) % 2 == 1


class MinedQueries(NamedTuple):
    """Queries, the latest commits first; number of commits read; number of rejected commits by reason."""

    queries: list[LabelledQuery]
    commits: int
    rejected: Counter[str]


def mine_queries(location: RepositoryLocation, limit: int) -> MinedQueries:
    """Return at most `limit` queries from the recent history. Raises GitFailed if parts of it cannot be read."""
    rejected: Counter[str] = Counter()
    accepted: dict[str, Commit] = {}
    commits = 0
    # Newest first: recent commits describe the code that users search today.
    for commit in read_commits(location, limit * COMMITS_PER_QUERY):
        commits += 1
        text = find_query(commit.subject, commit.author) or ""
        # The later of two commits with the same subject wins: its tree is closer to today's.
        reason = _rejection(text, commit) or (REPEATED if text in accepted else "")
        if reason:
            rejected[reason] += 1
            continue
        accepted[text] = commit
        if len(accepted) == limit:
            break
    return MinedQueries(list(_add_changes(location, accepted)), commits, rejected)


def _rejection(text: str, commit: Commit) -> str:
    """Return why a commit gives no query, "" if it may. Only its subject and paths are looked at."""
    if not text:
        return UNINFORMATIVE
    if len(commit.changes) > MAX_FILES:
        return TOO_WIDE
    return "" if any(_relevant_files(commit)) else NO_CODE


def _relevant_files(commit: Commit) -> Iterator[tuple[bytes, str]]:
    """Yield the paths that existed before the commit and look like ordinary code, with their former blobs."""
    for change in commit.changes:
        if change.before is not None and not path_role(path_text(change.path)):
            yield change.path, change.before


def _add_changes(location: RepositoryLocation, accepted: dict[str, Commit]) -> Iterator[LabelledQuery]:
    """Add the changed lines and the parent trees, which one git process reads for all commits."""
    commits = [commit.oid for commit in accepted.values()]
    lines = read_changed_lines(location, commits)
    for (text, commit), tree in zip(accepted.items(), read_parent_trees(location, commits), strict=True):
        lines_of_blob = lines[commit.oid]
        # A file that the commit added did not exist in the searched tree, so it cannot be an answer.
        files = _relevant_files(commit)
        changed = [(path, tuple(lines_of_blob[before])) for path, before in files if before in lines_of_blob]
        yield LabelledQuery(commit.oid, text, tree, tuple(changed))


def find_targets(query: LabelledQuery, snapshot: Snapshot, view: View, blob_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of the chunks with a symbol that the query's commit changed, ascending.

    `blob_of` is `snapshot.match(view)`.
    """
    changed_rows: set[int] = set()
    for path, lines in query.changed:
        entry = view.find(path)
        if entry is not None and blob_of[entry] >= 0:
            changed_rows |= rows_of_lines(snapshot, int(blob_of[entry]), lines)
    rows = np.array(sorted(changed_rows), np.int64)
    chunk_types = snapshot.gather(("kind",), rows)["kind"].tolist()
    named = [
        bool(symbol) and chunk_type not in _PROSE
        for symbol, chunk_type in zip(snapshot.symbols(rows), chunk_types, strict=True)
    ]
    targets: NDArray[np.int64] = rows[np.array(named, bool)]
    return targets
