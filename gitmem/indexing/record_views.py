"""The memory's records as a view beside that of the files: the same index, the same search.

A record's path is written as git takes it, `refs/gitmem/memory:v1/notes/...`, which no file of a tree is called. No
words are taken from it. Beside the paths stands what is known of each record, so that filters and lists read none.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gitmem.errors import DamagedFile, GitFailed, NewerFormat, StorageFailed
from gitmem.fsio import write_atomic
from gitmem.git.batch import ProgramReader
from gitmem.git.locate import Location
from gitmem.git.trees import TreeEntry, diff_trees, read_tree
from gitmem.indexing.overlaid_view import OverlaidView
from gitmem.record import parse_record
from gitmem.store.format import Buffer, Container, build_container, damaged, find_container
from gitmem.store.postings import Postings
from gitmem.store.record_columns import (
    RECORD_COLUMNS,
    Column,
    column_sections,
    has_columns,
    load_column,
)
from gitmem.store.view_file import INDEXED, PATH_FIELDS, View, ViewEntry, view_contents
from gitmem.types import RECORD_LANGUAGE, TURN

MAGIC: Final = b"GITMEMRC"
PREFIX: Final = b"refs/gitmem/memory:"
_MOST_EDITS: Final = 500
_EDITS_SHARE: Final = 200
"""With more changes than either, one for each so many records, the view's file is written anew: they would be sorted in
at every question, and read."""


class RecordsView(View):
    """The records of a tree as a file keeps them."""

    def __init__(self, container: Container) -> None:
        super().__init__(container)
        if not has_columns(container):
            raise damaged(container.path, "it lacks what is known of the records")
        self._columns: dict[str, Column] = {}

    def column(self, name: str) -> Column:
        """One of RECORD_COLUMNS for all records. Raises DamagedFile."""
        if name not in self._columns:
            self._columns[name] = load_column(self._file, name, len(self))
        return self._columns[name]

    def folder(self, folder: bytes) -> range:
        """The entries below a folder, `v1/notes`."""
        return _below(self.path, len(self), folder)


class EditedRecords(OverlaidView):
    """The records of a tree as changes over a view; what is known of the changed ones is read when it is asked for."""

    def __init__(
        self, base: RecordsView, tree: str, edits: Mapping[bytes, ViewEntry | None], location: Location
    ) -> None:
        super().__init__(base, edits)
        self.tree = tree
        self._records = base
        self._location = location
        self._columns: dict[str, Column] = {}

    def column(self, name: str) -> Column:
        """One of RECORD_COLUMNS for all records. Raises DamagedFile."""
        if name not in self._columns:
            joined = self._records.column(name).join(self._added_columns[name])
            self._columns[name] = joined.take(self._source)
        return self._columns[name]

    def folder(self, folder: bytes) -> range:
        """The entries below a folder, `v1/notes`."""
        return _below(self.path, len(self), folder)

    @cached_property
    def _added_columns(self) -> dict[str, Column]:
        with ProgramReader(self._location) as reader:
            told = [
                record_values(data or b"") for _, data in reader.read_many(entry.oid.hex() for entry in self._added)
            ]
        return {name: Column.from_texts([facts[place] for facts in told]) for place, name in enumerate(RECORD_COLUMNS)}

    @cached_property
    def _added_postings(self) -> dict[str, Postings]:
        return _no_words()


Records = RecordsView | EditedRecords


def open_records(location: Location, file: Path | None, tree: str, *, keep: bool, check: bool = False) -> Records:
    """The records of a tree: those of `file` with what changed since, written there anew where `keep` says so and much
    has. Without a file nothing is known before; `check` reads every checksum of it first. Raises: GitFailed.
    """
    base = _find(file, check) if file else None
    if base is not None and base.tree == tree:
        return base
    edits = _edits(location, base, tree) if base is not None else None
    if base is not None and edits is not None and len(edits) <= min(_MOST_EDITS, len(base) // _EDITS_SHARE):
        return EditedRecords(base, tree, edits, location)
    if base is None or edits is None:
        base, edits = _no_records(), {PREFIX + found.path: _entry(found) for found in read_tree(location, tree)}
    view = EditedRecords(base, tree, edits, location)
    if file is None or not keep:
        return view
    parts = _parts(view)
    with suppress(StorageFailed):
        write_atomic(file, [memoryview(part) for part in parts])
    return RecordsView(Container(file, MAGIC, b"".join(parts)))


def record_values(data: bytes) -> tuple[str, ...]:
    """What is known of a record, in the order of RECORD_COLUMNS; nothing of what is none."""
    try:
        record = parse_record(data, "")
    except (DamagedFile, NewerFormat):
        return ("",) * len(RECORD_COLUMNS)
    told = {name: _as_text(value) for name, value in record.fields.items()}
    time, stored = told.get("time", ""), told.get("stored", "")
    facts = {
        **told,
        "source": told.get("source_system", ""),
        "conversation": record.id if record.kind == TURN else told.get("conversation", ""),
        "time": time or stored,
        "stored": stored or time,
    }
    return tuple(facts.get(name, "") for name in RECORD_COLUMNS)


def _as_text(value: object) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def _find(file: Path, check: bool) -> RecordsView | None:
    with suppress(DamagedFile, NewerFormat):
        container = find_container(file, MAGIC)
        if container is None:
            return None
        if check:
            container.check()
        return RecordsView(container)
    return None


def _no_records() -> RecordsView:
    fields, sections = view_contents("", [], _no_words())
    empty = column_sections({name: Column.from_texts([]) for name in RECORD_COLUMNS})
    return RecordsView(Container(Path(), MAGIC, b"".join(build_container(MAGIC, fields, sections | empty))))


def _parts(view: EditedRecords) -> list[Buffer]:
    """A view as the parts of its file."""
    oids = (oid.tobytes() for oid in view.oids)
    entries = [ViewEntry(path, oid, RECORD_LANGUAGE, INDEXED) for path, oid in zip(view.paths, oids, strict=True)]
    fields, sections = view_contents(view.tree, entries, _no_words())
    return build_container(
        MAGIC, fields, sections | column_sections({name: view.column(name) for name in RECORD_COLUMNS})
    )


def _below(path: Callable[[int], bytes], entries: int, folder: bytes) -> range:
    """Entries are in path order, so those of a folder stand together."""
    start = bisect_left(range(entries), PREFIX + folder + b"/", key=path)
    return range(start, bisect_left(range(entries), PREFIX + folder + b"0", start, key=path))


def _edits(location: Location, base: View, tree: str) -> dict[bytes, ViewEntry | None] | None:
    """What changed since the base; None where git does not have its tree any more."""
    with suppress(GitFailed):
        changes = diff_trees(location, base.tree, tree)
        return {
            PREFIX + change.path: _entry(TreeEntry(change.path, 0, change.oid)) if change.oid else None
            for change in changes
        }
    return None


def _entry(found: TreeEntry) -> ViewEntry:
    return ViewEntry(PREFIX + found.path, bytes.fromhex(found.oid), RECORD_LANGUAGE, INDEXED)


def _no_words() -> dict[str, Postings]:
    none = np.zeros(0, np.int32)
    return {field: Postings([], none, none, np.zeros(0, np.uint8)) for field in PATH_FIELDS}


class JoinedView(View):
    """The paths of a view of files and behind them those of records."""

    def __init__(self, first: View, records: Records) -> None:
        self.tree = first.tree
        self._parts: Sequence[View] = (first, records)
        self.records = records
        self.first_count = len(first)
        self._count = len(first) + len(records)
        known = {name: code for code, name in enumerate(first.languages)}
        self._second_codes = np.array([known.setdefault(name, len(known)) for name in records.languages], np.uint16)
        self.languages = list(known)

    def check(self) -> None:
        for part in self._parts:
            part.check()

    @cached_property
    def oids(self) -> NDArray[np.uint8]:
        return np.concatenate([part.oids for part in self._parts if len(part)] or [self._parts[0].oids])

    @cached_property
    def language_codes(self) -> NDArray[np.uint16]:
        first, second = self._parts
        if not len(second):
            return first.language_codes
        return np.concatenate([first.language_codes, self._second_codes[second.language_codes]])

    @cached_property
    def reasons(self) -> NDArray[np.uint8]:
        return np.concatenate([part.reasons for part in self._parts])

    def path(self, entry: int) -> bytes:
        first, second = self._parts
        return first.path(entry) if entry < len(first) else second.path(entry - len(first))

    def find(self, path: bytes) -> int | None:
        first, second = self._parts
        place = second.find(path) if path.startswith(PREFIX) else first.find(path)
        return place if place is None or not path.startswith(PREFIX) else place + len(first)

    @cached_property
    def paths(self) -> list[bytes]:
        return [path for part in self._parts for path in part.paths]

    def find_postings(self, field: str, term: bytes) -> NDArray[np.unsignedinteger] | None:
        return self._parts[0].find_postings(field, term)

    def load_postings(self, field: str) -> Postings:
        return self._parts[0].load_postings(field)

    def below(self, folders: Sequence[bytes]) -> NDArray[np.bool_]:
        """Which entries are records below some folders, [entries]."""
        told = np.zeros(len(self), bool)
        for folder in folders:
            found = self.records.folder(folder)
            told[self.first_count + found.start : self.first_count + found.stop] = True
        return told
