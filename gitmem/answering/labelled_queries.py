"""Questions with known answers out of a repository's own history.

The subject of a commit is the question, the chunks that it changed are the answer, both as they were before the commit:
the change gives nothing away. Tests, examples, documents and vendored code are no answers, nor is what has no name.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.git.commit_diffs import Commit, LineSpan, read_changed_lines, read_commits, read_parent_trees
from gitmem.git.locate import Location
from gitmem.git.path_encoding import path_text
from gitmem.search.commit_subjects import find_query
from gitmem.search.path_roles import path_role
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import View
from gitmem.types import CHUNK_TYPES

COMMITS_A_QUESTION: Final = 20
"""How many commits are looked at for each question wanted: where bots and merges abound, one in ten serves."""

MAX_FILES: Final = 10
MAX_TARGETS: Final = 10
"""A commit that changes more has no one place as its answer."""

SAYS_TOO_LITTLE: Final = "say too little"
ASKED_BEFORE: Final = "say what a later one says"
TOO_WIDE: Final = "change too much"
NO_CODE: Final = "change no named code"

_PROSE: Final = tuple(CHUNK_TYPES.index(chunk_type) for chunk_type in ("text", "section"))


class Question(NamedTuple):
    """What to ask of which tree. `changed` are paths of the answer and their lines."""

    commit: str
    text: str
    tree: str
    changed: tuple[tuple[bytes, tuple[LineSpan, ...]], ...]

    @property
    def held_out(self) -> bool:
        """Which half it belongs to: by the commit's id, so that it stays there whatever is committed later."""
        return int(self.commit[:8], 16) % 2 == 1


class Drafted(NamedTuple):
    """Questions, those of the latest commits first; how many commits were looked at, and why others ask nothing."""

    questions: list[Question]
    commits: int
    left_out: Counter[str]


def draft_questions(location: Location, most: int) -> Drafted:
    """At most so many questions out of the recent history. Raises GitFailed where parts of it cannot be read."""
    left_out: Counter[str] = Counter()
    chosen: dict[str, Commit] = {}
    looked_at = 0
    for commit in read_commits(location, most * COMMITS_A_QUESTION):
        looked_at += 1
        text = find_query(commit.subject, commit.author) or ""
        reason = _unfit(text, commit) or (ASKED_BEFORE if text in chosen else "")
        if reason:
            left_out[reason] += 1
            continue
        chosen[text] = commit
        if len(chosen) == most:
            break
    return Drafted(list(_complete(location, chosen)), looked_at, left_out)


def _unfit(text: str, commit: Commit) -> str:
    """Why a commit makes no question, as far as its paths tell; empty where it may."""
    if not text:
        return SAYS_TOO_LITTLE
    if len(commit.changes) > MAX_FILES:
        return TOO_WIDE
    return "" if any(_answers(commit)) else NO_CODE


def _answers(commit: Commit) -> Iterator[tuple[bytes, str]]:
    """Paths that were there before and are ordinary code, as far as their names tell, and their former blobs."""
    for change in commit.changes:
        if change.before is not None and not path_role(path_text(change.path)):
            yield change.path, change.before


def _complete(location: Location, chosen: dict[str, Commit]) -> Iterator[Question]:
    """Add what git must be asked for once for all."""
    commits = [commit.oid for commit in chosen.values()]
    lines = read_changed_lines(location, commits)
    for (text, commit), tree in zip(chosen.items(), read_parent_trees(location, commits), strict=True):
        changed = lines[commit.oid]
        answers = [(path, tuple(changed[before])) for path, before in _answers(commit) if before in changed]
        yield Question(commit.oid, text, tree, tuple(answers))


def find_targets(question: Question, snapshot: Snapshot, view: View, blob_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows of the named chunks that a question's commit changed, ascending. `blob_of` is `snapshot.match(view)`."""
    found: set[int] = set()
    for path, lines in question.changed:
        entry = bisect_left(view.paths, path)
        if entry < len(view) and view.paths[entry] == path and blob_of[entry] >= 0:
            found |= rows_of_lines(snapshot, int(blob_of[entry]), lines)
    rows = np.array(sorted(found), np.int64)
    chunk_types = snapshot.gather(("kind",), rows)["kind"].tolist()
    named = [
        bool(symbol) and chunk_type not in _PROSE
        for symbol, chunk_type in zip(snapshot.symbols(rows), chunk_types, strict=True)
    ]
    chosen: NDArray[np.int64] = rows[np.array(named, bool)]
    return chosen


def rows_of_lines(snapshot: Snapshot, blob: int, lines: Iterable[LineSpan]) -> set[int]:
    """The innermost row of each changed line of a blob; of something put in, that which holds the lines around it."""
    first, last = snapshot.blob_first[blob : blob + 2].tolist()
    spans = snapshot.gather(("line", "lines"), np.arange(first, last))
    start, size = spans["line"].astype(np.int64), spans["lines"].astype(np.int64)
    found = set()
    for span in lines:
        around = [(line, line) for line in range(span.first, span.first + span.size)]
        for above, below in around or [(span.first, span.first + 1)]:
            holding = np.flatnonzero((start <= above) & (start + size > below))
            if len(holding):
                found.add(first + int(holding[np.argmin(size[holding])]))
    return found
