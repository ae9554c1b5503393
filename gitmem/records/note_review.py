"""Find the notes that somebody should look at: the files that they were written about have changed since."""

import numpy as np

from gitmem.memory.bounds import check_count
from gitmem.memory.note import LIST_DEFAULT, MAX_LIST, Note, load_note
from gitmem.memory.record_paths import NOTES
from gitmem.memory.record_store import RecordStore
from gitmem.named_tuple import NamedTuple
from gitmem.records.listing import open_at, tree_entries
from gitmem.records.note_states import NoteState, read_states
from gitmem.workspace import Workspace


class NoteWithState(NamedTuple):
    """Note, and what makes it doubtful."""

    note: Note
    state: NoteState


def review_notes(workspace: Workspace, limit: int = LIST_DEFAULT) -> list[NoteWithState]:
    """Return stale notes, newest first: those that nobody has confirmed, replaced or retired since a change.

    Raises: UsageError, GitFailed, DamagedFile.
    """
    check_count("limit", limit, 1, MAX_LIST)
    with RecordStore(workspace.location) as store:
        records = open_at(workspace, store.tip())
        if records is None:
            return []
        # Only notes that name code have blobs, and columns say which these are. No other note is read.
        below = records.folder(NOTES)
        naming = records.column("paths").select(bool) | records.column("symbols").select(bool)
        entries = np.flatnonzero(naming[below.start : below.stop]) + below.start
        newest = entries[np.argsort(records.column("stored").ranks()[entries], kind="stable")[::-1]]
        notes = [load_note(record) for record in store.read_records(tree_entries(records, newest.tolist()))]
    # Commits are counted for the listed notes only: for each of them git reads history.
    stale = [note for note, state in zip(notes, read_states(workspace, notes), strict=True) if state.is_stale][:limit]
    return [NoteWithState(*pair) for pair in zip(stale, read_states(workspace, stale, counted=True), strict=True)]
