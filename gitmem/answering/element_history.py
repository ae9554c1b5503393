"""The history of the element that a location names: find the element, trace it, add authors and dates.

No index is needed. A location without a revision means HEAD; lines of a file with uncommitted changes are the lines of
the working tree, and their counterparts in HEAD are traced.
"""

from collections.abc import Callable

from gitmem.answering.element_lookup import FindFiles, find_target
from gitmem.answering.history_notes import SHALLOW_NOTE, UNREAD_NOTE, unreadable_notes
from gitmem.answering.trace_resources import open_element_reader, open_trace_cache
from gitmem.errors import UsageError
from gitmem.git.file_history import CommitDetails, is_ancestor, read_details, read_shallow
from gitmem.git.locate import RepositoryLocation
from gitmem.git.path_encoding import path_text
from gitmem.git.revisions import Revision, resolve
from gitmem.history.changes import REMOVED
from gitmem.history.element_reader import ElementReader
from gitmem.history.removal import find_removal
from gitmem.history.trace import Change, Trace
from gitmem.history.tracer import Tracer
from gitmem.history.version import Version
from gitmem.named_tuple import NamedTuple
from gitmem.workspace import Workspace


class DatedChange(NamedTuple):
    """Change of an element with author, date and subject of its commit."""

    change: Change
    details: CommitDetails


class ElementHistory(NamedTuple):
    """History of the element at `path` and `symbol` (lines `first` to `last`) of a commit, newest change first.

    Without a symbol the element is the lines themselves. `notes` say where the history is incomplete.
    """

    rev: str
    commit: str
    path: str
    symbol: str
    chunk_type: str
    first: int
    last: int
    changes: list[DatedChange]
    notes: list[str]


def read_element_history(
    workspace: Workspace,
    text: str,
    rev: str = "",
    folder: str = "",
    *,
    check: Callable[[], None] | None = None,
) -> ElementHistory:
    """Return the history of the element that a location names at a revision, by default HEAD.

    If a given revision is an ancestor of HEAD and the element is gone there, its removal is the first change. `check`
    is called often and ends the search by an exception. Raises: UsageError, UnknownRevision, GitFailed, WorkersFailed.
    """
    location = workspace.location
    revision = resolve(location, rev or "HEAD")
    if revision.commit is None:
        raise UsageError(f"`{rev}` is a tree without history", hint="name a commit, tag or branch")
    cache = open_trace_cache(workspace)
    with open_element_reader(location, check, cache) as reader:
        find_files = _find_files_in(workspace, revision.commit)
        version = find_target(location, reader, text, revision.commit, folder, find_files, uncommitted=not rev)
        reader.keep(version.source)
        trace = Tracer(location, reader, cache).trace(revision.commit, version)
        changes = [*_removals(location, reader, revision, version), *trace.changes]
        notes = [*_cut_notes(location, trace), *unreadable_notes(location, reader.missing)]
    if cache is not None:
        cache.save()
    details = read_details(location, (change.commit for change in changes))
    element = version.element
    return ElementHistory(
        rev or "HEAD",
        revision.commit,
        path_text(version.path),
        element.symbol,
        element.chunk_type,
        element.first_line,
        element.last_line,
        [DatedChange(change, details[change.commit]) for change in changes],
        notes,
    )


def _find_files_in(workspace: Workspace, commit: str) -> FindFiles:
    """Return a function that finds the files of a commit that define a symbol."""

    def find_files(symbol: str) -> list[bytes] | None:
        # The search needs a fifth of all imports, and only a symbol without a path needs the search.
        from gitmem.answering.defining_files import find_defining_files

        return find_defining_files(workspace, commit, symbol)

    return find_files


def _removals(
    location: RepositoryLocation, reader: ElementReader, revision: Revision, version: Version
) -> list[Change]:
    """Return the change that removed the element between an older revision and HEAD, if there is one."""
    head, old = location.head_commit, revision.commit
    if head is None or old is None or head == old or not is_ancestor(location, old, head):
        return []
    removal = find_removal(location, reader, old, head, version)
    return [Change(removal.commit, (REMOVED,), removal.path, removal.symbol)] if removal is not None else []


def _cut_notes(location: RepositoryLocation, trace: Trace) -> list[str]:
    """Return a note for each commit at which a history ends though the element may be older."""
    shallow = read_shallow(location)
    return [(SHALLOW_NOTE if commit in shallow else UNREAD_NOTE).format(commit[:7]) for commit in trace.cut]
