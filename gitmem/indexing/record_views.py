"""The memory's records as a view, so that one index and one search serve both files and records.

The path of a record is written in git's syntax for a revision and path, `refs/gitmem/memory:v1/notes/...`, which no
file of a tree can have. Paths of records are not searchable by term. The view also holds metadata of each record as
columns, so that filters and lists need not read records.
"""

from bisect import bisect_left
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Final

from gitmem.errors import DamagedFile, GitFailed, NewerFormat, StorageFailed
from gitmem.fsio import write_atomic
from gitmem.git.batch import ProgramReader
from gitmem.git.locate import RepositoryLocation
from gitmem.git.trees import TreeEntry, diff_trees, read_tree
from gitmem.record import parse_record
from gitmem.store.format import Buffer, Container, build_container, find_container
from gitmem.store.overlaid_view import EditedEntries, Edits, OverlaidView, locate_edits
from gitmem.store.path_postings import NO_POSTINGS, PATH_FIELDS
from gitmem.store.postings import Postings
from gitmem.store.record_columns import (
    RECORD_COLUMNS,
    Column,
    column_sections,
    has_columns,
    load_column,
)
from gitmem.store.section import damaged
from gitmem.store.view_file import INDEXED, View, ViewEntry, load_view, view_contents
from gitmem.types import RECORD_LANGUAGE, TURN

MAGIC: Final = b"GITMEMRC"
PREFIX: Final = b"refs/gitmem/memory:"
_MAX_EDITS: Final = 500
_RECORDS_PER_EDIT: Final = 200
"""Limits of the changes that are laid over the file of the view: at most 500, and one per 200 records.

With more changes the file is rewritten, because every query would sort them in again and read their records.
"""


class RecordsView(View):
    """Records of a tree as stored in a file."""

    def __init__(self, container: Container) -> None:
        super().__init__(container)
        if not has_columns(container):
            raise damaged(container.path, "it lacks the metadata of the records")
        self._columns: dict[str, Column] = {}

    def column(self, name: str) -> Column:
        """Return one of RECORD_COLUMNS for all records. Raises DamagedFile."""
        if name not in self._columns:
            self._columns[name] = load_column(self._file, name, len(self))
        return self._columns[name]

    def folder(self, folder: bytes) -> range:
        """Return the entries below a folder such as `v1/notes`."""
        return _below(self.path, len(self), folder)


class EditedRecords(OverlaidView):
    """Records of a tree as edits of a stored view; metadata of edited records is read when a column is first used."""

    def __init__(self, base: RecordsView, tree: str, edits: EditedEntries, location: RepositoryLocation) -> None:
        located = locate_edits(base, edits)
        added = load_view(Path("records"), tree, located.added, _no_postings())
        super().__init__(base, Edits(added, located.places, located.removed), tree)
        self._records = base
        self._location = location
        self._columns: dict[str, Column] = {}

    def column(self, name: str) -> Column:
        """Return one of RECORD_COLUMNS for all records. Raises DamagedFile."""
        if name not in self._columns:
            joined = self._records.column(name).join(self._added_columns[name])
            self._columns[name] = joined.take(self._source)
        return self._columns[name]

    def folder(self, folder: bytes) -> range:
        """Return the entries below a folder such as `v1/notes`."""
        return _below(self.path, len(self), folder)

    @cached_property
    def _added_columns(self) -> dict[str, Column]:
        with ProgramReader(self._location) as reader:
            oids = map(self._added.oid, range(len(self._added)))
            records = [record_values(data or b"") for _, data in reader.read_many(oids)]
        return {name: Column.from_texts([record[at] for record in records]) for at, name in enumerate(RECORD_COLUMNS)}


Records = RecordsView | EditedRecords


def open_records(
    location: RepositoryLocation,
    file: Path | None,
    tree: str,
    *,
    keep: bool,
    check: bool = False,
    records_per_edit: int = _RECORDS_PER_EDIT,
) -> Records:
    """Return the records of a tree: those stored in `file`, with the changes since then.

    With `keep` the file is rewritten after more than one change per `records_per_edit` records, or after many. `check`
    verifies all of its checksums first. Without a file all records are read. Raises: GitFailed.
    """
    base = _find(file, check) if file else None
    if base is not None and base.tree == tree:
        return base
    edits = _edits(location, base, tree) if base is not None else None
    if base is not None and edits is not None and len(edits) <= min(_MAX_EDITS, len(base) // records_per_edit):
        return EditedRecords(base, tree, edits, location)
    if base is None or edits is None:
        base, edits = _no_records(), {PREFIX + entry.path: _view_entry(entry) for entry in read_tree(location, tree)}
    # A view without a file is all edits of an empty view, so there is one way to read records.
    view = EditedRecords(base, tree, edits, location)
    if file is None or not keep:
        return view
    parts = _file_parts(view)
    # No lock: every writer publishes a complete view, and readers compare its tree with the one they need.
    with suppress(StorageFailed):
        write_atomic(file, [memoryview(part) for part in parts])
    return RecordsView(Container(file, MAGIC, b"".join(parts)))


def record_values(data: bytes) -> tuple[str, ...]:
    """Return the metadata of a record in the order of RECORD_COLUMNS; empty texts if the data is not a record."""
    try:
        record = parse_record(data, "")
    except (DamagedFile, NewerFormat):
        return ("",) * len(RECORD_COLUMNS)
    fields = {name: _as_text(value) for name, value in record.fields.items()}
    time, stored = fields.get("time", ""), fields.get("stored", "")
    values = {
        **fields,
        "source": fields.get("source_system", ""),
        "conversation": record.id if record.kind == TURN else fields.get("conversation", ""),
        "time": time or stored,
        "stored": stored or time,
    }
    return tuple(values.get(name, "") for name in RECORD_COLUMNS)


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
    fields, sections = view_contents("", [], _no_postings())
    empty = column_sections({name: Column.from_texts([]) for name in RECORD_COLUMNS})
    return RecordsView(Container(Path(), MAGIC, b"".join(build_container(MAGIC, fields, sections | empty))))


def _file_parts(view: EditedRecords) -> list[Buffer]:
    """Return the content of a view's file, in parts."""
    fields, sections = view_contents(view.tree, view.columns(), _no_postings())
    return build_container(
        MAGIC, fields, sections | column_sections({name: view.column(name) for name in RECORD_COLUMNS})
    )


def _below(path: Callable[[int], bytes], entries: int, folder: bytes) -> range:
    # Entries are in path order, so those of a folder are adjacent; "0" follows "/" in ASCII.
    start = bisect_left(range(entries), PREFIX + folder + b"/", key=path)
    return range(start, bisect_left(range(entries), PREFIX + folder + b"0", start, key=path))


def _edits(location: RepositoryLocation, base: View, tree: str) -> dict[bytes, ViewEntry | None] | None:
    """Return the changes from the tree of the base; None if git no longer has that tree."""
    with suppress(GitFailed):
        changes = diff_trees(location, base.tree, tree)
        return {
            PREFIX + change.path: _view_entry(TreeEntry(change.path, 0, change.oid)) if change.oid else None
            for change in changes
        }
    return None


def _view_entry(entry: TreeEntry) -> ViewEntry:
    return ViewEntry(PREFIX + entry.path, bytes.fromhex(entry.oid), RECORD_LANGUAGE, INDEXED)


def _no_postings() -> dict[str, Postings]:
    return dict.fromkeys(PATH_FIELDS, NO_POSTINGS)
