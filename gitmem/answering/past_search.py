"""Search the code of the past: definitions that are gone, and former versions of those that are not.

Versions of one definition are one result: the version that matches best, with the interval in which any of them lived.
"""

import time
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from gitmem.answering.filter_rows import row_filters
from gitmem.answering.history_notes import SHALLOW_NOTE
from gitmem.answering.past_hit import PastHit
from gitmem.answering.past_introductions import trace_introductions
from gitmem.answering.query_encoder import query_encoder, search_or_words
from gitmem.answering.search_query import Query, SearchFilters, check_query
from gitmem.arrays import NDArray
from gitmem.chunking.blob_text import text_of
from gitmem.display import count
from gitmem.errors import NoIndex, UsageError
from gitmem.freshness.past_index import RESUME, find_past, of_past, past_fingerprint
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.git.file_history import read_details
from gitmem.git.objects import open_reader
from gitmem.git.path_encoding import path_bytes
from gitmem.git.program import run_git
from gitmem.git.revisions import resolve, resolve_range
from gitmem.indexing.chunk_histories import ALIVE
from gitmem.indexing.lifetimes import Lives, PastView, find_past_view, split_version_path
from gitmem.named_tuple import NamedTuple
from gitmem.records.filters import RecordFilters, matches_author
from gitmem.search.definition_ranking import Definitions, search_definitions
from gitmem.search.engine import Rejected, SearchOptions, SearchResult
from gitmem.search.globs import compile_filters
from gitmem.search.hits import Hit
from gitmem.search.query_parser import parse_query
from gitmem.search.scope import Filters, Scope
from gitmem.search.snippet import lines_of_span
from gitmem.secrets.masking import mask_lines, mask_private_keys
from gitmem.store.snapshot import Snapshot
from gitmem.workspace import Workspace, open_snapshot, require_index

_Commits = NDArray[np.bool_] | None
"""Mask of commits, [commits]; None for all."""


class PastQuery(NamedTuple):
    """Query with the ranges of commits (`A..B`) in which a definition was introduced or removed, "" for any."""

    query: Query
    introduced: str = ""
    removed: str = ""
    newest_first: bool = False


class PastAnswer(NamedTuple):
    """Definitions of the past, and the history that was searched: its tip, and the number of commits.

    `rejected` are results below the least score.
    """

    query: str
    terms: tuple[str, ...]
    hits: list[PastHit]
    tip: str
    commits: int
    notes: list[str]
    milliseconds: float
    rejected: Rejected | None


def search_past(workspace: Workspace, asked: PastQuery, *, mask: bool = True) -> PastAnswer:
    """Search the code of the past. Secrets are dots with `mask`.

    Raises: UsageError, UnknownRevision, NoIndex without such an index, UnsafeIndex, DamagedFile, GitFailed.
    """
    started = time.perf_counter()
    query = asked.query
    limit = check_query(query, TreeSelection(rev="HEAD"), workspace.settings)
    if query.filters.records.excludes_code or query.filters.kinds not in ((), ("code",)):
        raise UsageError("the code of the past has no kinds and no fields of records", hint="leave out these filters")
    view, snapshot = open_past(workspace)
    lives = view.lives(snapshot)
    introduced, removed = (_commits_in(workspace, view, text) for text in (asked.introduced, asked.removed))
    scope = _scope(view, snapshot, lives, query.filters, (introduced, removed))
    encoder = query_encoder(workspace.settings, require_index(workspace).fingerprint)
    rows: list[int] = []

    def run(mode: str) -> SearchResult:
        nonlocal rows
        result, rows = search_definitions(
            scope, parse_query(query.text), encoder, Definitions(lives.group, lives.group_versions), split_version_path,
            limit=limit, options=SearchOptions(mode, workspace.settings.fusion), min_score=query.least_score,
        )  # fmt: skip
        return result

    result = search_or_words(query.mode, run)
    chosen = list(zip(result.hits, rows, strict=True))
    if asked.newest_first:
        # Of the best results, those come first whose definition changed last.
        chosen.sort(key=lambda pair: -_last(int(lives.group_removed[pair[1]]), len(view.commits)))
    hits = _read(workspace, view, lives, chosen, mask=mask)
    late: list[str] = []
    if query.blame:
        hits, late = trace_introductions(workspace, hits, view.bounds.tip, query.blame)
    milliseconds = round((time.perf_counter() - started) * 1000, 1)
    unread = [
        _describe_unread(view, text)
        for text, commits in ((asked.introduced, introduced), (asked.removed, removed))
        if commits is not None and not commits.any()
    ]
    notes = [*result.notes, *late, *unread, *_notes(workspace, view, snapshot)]
    return PastAnswer(
        query.text, result.terms, hits, view.bounds.tip, len(view.commits), notes, milliseconds, result.rejected
    )


def open_past(workspace: Workspace) -> tuple[PastView, Snapshot]:
    """Open the index of the past. Raises NoIndex if it was never completed, or by another version."""
    require_index(workspace)
    manifest = find_past(workspace)
    view = find_past_view(workspace.paths.past.lifetimes)
    if manifest is None or view is None:
        raise NoIndex("the code of the past is not indexed", hint=f"run `{RESUME}`")
    if manifest.fingerprint != past_fingerprint(workspace.settings):
        raise NoIndex("the index of the past was made by another version or model", hint=f"run `{RESUME}`")
    return view, open_snapshot(of_past(workspace), manifest)


def _notes(workspace: Workspace, view: PastView, snapshot: Snapshot) -> list[str]:
    """Return notes about commits and segments that the index lacks."""
    notes = list(snapshot.lost)
    if not snapshot.manifest.complete:
        notes.append(f"the index of the past is not complete ({RESUME})")
    notes += _shallow_notes(workspace, view)
    head = workspace.location.head_commit
    if head is not None and head != view.bounds.tip:
        args = ["rev-list", "--count", f"{view.bounds.tip}..{head}", "--"]
        result = run_git(args, git_dir=workspace.location.git_dir, check=False)
        behind = int(result.stdout) if result.code == 0 else 0
        notes.append(f"the history is indexed up to {view.bounds.tip[:9]}, {count(behind, 'commit')} behind ({RESUME})")
    return notes


def _shallow_notes(workspace: Workspace, view: PastView) -> list[str]:
    """Return a note about the commits at which the clone ends, or ended when its history was indexed."""
    ends = view.bounds.shallow
    if not ends:
        return []
    named = ends[0][:9] if len(ends) == 1 else f"{ends[0][:9]} and {count(len(ends) - 1, 'other commit')}"
    if workspace.location.shallow:
        return [SHALLOW_NOTE.format(named)]
    return [f"the clone was shallow and ended at {named} when its history was indexed ({RESUME})"]


def _describe_unread(view: PastView, text: str) -> str:
    """Return a note about a range of commits, none of which is in the indexed history."""
    since = datetime.fromtimestamp(view.bounds.since, UTC).date() if view.bounds.since else None
    return f"no commit of `{text}` is in the indexed history{f', which begins on {since}' if since else ''}"


def _scope(
    view: PastView, snapshot: Snapshot, lives: Lives, query: SearchFilters, ranges: tuple[_Commits, _Commits]
) -> Scope:
    """Return the rows that pass the filters, and whose definitions two ranges of commits introduced and removed."""
    blob_of = snapshot.match(view)
    whole = Scope(snapshot, view, Filters(), blob_of)
    filters = row_filters(query)
    own = Filters(languages=filters.languages, chunk_types=filters.chunk_types)
    passing = blob_of
    # The paths of the view begin with numbers, so the scope cannot apply the filters on paths itself.
    if filters.any_of_paths:
        matches = compile_filters(filters.include, filters.exclude, filters.pathspecs, filters.files, filters.folders)
        paths = (split_version_path(path.decode("utf-8", "surrogateescape")) for path in view.paths)
        mask = np.fromiter((matches(path_bytes(path)) for path in paths), bool, len(view))
        passing = np.where(mask, blob_of, -2)
    scope = Scope(snapshot, view, own, passing, whole)
    # Rows of other branches, or of commits that the budget leaves out, are in no group.
    rows = lives.group >= 0
    rows &= _pass_commits(lives.introduced, _matching_commits(view, query.records))
    for commits, column in zip(ranges, (lives.group_introduced, lives.group_removed), strict=True):
        rows &= _pass_commits(column, commits)
    scope.restrict(rows)
    return scope


def _pass_commits(column: NDArray[np.int64], commits: _Commits) -> NDArray[np.bool_]:
    """Return which rows have one of some commits in a column; all without a restriction."""
    if commits is None:
        return np.ones(len(column), bool)
    if not len(commits):
        return np.zeros(len(column), bool)
    passing: NDArray[np.bool_] = (column >= 0) & commits[np.maximum(column, 0)]
    return passing


def _matching_commits(view: PastView, filters: RecordFilters) -> _Commits:
    """Return the mask of the commits that pass filters on author and time, [commits]; None without any."""
    if not filters.any:
        return None
    mask = view.authors.select(lambda author: matches_author(filters, author))
    if filters.since:
        mask &= view.seconds >= datetime.fromisoformat(filters.since).timestamp()
    if filters.until:
        mask &= view.seconds <= datetime.fromisoformat(filters.until).timestamp()
    return mask


def _commits_in(workspace: Workspace, view: PastView, text: str) -> _Commits:
    """Return the mask of the commits in a range, or of one commit, [commits]; None for any.

    Raises: UnknownRevision, UsageError, GitFailed.
    """
    if not text:
        return None
    location = workspace.location
    ends = resolve_range(location, text) if ".." in text else (resolve(location, text),)
    tree = next((end.name for end in ends if end.commit is None), None)
    if tree is not None:
        raise UsageError(f"`{tree}` is a tree without history", hint="name a commit, tag or branch")
    if len(ends) == 1:
        listed = {ends[0].commit}
    else:
        args = ["rev-list", f"{ends[0].commit}..{ends[1].commit}", "--"]
        listed = {*run_git(args, git_dir=location.git_dir).stdout.decode("ascii").split()}
    return np.array([commit in listed for commit in view.commits], bool)


def _last(removed: int, commits: int) -> int:
    """Return the number of the commit at which a definition ends, that behind the last one if it is still there."""
    return commits if removed == ALIVE else removed


def _read(
    workspace: Workspace, view: PastView, lives: Lives, chosen: Sequence[tuple[Hit, int]], *, mask: bool
) -> list[PastHit]:
    """Read the text and the commits of hits."""
    location = workspace.location
    columns = ("group_introduced", "group_removed", "introduced", "removed")
    numbers = [[int(getattr(lives, name)[row]) for name in columns] for _, row in chosen]
    commits = {view.commits[number] for of_hit in numbers for number in of_hit if number >= 0}
    details = read_details(location, sorted(commits))
    with open_reader(location, bulk=False) as reader:
        data = dict(reader.read_many(dict.fromkeys(hit.blob for hit, _ in chosen)))
    hits = []
    for (hit, row), of_hit in zip(chosen, numbers, strict=True):
        introduced, removed, since, until = (
            details.get(view.commits[number]) if number >= 0 else None for number in of_hit
        )
        text = text_of(data[hit.blob] or b"", hit.language)
        lines = lines_of_span(mask_private_keys(text) if mask else text, hit.start, hit.end) if text else []
        named = hit._replace(copies=())
        alive, current = of_hit[1] == ALIVE, of_hit[3] == ALIVE
        versions = int(lives.group_versions[row])
        hits.append(
            PastHit(
                named, mask_lines(lines) if mask else lines, versions, introduced, removed, since, until, alive, current
            )
        )
    return hits
