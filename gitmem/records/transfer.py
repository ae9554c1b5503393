"""Export records as JSON Lines, and import them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from gitmem.errors import UsageError
from gitmem.freshness.record_refresh import index_records
from gitmem.git.ids import object_id
from gitmem.memory.bounds import current_time
from gitmem.memory.conversation import Turn, turn_record
from gitmem.memory.document import document_record
from gitmem.memory.json_lines import Item, format_item, parse_item
from gitmem.memory.note import Note, load_note, note_record
from gitmem.memory.record_paths import document_path, is_note_id, new_note_id, note_path, turn_path
from gitmem.memory.record_store import Changes, RecordStore, Tip
from gitmem.memory.shared_state import read_shared
from gitmem.named_tuple import NamedTuple
from gitmem.record import Record, format_record, parse_record
from gitmem.records.documents import cut_document, place_document
from gitmem.secrets.refusal import refuse_secrets
from gitmem.workspace import Workspace

_MAX_REPORTED: Final = 5


class BadLine(NamedTuple):
    """Line that was not imported. `number` counts from 1."""

    number: int
    reason: str


class ImportResult(NamedTuple):
    """Numbers of records that are new or changed, and that were already stored; skipped lines; notices for the user."""

    written: int
    unchanged: int
    bad: list[BadLine]
    notices: list[str]


def export_records(workspace: Workspace) -> Iterator[str]:
    """Yield every record as a line, in the order of the paths. Raises DamagedFile."""
    with RecordStore(workspace.location) as store:
        for record in store.read_records(store.entries(store.tip())):
            yield format_item(record)


def import_records(
    workspace: Workspace, lines: Iterable[str], *, partial: bool = False, allow_secrets: bool = False
) -> ImportResult:
    """Import lines in one commit. A bad line prevents the whole import; with `partial` only that line is skipped.

    A note without an id gets a new one. A note with an id, and a turn, replaces the record with that id or number. A
    document replaces the one from its source. Its id follows from source or content; one in the line is ignored.

    Raises: UsageError, GitFailed, StorageFailed.
    """
    items, bad = parse_lines(enumerate(lines, 1), allow_secrets=allow_secrets)
    if bad and not partial:
        raise _refusal(bad)
    return write_items(workspace, items)._replace(bad=bad)


def write_items(workspace: Workspace, items: Sequence[Item], *, dry_run: bool = False) -> ImportResult:
    """Store items in one commit, and count those that are new or changed; with `dry_run` only count.

    A note with an id but without a time keeps the time of the same note in the memory.

    Raises: UsageError, GitFailed, StorageFailed.
    """
    # Cutting documents is slow, so it is done before the memory is locked.
    ready = [_complete(item) for item in items]
    timeless = {item.id for item in items if isinstance(item, Note) and not item.time}
    written = total = 0
    with RecordStore(workspace.location) as store:

        def write(tip: Tip) -> Changes:
            nonlocal written, total
            blobs = _build_blobs(store, tip, [_keep_time(store, tip, item, timeless) for item in ready])
            changes = {path: data for path, data in blobs.items() if store.find_data(tip, path) != data}
            _refuse_purged(workspace, store, changes)
            written, total = len(changes), len(blobs)
            return {} if dry_run else changes

        store.change(lambda: f"import: {written}", write)
    notices = [] if dry_run else index_records(workspace)[0]
    return ImportResult(written, total - written, [], notices)


def _keep_time(store: RecordStore, tip: Tip, item: Item, timeless: Collection[str]) -> Item:
    """Return a note without a time of its own with that of the same note in the memory, so that it is unchanged."""
    if not isinstance(item, Note) or item.id not in timeless:
        return item
    record = store.find_record(tip, note_path(item.id))
    known = load_note(record) if record else None
    return known if known is not None and known == item._replace(time=known.time) else item


def parse_lines(lines: Iterable[tuple[int, str]], *, allow_secrets: bool = False) -> tuple[list[Item], list[BadLine]]:
    """Parse numbered lines that are not blank; return their items, and the lines with an error."""
    items: list[Item] = []
    bad: list[BadLine] = []
    for number, line in lines:
        if not line.strip():
            continue
        try:
            item = parse_item(line)
            if isinstance(item, Note) and item.id and not is_note_id(item.id):
                raise UsageError(f"`{item.id[:40]}` is not the id of a note")
            if not allow_secrets:
                # The content is searched by itself, so that the message has the line of the secret in it.
                refuse_secrets(item.content, "record", item._replace(content=""))
            items.append(item)
        except UsageError as error:
            bad.append(BadLine(number, error.message))
    return items, bad


def _refusal(bad: list[BadLine]) -> UsageError:
    reasons = "; ".join(f"line {line.number}: {line.reason}" for line in bad[:_MAX_REPORTED])
    more = f"; and {len(bad) - _MAX_REPORTED} more lines" if len(bad) > _MAX_REPORTED else ""
    return UsageError(f"nothing was imported: {reasons}{more}", hint="correct these lines, or skip them: --partial")


def _complete(item: Item) -> Item:
    """Return an item with the id and time that its line lacks; a document is cut into chunks."""
    now = current_time()
    if isinstance(item, Note):
        return item._replace(id=item.id or new_note_id(), time=item.time or now)
    if isinstance(item, Turn):
        return item  # without a time of its own, so that the next import of the line finds it unchanged
    return cut_document(item.content, item.fields)._replace(stored=item.stored or now)


def _refuse_purged(workspace: Workspace, store: RecordStore, blobs: Mapping[bytes, bytes]) -> None:
    """Refuse what a purge removed: the next sync would remove it again. Raises UsageError."""
    purged = read_shared(workspace.location, store).purged
    for path, data in blobs.items():
        if purged and object_id("blob", data, workspace.location.object_format) in purged:
            name = path.rpartition(b"/")[2].decode()
            raise UsageError(f"nothing was imported: `{name}` was purged for everybody", hint="change its text or time")


def _build_blobs(store: RecordStore, tip: Tip, items: Iterable[Item]) -> dict[bytes, bytes]:
    """Return the imported records by path; the last of several with the same path wins."""
    blobs: dict[bytes, bytes] = {}

    def find(path: bytes) -> Record | None:
        # An earlier line of this import may have the same source.
        return parse_record(blobs[path], path.decode()) if path in blobs else store.find_record(tip, path)

    for item in items:
        if isinstance(item, Note):
            blobs[note_path(item.id)] = format_record(note_record(item))
        elif isinstance(item, Turn):
            blobs[turn_path(item.conversation, item.number)] = format_record(turn_record(item))
        else:
            document, _ = place_document(find, item, item.fields._asdict())
            blobs[document_path(document.id)] = format_record(document_record(document))
    return blobs
