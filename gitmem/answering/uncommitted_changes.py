"""Compare the uncommitted files of an open tree with HEAD, definition by definition.

The result is that of committing them, except that a file that was renamed and edited at once counts as two files. Its
definitions are matched one by one all the same (`history.tree_changes`).
"""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from gitmem.answering.history_notes import unreadable_notes
from gitmem.answering.range_changes import Comparison
from gitmem.answering.trace_resources import open_element_reader
from gitmem.errors import UsageError
from gitmem.freshness.tree_selection import COMMIT, STAGED, WORKTREE, SelectedTree
from gitmem.git.file_history import FileChange, read_blob_ids
from gitmem.git.path_encoding import path_text
from gitmem.git.revisions import Revision
from gitmem.history.tree_changes import compare_trees
from gitmem.store.view_file import INDEXED

if TYPE_CHECKING:
    from gitmem.answering.searcher import Searcher

NAMES: Final = {WORKTREE: "working tree", STAGED: "staged files"}
"""Newer end of a comparison with HEAD, by the source of the open tree."""


def compare_uncommitted(
    searcher: "Searcher", check: Callable[[], None], is_read: Callable[[FileChange], bool] = lambda _: True
) -> Comparison:
    """Return the definitions that the uncommitted files of an open tree change. Notes name the files left out.

    Files for which `is_read` is false are left out without a note.

    Raises: UsageError without a working tree, GitFailed, WorkersFailed.
    """
    tree = searcher.tree
    if tree.source == COMMIT:
        raise UsageError("this repository has no working tree", hint="name a range: gitmem impact main...HEAD")
    files, unknown = _changed_files(searcher, tree)
    with open_element_reader(tree.location, check, files=searcher.files) as reader:
        changes = compare_trees([file for file in files if is_read(file)], reader)
        # A file may be written while it is read. Its definitions would all count as removed.
        moving = {file.path for file in files if file.blob in reader.missing}
        lost = reader.missing.intersection(file.old_blob for file in files)
    kept = [change for change in changes if not {change.path, change.old_path} & moving]
    until = Revision(NAMES[tree.source], tree.revision.commit, tree.revision.tree)
    notes = [f"`{path_text(path)}` is not indexed yet and is left out" for path in unknown]
    notes += [f"`{path_text(path)}` changed while it was read; ask again" for path in sorted(moving)]
    notes += unreadable_notes(tree.location, lost)
    return Comparison(tree.revision._replace(name="HEAD"), until, len(files), kept, notes)


def _changed_files(searcher: "Searcher", tree: SelectedTree) -> tuple[list[FileChange], list[bytes]]:
    """Return the files that differ from HEAD, and the paths of those whose content is not known."""
    paths = sorted(searcher.changes)
    old = read_blob_ids(tree.location, tree.revision.tree, paths)
    files: list[FileChange] = []
    unknown: list[bytes] = []
    for path in paths:
        entry = searcher.view.find(path)
        if entry is None and _exists(tree, path):
            unknown.append(path)  # the time for hashing was over, or it cannot be read
        elif entry is None or searcher.view.reason(entry) == INDEXED:
            blob = searcher.view.oid(entry) if entry is not None else ""
            files.append(FileChange(path, old.get(path, ""), path, blob))
    return _with_renames(files), unknown


def _exists(tree: SelectedTree, path: bytes) -> bool:
    worktree = tree.location.worktree
    return tree.source == WORKTREE and worktree is not None and os.path.lexists(worktree / os.fsdecode(path))


def _with_renames(files: list[FileChange]) -> list[FileChange]:
    """Join each deleted file with a new one of the same content."""
    gone = {file.old_blob: file for file in files if not file.blob and file.old_blob}
    renamed: dict[bytes, FileChange] = {}
    for file in files:
        old = gone.pop(file.blob, None) if not file.old_blob else None
        if old is not None:
            renamed[file.path] = file._replace(old_path=old.path, old_blob=old.old_blob)
            renamed[old.path] = renamed[file.path]
    joined = [renamed.get(file.path, file) for file in files if file.old_blob or file.blob]
    return list(dict.fromkeys(joined))
