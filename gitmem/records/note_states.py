"""What makes a note doubtful: a newer note, a date, or a change of the files that it was written about."""

from collections.abc import Sequence
from typing import Any, Final

from gitmem.display import count, visible
from gitmem.freshness.memory_view import open_memory, records_tree
from gitmem.git.locate import RepositoryLocation
from gitmem.indexing.record_views import Records
from gitmem.memory.bounds import current_time
from gitmem.memory.note import Note
from gitmem.named_tuple import NamedTuple
from gitmem.records.note_links import find_links
from gitmem.records.written_about import NO_CHANGES, Changes, find_changes, find_changes_in
from gitmem.store.view_file import View
from gitmem.workspace import Workspace

_DATE: Final = len("2026-01-31")


class NoteState(NamedTuple):
    """State of a note: the notes that supersede it, the time at which it expired or "", and changed files."""

    superseded_by: tuple[str, ...] = ()
    expired: str = ""
    changes: Changes = NO_CHANGES

    @property
    def is_stale(self) -> bool:
        """Whether somebody should look at the note: nobody has said yet that it is out of date."""
        return self.changes.any and not self.superseded_by and not self.expired


CURRENT: Final = NoteState()


def is_expired(expires: str, now: str) -> bool:
    """Return whether a note that expires at a time, "" for never, is outdated at another one."""
    # Both are in UTC with the same number of digits, so text order is time order.
    return bool(expires) and expires <= now


def read_states(workspace: Workspace, notes: Sequence[Note], *, counted: bool = False) -> list[NoteState]:
    """Return the present states of some notes; `counted` asks for the number of commits. Raises: GitFailed."""
    tree = records_tree(workspace) if notes else None
    links = find_links(open_memory(workspace, tree, check=True)) if tree else {}
    now = current_time()
    return [
        NoteState(tuple(links.get(note.id, ())), note.expires if is_expired(note.expires, now) else "", changes)
        for note, changes in zip(notes, find_changes(workspace.location, notes, count=counted), strict=True)
    ]


def read_state(workspace: Workspace, note: Note) -> NoteState:
    """Return the present state of one note, with the number of commits. Raises: GitFailed."""
    return read_states(workspace, [note], counted=True)[0]


def find_states(
    records: Records, view: View, location: RepositoryLocation, notes: Sequence[Note]
) -> dict[str, NoteState]:
    """Return the states of notes by id, as of an open view of a tree: without a process and a count of commits."""
    links, now = find_links(records) if notes else {}, current_time()
    return {
        note.id: NoteState(
            tuple(links.get(note.id, ())),
            note.expires if is_expired(note.expires, now) else "",
            find_changes_in(view, note.blobs, location) if note.blobs else NO_CHANGES,
        )
        for note in notes
    }


def describe_state(state: NoteState) -> list[str]:
    """Return a line for each doubt about a note; none for a current one."""
    lines = [f"superseded by {', '.join(state.superseded_by)}"] if state.superseded_by else []
    lines += [f"expired {state.expired[:_DATE]}"] if state.expired else []
    changes = state.changes
    if changes.changed:
        number = len(changes.changed)
        what = f"`{visible(changes.changed[0])}`" + (f" and {count(number - 1, 'more file')}" if number > 1 else "")
        lines.append(f"written about {what}, changed since{_commits(changes.commits)}")
    if changes.missing:
        paths = ", ".join(f"`{visible(path)}`" for path in changes.missing)
        lines.append(f"written about {paths}, which no longer exists")
    return lines


def _commits(number: int | None) -> str:
    if number is None:
        return ""
    return f": {count(number, 'commit')}" if number else ": not committed yet"


def state_json(state: NoteState) -> dict[str, Any]:
    """Return a state as JSON values; `commits` is null if it was not counted, `marks` are lines for people."""
    return {
        "superseded_by": list(state.superseded_by),
        "expired": bool(state.expired),
        "changed_paths": list(state.changes.changed),
        "missing_paths": list(state.changes.missing),
        "commits": state.changes.commits,
        "marks": describe_state(state),
    }
