"""Find the commit that removed an element which an old revision has and a newer one lacks."""

from typing import Final

from gitmem.git.file_history import PathChange, read_blob_id, read_commit_files, read_path_changes
from gitmem.git.locate import RepositoryLocation
from gitmem.history.element_reader import ElementReader
from gitmem.history.line_tracking import LINES, find_lines
from gitmem.history.matching import find_in_file
from gitmem.history.moves import find_elsewhere
from gitmem.history.unchanged import find_unchanged
from gitmem.history.version import FileVersion, Version
from gitmem.named_tuple import NamedTuple

_MAX_MOVES: Final = 50
"""Files that an element is followed through: a guard against a walk in circles."""


class Removal(NamedTuple):
    """Commit that removed an element, and the element's last path and symbol."""

    commit: str
    path: bytes
    symbol: str


def find_removal(
    location: RepositoryLocation, reader: ElementReader, start: str, end: str, version: Version
) -> Removal | None:
    """Return the commit between two revisions that removed an element of the first; None if the second still has it.

    The commits that changed its file are applied to it, oldest first. Where it disappears, the other files of that
    commit are searched, and the search goes on there. Merges are skipped: they repeat what their parents did.
    """
    for _ in range(_MAX_MOVES):
        blob = read_blob_id(location, end, version.path)
        if blob and _follow(version, reader.version(version.path, blob)) is not None:
            return None
        options = ("--ancestry-path", "--reverse", "--full-history")
        changes = read_path_changes(location, (f"^{start}", end), version.path, options)
        reader.expect([oid for change in changes for oid in (change.before, change.blob)])
        removed, version = _apply(reader, changes, version)
        if removed is None:
            return None
        moved = _find_moved(location, reader, removed, version)
        if moved is None:
            return Removal(removed, version.path, version.element.symbol)
        start, version = removed, moved
    return None


def _apply(reader: ElementReader, changes: list[PathChange], version: Version) -> tuple[str | None, Version]:
    """Follow an element through changes of its file; return the commit that removed it, and its last version."""
    removed = None
    for change in changes:
        if change.is_merge:
            continue
        before = _follow(version, reader.version(version.path, change.before))
        after = _follow(before or version, reader.version(version.path, change.blob))
        # A commit of a branch that never had the element says nothing; one that brings it back undoes the removal.
        if after is not None:
            removed, version = None, after
        elif before is not None:
            removed, version = change.commit, before
    return removed, version


def _find_moved(location: RepositoryLocation, reader: ElementReader, commit: str, version: Version) -> Version | None:
    """Return the element that another one became in another file of the commit that removed it."""
    if version.element.chunk_type == LINES:
        return None
    files, unreadable = read_commit_files(location, commit, renames=True)
    reader.note_missing(unreadable)
    # The search for origins, seen from the other side.
    reverse = [file._replace(path=file.old_path, blob=file.old_blob, old_path=file.path, old_blob=file.blob)
               for file in files]  # fmt: skip
    origin = find_elsewhere(version, reverse, reader)
    return origin.version if origin is not None else None


def _follow(version: Version, other: FileVersion) -> Version | None:
    """Return an element in another version of its file."""
    if not other.data:
        return None
    if version.element.chunk_type == LINES:
        return find_lines(version, other)
    return find_unchanged(version, other) or find_in_file(version, other)
