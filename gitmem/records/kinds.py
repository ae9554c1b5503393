"""What a question ranges over, code and the kinds of records, and how a record that was found is called."""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Final

from gitmem.errors import DamagedFile, NewerFormat, UnsafeIndex, UsageError
from gitmem.git.references import may_exist, read_reference
from gitmem.memory.record_paths import CONVERSATION_PREFIX, CONVERSATIONS, DOCUMENTS, NOTES, REFERENCE
from gitmem.records.filters import NO_LIMITS, RecordLimits, within_limits
from gitmem.types import DOCUMENT, NOTE, TURN
from gitmem.workspace import Workspace, find_index, is_writable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gitmem.answering.answer import Request
    from gitmem.indexing.record_views import JoinedView, Records
    from gitmem.search.hits import Hit
    from gitmem.store.view_file import View

CODE: Final = "code"
_FOLDERS: Final = {"documents": DOCUMENTS, "notes": NOTES, "conversations": CONVERSATIONS}
_NAMES: Final = {DOCUMENT: "documents", NOTE: "notes", TURN: "conversations"}
ALL: Final = "all"
CHOICES: Final = (CODE, *_FOLDERS, ALL)
DEFAULT: Final = (CODE, "documents")
HEADER_LINES: Final = 2


def parse_sources(names: Iterable[str]) -> tuple[str, ...]:
    """What to range over, each word once. Raises UsageError."""
    chosen = tuple(dict.fromkeys(names))
    wrong = next((name for name in chosen if name not in CHOICES), None)
    if wrong is not None:
        raise UsageError(f"`{wrong}` cannot be searched", hint="kinds: " + ", ".join(CHOICES))
    return CHOICES[:-1] if ALL in chosen else chosen


def records_tree(workspace: Workspace, sources: Collection[str]) -> str | None:
    """The tree of the records, None where there are none or they are not asked for."""
    if not any(name in _FOLDERS for name in sources) or not may_exist(workspace.location, REFERENCE):
        return None
    return read_reference(workspace.location, f"{REFERENCE}^{{tree}}")


def open_memory(workspace: Workspace, tree: str, *, write: bool = True, check: bool = False) -> "Records":
    """The records of a tree, by what the index knows of them where there is one of ours; `check` takes nothing of it
    that is damaged. Raises GitFailed.
    """
    from gitmem.indexing.record_views import open_records

    try:
        indexed = find_index(workspace) is not None
    except (UnsafeIndex, DamagedFile, NewerFormat):
        indexed = False  # records are git's: they are there whatever became of the index
    paths = workspace.paths
    file = paths.records if indexed else None
    return open_records(workspace.location, file, tree, keep=write and is_writable(paths.state), check=check)


def join_records(workspace: Workspace, view: "View", tree: str, *, write: bool) -> "JoinedView":
    """A view of files with all records behind it."""
    from gitmem.indexing.record_views import JoinedView

    return JoinedView(view, open_memory(workspace, tree, write=write))


def sources_of(request: "Request") -> tuple[str, ...]:
    """What a request ranges over: what it says, else code and documents; of a tree of its own, code alone."""
    if request.sources:
        return request.sources
    return (CODE,) if request.rev or request.staged or request.changed else DEFAULT


def chosen_entries(view: "View", sources: Collection[str], limits: RecordLimits = NO_LIMITS) -> "NDArray[np.bool_]":
    """The paths of what is ranged over, [entries]; code has none of what records are limited by."""
    import numpy as np

    from gitmem.indexing.record_views import JoinedView

    code = CODE in sources and not limits.any
    if not isinstance(view, JoinedView):
        return np.full(len(view), code)
    chosen = view.below([folder for name, folder in _FOLDERS.items() if name in sources])
    if limits.any:
        chosen[view.first_count :] &= within_limits(view.records, limits)
    chosen[: view.first_count] = code
    return chosen


def kind_of(hit: "Hit") -> str:
    """What was found: code, documents, notes or conversations."""
    return _NAMES.get(hit.kind, CODE)


def named_hit(hit: "Hit") -> "Hit":
    """A record under the id a person can ask for, with lines of its content; code as it is."""
    if hit.kind not in _NAMES:
        return hit
    last = hit.path.rpartition("/")[2]
    name = f"{CONVERSATION_PREFIX}{hit.symbol} {int(last)}" if hit.kind == TURN else last
    return hit._replace(path=name, start_line=line_told(hit, hit.start_line), end_line=line_told(hit, hit.end_line))


def line_told(hit: "Hit", line: int) -> int:
    """A line of a hit's blob as a person counts it: of a record, from where its content begins."""
    return line - HEADER_LINES if hit.kind in _NAMES else line
