"""Find the notes about the code of a hit, by the paths and symbols that the notes name.

A note about a folder is about all files below it. A note about `Session` is about `Session.close` too, and a note about
`close` is about every `close`. A note that names paths and symbols is about these symbols in these paths only.
"""

import os
from collections.abc import Callable, Collection, Sequence
from typing import Final

import numpy as np

from gitmem.display import first_line
from gitmem.freshness.memory_view import open_memory
from gitmem.git.locate import RepositoryLocation
from gitmem.git.object_reader import ObjectReader
from gitmem.git.trees import FILE, TreeEntry, find_paths
from gitmem.indexing.record_views import Records
from gitmem.memory.bounds import current_time
from gitmem.memory.note import Note, load_note
from gitmem.memory.record_store import RecordStore
from gitmem.named_tuple import NamedTuple
from gitmem.record import parse_record
from gitmem.records.note_links import find_outdated
from gitmem.records.note_states import NoteState, describe_state, find_states, is_expired
from gitmem.search.hits import Hit
from gitmem.store.view_file import View
from gitmem.types import PROSE_KINDS
from gitmem.workspace import Workspace

MAX_NOTES: Final = 3
MAX_FILE_NOTES: Final = 50


class CodeNote(NamedTuple):
    """Note about the code of a hit, with its first line as text. `shared_by` is that of its record.

    `marks` say what makes it doubtful (`note_states`).
    """

    id: str
    type: str
    time: str
    text: str
    shared_by: str
    marks: tuple[str, ...] = ()


def read_code_notes(
    location: RepositoryLocation, records: Records, view: View, hits: Sequence[Hit], reader: ObjectReader
) -> list[list[CodeNote]]:
    """Return at most MAX_NOTES notes for each hit: current ones before outdated ones, newest first.

    Only these notes are read. `view` is that of the searched tree. Raises DamagedFile.
    """
    matches_of = _find_entries(records, hits)
    outdated = _outdated_entries(records) if any(matches_of) else frozenset[int]()
    entries = [sorted(matches, key=outdated.__contains__)[:MAX_NOTES] for matches in matches_of]
    oids = {entry: records.oid(entry) for matches in entries for entry in matches}
    blobs = dict(reader.read_many(dict.fromkeys(oids.values()))) if oids else {}
    with RecordStore(location) as store:
        full_notes = {
            entry: load_note(store.attribute(parse_record(data, "note"), records.path(entry), oid))
            for entry, oid in oids.items()
            if (data := blobs[oid])
        }
    states = find_states(records, view, location, list(full_notes.values()))
    notes = {entry: _code_note(note, states[note.id]) for entry, note in full_notes.items()}
    return [[notes[entry] for entry in matches if entry in notes] for matches in entries]


def read_file_notes(workspace: Workspace, path: str, identifiers: Collection[str]) -> list[Note]:
    """Return the notes about a file, newest first: those that name it, and those about a symbol without a path.

    `identifiers` are the words of the file, which such a symbol must end with. Raises: GitFailed, DamagedFile.
    """
    return read_notes_about(workspace, [path], lambda: identifiers)


def read_notes_about(
    workspace: Workspace, files: Collection[str], read_identifiers: Callable[[], Collection[str]]
) -> list[Note]:
    """Return the notes about any of some files, newest first, like `read_file_notes`.

    The words of the files are read only if there is a note about a symbol alone. Raises: GitFailed, DamagedFile.
    """
    with RecordStore(workspace.location) as store:
        tip = store.tip()
        records = open_memory(workspace, tip.tree, check=True) if tip.tree else None
        if records is None:
            return []
        paths, symbols = records.column("paths"), records.column("symbols")
        mask = paths.select(bool) | symbols.select(bool)
        prefixes = set[str]().union(*map(_path_prefixes, files))
        mask &= paths.select(lambda lines: _overlaps(lines, prefixes))
        entries = np.flatnonzero(mask)
        newest = entries[np.argsort(records.column("time").ranks()[entries], kind="stable")[::-1]].tolist()
        words = set() if all(map(paths.text, newest)) else read_identifiers()
        about = [entry for entry in newest if paths.text(entry) or _ends_in(symbols.text(entry), words)]
        blobs = [TreeEntry(records.path(entry), FILE, records.oid(entry)) for entry in about[:MAX_FILE_NOTES]]
        return [load_note(record) for record in store.read_records(blobs)]


def _ends_in(lines: str, identifiers: Collection[str]) -> bool:
    """Return whether the last part of one of the symbols is among the identifiers."""
    return any(symbol.rpartition(".")[2] in identifiers for symbol in lines.split("\n"))


class _Names(NamedTuple):
    """Names by which notes may refer to the code of a hit; empty if the hit is a record or a commit."""

    paths: set[str]
    symbols: set[str]

    @classmethod
    def from_hit(cls, hit: Hit) -> "_Names":
        if hit.chunk_type in PROSE_KINDS:
            return cls(set(), set())
        return cls(_path_prefixes(hit.path), _symbol_parts(hit.symbol))


def _find_entries(records: Records, hits: Sequence[Hit]) -> list[list[int]]:
    """Return the entries of the notes about each hit, newest first."""
    paths, symbols = records.column("paths"), records.column("symbols")
    if not hits or not (any(paths.values) or any(symbols.values)):
        return [[] for _ in hits]
    # The columns are matched against the names of all hits first, so that the comparison by hit is with few notes.
    names = [_Names.from_hit(hit) for hit in hits]
    all_names = _Names(*(set().union(*sets) for sets in zip(*names, strict=True)))
    mask = paths.select(bool) | symbols.select(bool)
    mask &= paths.select(lambda lines: _overlaps(lines, all_names.paths))
    mask &= symbols.select(lambda lines: _overlaps(lines, all_names.symbols))
    entries = np.flatnonzero(mask)
    # Times are sorted by rank: the column stores each distinct time once, as text.
    newest = entries[np.argsort(records.column("time").ranks()[entries], kind="stable")[::-1]].tolist()
    notes = [(entry, paths.text(entry), symbols.text(entry)) for entry in newest]
    return [
        [
            entry
            for entry, of_paths, of_symbols in notes
            if own.paths and _overlaps(of_paths, own.paths) and _overlaps(of_symbols, own.symbols)
        ]
        for own in names
    ]


def _overlaps(lines: str, names: set[str]) -> bool:
    """Return whether one of the lines is among the names. A note without such lines is not restricted by them."""
    return not lines or not names.isdisjoint(lines.split("\n"))


def _path_prefixes(path: str) -> set[str]:
    """Return a path and the folders that contain it."""
    parts = path.split("/")
    return {"/".join(parts[:length]) for length in range(1, len(parts) + 1)}


def _symbol_parts(symbol: str) -> set[str]:
    """Return the names of a chunk's symbols: `A.b.c` is also `A`, `A.b`, `b`, `b.c` and `c`."""
    names: set[str] = set()
    for qualified in symbol.split(", "):
        parts = qualified.split(".")
        # Every run of adjacent parts. Symbols have few parts, so their number is small.
        spans = ((first, last) for first in range(len(parts)) for last in range(first + 1, len(parts) + 1))
        names |= {".".join(parts[first:last]) for first, last in spans}
    return names - {""}


def missing_paths(workspace: Workspace, paths: Sequence[str]) -> list[str]:
    """Return the paths that neither the working tree nor HEAD has: deleted since, or never there."""
    location = workspace.location
    worktree = location.worktree
    missing = [path for path in paths if worktree is None or not os.path.lexists(worktree / path)]
    if not missing or location.head_tree is None:
        return missing
    in_head = find_paths(location, location.head_tree, missing)
    return [path for path in missing if path not in in_head]


def _code_note(note: Note, state: NoteState) -> CodeNote:
    marks = tuple(describe_state(state))
    return CodeNote(note.id, note.type, note.time, first_line(note.content), note.shared_by, marks)


def _outdated_entries(records: Records) -> frozenset[int]:
    """Return the entries of notes that others supersede, or that have expired."""
    outdated = find_outdated(records, 0)
    if outdated is None:
        return frozenset()
    now = current_time()
    return frozenset(
        [*outdated.successors, *(entry for entry, time in outdated.expiry.items() if is_expired(time, now))]
    )
