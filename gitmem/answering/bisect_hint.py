"""Rank the commits of a range as suspects of a fault: which of them to test first in a bisection.

The symptom is searched in the trees of both ends. The chunks that the new end's search finds are traced through the
range, and those of the old end that the range removed lead to the commit that did. `range_suspects` combines this with
the lines and messages of all commits.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final

from gitmem.answering.answer import answer
from gitmem.answering.element_lookup import element_at
from gitmem.answering.history_notes import unreadable_notes
from gitmem.answering.range_suspects import Suspect, TermCounter, TouchedChunk, rank_suspects, weigh_files
from gitmem.answering.search_query import Query, SearchFilters
from gitmem.answering.trace_resources import open_element_reader
from gitmem.display import count
from gitmem.errors import UsageError
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.git.bisect_range import BisectRange, find_range
from gitmem.git.file_history import read_blob_id, read_shallow
from gitmem.git.locate import RepositoryLocation
from gitmem.git.path_encoding import path_bytes, path_text
from gitmem.git.range_patches import count_range, iter_patches, list_range
from gitmem.history.changes import BODY, INTRODUCED, REMOVED, SIGNATURE
from gitmem.history.element_reader import ElementReader
from gitmem.history.line_tracking import LINES
from gitmem.history.removal import find_removal
from gitmem.history.tracer import Tracer
from gitmem.history.version import Version
from gitmem.locations import LineRange
from gitmem.memory.kinds import CODE
from gitmem.named_tuple import NamedTuple
from gitmem.search.query_parser import parse_query
from gitmem.workspace import Workspace, require_index

Check = Callable[[], None]
Report = Callable[[int, int], None]

MAX_COMMITS: Final = 5_000
"""Commits of a range that are ranked, the newest ones."""

_HITS: Final = 20
"""Results of a search whose chunks are traced."""

_SUBSTANTIAL: Final = frozenset({INTRODUCED, BODY, SIGNATURE, REMOVED})
_SLIGHT: Final = 0.2
"""What any other change of a chunk counts: a rename or a comment changes no behaviour."""

_HALF: Final = 5
"""Rank at which a result counts half as much as the first one."""


class BisectHint(NamedTuple):
    """Commits of a range, the most likely first. `total` is their number, also of those beyond `MAX_COMMITS`."""

    since: str
    until: str
    total: int
    suspects: list[Suspect]
    notes: list[str]


class _Hit(NamedTuple):
    """Place of a search result with its weight."""

    path: str
    lines: LineRange
    weight: float


def read_bisect_hint(
    workspace: Workspace, symptom: str, text: str = "", check: Check = lambda: None, report: Report = lambda *_: None
) -> BisectHint:
    """Return the commits of `A..B` (see `find_range`) by how likely they introduced a symptom.

    `check` is called often and ends the search by an exception, `report` gets the finished and all steps.
    Raises: UsageError, UnknownRevision, NoIndex, GitFailed, WorkersFailed, ModelDamaged.
    """
    location = workspace.location
    if not symptom.strip():
        raise UsageError("the symptom is empty", hint='describe it: gitmem bisect-hint "login fails" v1.2..HEAD')
    require_index(workspace)
    ends = find_range(location, text)
    total = count_range(location, ends.goods, ends.bad)
    if not total:
        raise UsageError(f"no commits in {ends.since}..{ends.until}", hint=_explain_none(ends))
    commits = list_range(location, ends.goods, ends.bad, MAX_COMMITS)
    steps = len(commits) + 2 * _HITS
    # The old end is searched too: code that the range removed is not at the new one.
    new_hits = _search(workspace, symptom, ends.bad)
    check()
    old_hits = _search(workspace, symptom, ends.goods[0]) if ends.goods else []
    query = parse_query(symptom)
    counter, changes = TermCounter(query), []
    for done, (_, files) in enumerate(iter_patches(location, [one.commit for one in commits])):
        check()
        report(done, steps)
        changes.append(counter.count_changes(files))
    with open_element_reader(location, check) as reader:
        chunks = _trace_hits(location, reader, new_hits, ends, lambda done: report(len(commits) + done, steps))
        removed = _find_removed(location, reader, old_hits, ends) if ends.goods else {}
        unread = unreadable_notes(location, reader.missing)
    # A removal is evidence like any other change of a result.
    for commit, gone in removed.items():
        chunks[commit] += gone
    weights = weigh_files((hit.path, hit.weight) for hit in (*new_hits, *old_hits))
    ranked = rank_suspects(commits, changes, chunks, weights, query)
    return BisectHint(ends.since, ends.until, total, ranked, [*_notes(location, total), *unread])


def _explain_none(ends: BisectRange) -> str:
    if not ends.goods:
        return "commit something first"
    if ends.bad in ends.goods:
        return "both ends are the same commit"
    return f"the older end comes first: {ends.until}..{ends.since}"


def _search(workspace: Workspace, symptom: str, commit: str) -> list[_Hit]:
    """Return the places of the best results for a symptom in the code of a commit."""
    limit = min(_HITS, workspace.settings.search_max_limit)
    query = Query(symptom, limit, filters=SearchFilters(kinds=(CODE,)), min_score=0.0)
    hits = answer(workspace, query, TreeSelection(commit)).hits
    return [
        _Hit(hit.path, LineRange(hit.start_line, hit.end_line), _HALF / (_HALF + rank))
        for rank, (hit, _) in enumerate(hits)
    ]


def _trace_hits(
    location: RepositoryLocation,
    reader: ElementReader,
    hits: Sequence[_Hit],
    ends: BisectRange,
    report: Callable[[int], None],
) -> defaultdict[str, list[TouchedChunk]]:
    """Return the chunks of results by the commits of a range that changed them."""
    chunks: defaultdict[str, list[TouchedChunk]] = defaultdict(list)
    for done, hit in enumerate(hits):
        report(done)
        version = _version_at(location, reader, hit, ends.bad)
        # Loose lines of a file count by the file alone: following them costs a line diff of every version.
        if version.element.chunk_type == LINES:
            continue
        for change in Tracer(location, reader).trace_range(ends.bad, version, ends.goods):
            weight = hit.weight if _SUBSTANTIAL & set(change.kinds) else _SLIGHT * hit.weight
            place = path_text(change.path)
            chunks[change.commit].append(TouchedChunk(place, change.symbol, change.kinds, weight))
    return chunks


def _find_removed(
    location: RepositoryLocation, reader: ElementReader, hits: Sequence[_Hit], ends: BisectRange
) -> dict[str, list[TouchedChunk]]:
    """Return the chunks of results of the old end that the range removed, by the commit that did."""
    chunks: defaultdict[str, list[TouchedChunk]] = defaultdict(list)
    old = ends.goods[0]
    for hit in hits:
        version = _version_at(location, reader, hit, old)
        if version.element.chunk_type == LINES:
            continue
        removal = find_removal(location, reader, old, ends.bad, version)
        if removal is not None:
            chunk = TouchedChunk(path_text(removal.path), removal.symbol, (REMOVED,), hit.weight)
            chunks[removal.commit].append(chunk)
    return chunks


def _version_at(location: RepositoryLocation, reader: ElementReader, hit: _Hit, commit: str) -> Version:
    path = path_bytes(hit.path)
    return element_at(reader.version(path, read_blob_id(location, commit, path)), hit.lines)


def _notes(location: RepositoryLocation, total: int) -> list[str]:
    notes = []
    if total > MAX_COMMITS:
        notes.append(f"the newest {count(MAX_COMMITS, 'commit')} of {total:,} are ranked: name a shorter range")
    if read_shallow(location):
        notes.append("the clone is shallow: commits that it lacks are not ranked (git fetch --unshallow)")
    return notes
