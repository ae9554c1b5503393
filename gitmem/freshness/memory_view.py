"""Open the memory's records as a view: which tree they are in, and what the index knows of them."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from gitmem.errors import DamagedFile, NewerFormat, UnsafeIndex
from gitmem.git.references import may_exist, read_reference
from gitmem.memory.kinds import FOLDERS
from gitmem.memory.record_paths import REFERENCE
from gitmem.workspace import Workspace, find_index, is_writable

if TYPE_CHECKING:
    from gitmem.indexing.joined_view import JoinedView
    from gitmem.indexing.record_views import Records
    from gitmem.store.view_file import View


def records_tree(workspace: Workspace, kinds: Collection[str] = tuple(FOLDERS)) -> str | None:
    """Return the tree of all records, or None if the memory is empty or `kinds` names no kind of records."""
    if not any(kind in FOLDERS for kind in kinds) or not may_exist(workspace.location, REFERENCE):
        return None
    return read_reference(workspace.location, f"{REFERENCE}^{{tree}}")


def open_memory(workspace: Workspace, tree: str, *, write: bool = True, check: bool = False) -> "Records":
    """Return the records of a tree, with their columns from the index if it is ours.

    With `check` a damaged file of columns is ignored and derived again. Raises GitFailed.
    """
    from gitmem.indexing.record_views import open_records

    try:
        indexed = find_index(workspace) is not None
    except (UnsafeIndex, DamagedFile, NewerFormat):
        indexed = False  # git holds the records, so they are readable whatever the state of the index
    paths = workspace.paths
    file = paths.records if indexed else None
    return open_records(workspace.location, file, tree, keep=write and is_writable(paths.state), check=check)


def join_records(workspace: Workspace, view: "View", tree: str, *, write: bool) -> "JoinedView":
    """Return a view of files with all records appended to it."""
    from gitmem.indexing.joined_view import JoinedView

    return JoinedView(view, open_memory(workspace, tree, write=write))
