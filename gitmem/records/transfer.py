"""Records out as JSON Lines and in again."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gitmem.errors import UsageError
from gitmem.freshness.record_refresh import index_records
from gitmem.memory.bounds import current_time
from gitmem.memory.conversation import Turn, turn_record
from gitmem.memory.document import document_record
from gitmem.memory.json_lines import Item, format_item, parse_item
from gitmem.memory.note import Note, note_record
from gitmem.memory.record_paths import document_path, is_note_id, new_note_id, note_path, turn_path
from gitmem.memory.record_store import Changes, RecordStore, Tip
from gitmem.memory.secrets import refuse_secrets
from gitmem.record import Record, format_record, parse_record
from gitmem.records.documents import cut_document, place_document
from gitmem.workspace import Workspace

_PROBLEMS_TOLD = 5


class BadLine(NamedTuple):
    """A line that was not taken; `number` counts from 1."""

    number: int
    reason: str


class Imported(NamedTuple):
    """What an import did: records that are new or changed, those that were there already, and lines left out."""

    written: int
    unchanged: int
    bad: list[BadLine]


def export_records(workspace: Workspace) -> Iterator[str]:
    """Every record as a line, in the order of the paths. Raises DamagedFile."""
    with RecordStore(workspace.location) as store:
        for record in store.read_records(store.entries(store.tip())):
            yield format_item(record)


def import_records(
    workspace: Workspace,
    lines: Iterable[str],
    *,
    partial: bool = False,
    allow_secrets: bool = False,
    notes: list[str] | None = None,
) -> Imported:
    """Take lines in, in one commit. A bad line keeps all out, unless `partial`; then it alone is left out.

    A note without id gets a new one, and takes the place of the one with its id; a turn that of its number. A document
    takes the place of what came from its source; its id follows from that, or from its content, whatever the line says.
    Raises UsageError, GitFailed, StorageFailed.
    """
    items, bad = _parse(lines, allow_secrets=allow_secrets)
    if bad and not partial:
        raise _refused(bad)
    ready = [_complete(item) for item in items]
    written = total = 0
    with RecordStore(workspace.location) as store:

        def put(tip: Tip) -> Changes:
            nonlocal written, total
            blobs = _blobs(store, tip, ready)
            changes = {path: data for path, data in blobs.items() if store.find_data(tip, path) != data}
            written, total = len(changes), len(blobs)
            return changes

        store.change(f"import: {len(ready)}", put)
    index_records(workspace, notes)
    return Imported(written, total - written, bad)


def _parse(lines: Iterable[str], *, allow_secrets: bool) -> tuple[list[Item], list[BadLine]]:
    items: list[Item] = []
    bad: list[BadLine] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            item = parse_item(line)
            if isinstance(item, Note) and item.id and not is_note_id(item.id):
                raise UsageError(f"`{item.id[:40]}` is no id of a note")
            if not allow_secrets:
                refuse_secrets(item.content, "record", item._replace(content=""))
            items.append(item)
        except UsageError as problem:
            bad.append(BadLine(number, problem.message))
    return items, bad


def _refused(bad: list[BadLine]) -> UsageError:
    told = "; ".join(f"line {line.number}: {line.reason}" for line in bad[:_PROBLEMS_TOLD])
    more = f"; and {len(bad) - _PROBLEMS_TOLD} more lines" if len(bad) > _PROBLEMS_TOLD else ""
    return UsageError(f"nothing was imported: {told}{more}", hint="mend them, or leave them out: --partial")


def _complete(item: Item) -> Item:
    """Ids and times that a line does not tell; documents are cut. This is slow and done before the memory is locked."""
    now = current_time()
    if isinstance(item, Note):
        return item._replace(id=item.id or new_note_id(), time=item.time or now)
    if isinstance(item, Turn):
        return item  # one whose time nobody knows is the same again the next time
    return cut_document(item.content, item.fields)._replace(stored=item.stored or now)


def _blobs(store: RecordStore, tip: Tip, items: Iterable[Item]) -> dict[bytes, bytes]:
    """Paths and records of what is imported; of two with one path the later counts."""
    blobs: dict[bytes, bytes] = {}

    def find(path: bytes) -> Record | None:
        return parse_record(blobs[path], path.decode()) if path in blobs else store.find_record(tip, path)

    for item in items:
        if isinstance(item, Note):
            blobs[note_path(item.id)] = format_record(note_record(item))
        elif isinstance(item, Turn):
            blobs[turn_path(item.conversation, item.number)] = format_record(turn_record(item))
        else:
            document = place_document(find, item, item.fields._asdict()).document
            blobs[document_path(document.id)] = format_record(document_record(document))
    return blobs
