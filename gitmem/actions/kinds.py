"""What a question ranges over, code and the kinds of records, and how a record that was found is called."""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Final

from gitmem.errors import UsageError
from gitmem.git.references import may_exist, read_reference
from gitmem.memory.places import CONVERSATION_PREFIX, CONVERSATIONS, DOCUMENTS, NOTES, REFERENCE
from gitmem.types import DOCUMENT, NOTE, TURN
from gitmem.workspace import Workspace, is_writable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gitmem.actions.query import Request
    from gitmem.indexing.records import JoinedView
    from gitmem.search.hits import Hit
    from gitmem.store.view import View

CODE: Final = "code"
_FOLDERS: Final = {"documents": DOCUMENTS, "memory": NOTES, "history": CONVERSATIONS}
_NAMES: Final = {DOCUMENT: "documents", NOTE: "memory", TURN: "history"}
ALL: Final = "all"
CHOICES: Final = (CODE, *_FOLDERS, ALL)
DEFAULT: Final = (CODE, "documents")
_HEADER_LINES: Final = 2


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


def join_records(workspace: Workspace, view: "View", tree: str, *, write: bool) -> "JoinedView":
    """A view of files with all records behind it."""
    from gitmem.indexing.records import JoinedView, open_records

    paths = workspace.paths
    keep = write and is_writable(paths.state)
    return JoinedView(view, open_records(workspace.location, paths.records, tree, keep=keep))


def sources_of(request: "Request") -> tuple[str, ...]:
    """What a request ranges over: what it says, else code and documents; of a tree of its own, code alone."""
    if request.sources:
        return request.sources
    return (CODE,) if request.rev or request.staged or request.changed else DEFAULT


def chosen_entries(view: "View", sources: Collection[str]) -> "NDArray[np.bool_]":
    """The paths of what is ranged over, [entries]."""
    import numpy as np

    from gitmem.indexing.records import PREFIX, JoinedView

    if not isinstance(view, JoinedView):
        return np.full(len(view), CODE in sources)
    chosen = view.starting_with([PREFIX + folder + b"/" for name, folder in _FOLDERS.items() if name in sources])
    chosen[: view.first_count] = CODE in sources
    return chosen


def kind_of(hit: "Hit") -> str:
    """What was found: code, documents, memory or history."""
    return _NAMES.get(hit.kind, CODE)


def named_hit(hit: "Hit") -> "Hit":
    """A record under the id a person can ask for, with lines of its content; code as it is."""
    if hit.kind not in _NAMES:
        return hit
    last = hit.path.rpartition("/")[2]
    name = f"{CONVERSATION_PREFIX}{hit.symbol} {int(last)}" if hit.kind == TURN else last
    return hit._replace(path=name, start_line=hit.start_line - _HEADER_LINES, end_line=hit.end_line - _HEADER_LINES)
