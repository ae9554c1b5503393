"""Documents: take one in, give it back, list them, drop those whose time is over."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from gitmem.errors import UnknownRecord
from gitmem.freshness.record_refresh import index_records
from gitmem.memory.bounds import check_choice, check_count, current_time
from gitmem.memory.document import (
    DOCUMENT_TYPES,
    Document,
    DocumentFields,
    check_content,
    check_fields,
    chunk_id,
    document_record,
    load_document,
)
from gitmem.memory.note import LIST_DEFAULT, MAX_LIST
from gitmem.memory.record_paths import DOCUMENTS, document_ids, document_path
from gitmem.memory.record_store import Changes, RecordStore, Tip
from gitmem.memory.secrets import refuse_secrets
from gitmem.memory.text_breaks import find_breaks
from gitmem.memory.text_windows import cut_windows
from gitmem.record import Record, format_record
from gitmem.records.filters import RecordFilters
from gitmem.records.listing import newest_records, read_expired
from gitmem.workspace import Workspace

CREATED = "created"
UPDATED = "updated"
UNCHANGED = "unchanged"


class Ingested(NamedTuple):
    """What became of a document: `status` is created, updated or unchanged."""

    document: Document
    status: str

    @property
    def chunk_ids(self) -> list[str]:
        """Ids of its chunks, none where it stays in one piece."""
        return [chunk_id(self.document, number) for number in range(len(self.document.chunks))]


def add_document(
    workspace: Workspace,
    content: str,
    given: Mapping[str, Any],
    *,
    allow_secrets: bool = False,
    notes: list[str] | None = None,
) -> Ingested:
    """Take a document in, or replace what came from the same source before; `given` are fields of DocumentFields.

    Same source, same content and no other fields: nothing happens. Fields that are not given stay as they were. On
    return it is on the disk and searchable, or `notes` are told why not.
    Raises UsageError, GitFailed, StorageFailed.
    """
    told = check_fields(DocumentFields(**given))
    new = cut_document(check_content(content), told)
    if not allow_secrets:
        refuse_secrets(content, "document", told)
    made = Ingested(new, CREATED)
    with RecordStore(workspace.location) as store:

        def put(tip: Tip) -> Changes:
            nonlocal made
            made = place_document(lambda path: store.find_record(tip, path), new, given)
            record = document_record(made.document)
            return {} if made.status == UNCHANGED else {document_path(made.document.id): format_record(record)}

        store.change(f"document {told.source}: {_subject(told)}", put)
    index_records(workspace, notes)
    return made


def cut_document(content: str, fields: DocumentFields) -> Document:
    """A document without id, cut into chunks where it is long."""
    from gitmem.embedding.tokens import TokenCounter

    counter = TokenCounter()
    starts = counter.starts(content)
    chunks = cut_windows(len(content), starts, find_breaks(content))
    return Document("", fields, content, current_time(), len(starts), counter.name, chunks)


def place_document(find: Callable[[bytes], Record | None], new: Document, given: Mapping[str, Any]) -> Ingested:
    """Give a document its id: that of the same source, else the first that is free. `find` looks a path up."""
    fields = new.fields
    for identity in document_ids(fields.source, fields.source_id, new.content.encode()):
        record = find(document_path(identity))
        if record is None:
            return Ingested(new._replace(id=identity), CREATED)
        old = load_document(record)
        if _same_source(old, new):
            return _replace(old, new, given)
    raise AssertionError("the last id is that of the source and the content themselves")


def _same_source(old: Document, new: Document) -> bool:
    same = old.fields.source, old.fields.source_id
    return same == (new.fields.source, new.fields.source_id) and (bool(same[1]) or old.content == new.content)


def _replace(old: Document, new: Document, given: Mapping[str, Any]) -> Ingested:
    checked = new.fields._asdict()
    fields = old.fields._replace(**{name: checked[name] for name in given})
    if old.content == new.content:
        return Ingested(old._replace(fields=fields), UNCHANGED if fields == old.fields else UPDATED)
    return Ingested(new._replace(id=old.id, fields=fields), UPDATED)


def _subject(fields: DocumentFields) -> str:
    """A line for the history."""
    return " ".join((fields.source_id or fields.title or "without a name").split())[:100]


def get_document(workspace: Workspace, identity: str) -> Document:
    """A document with its content. Raises UnknownRecord, DamagedFile."""
    with RecordStore(workspace.location) as store:
        record = store.find_record(store.tip(), document_path(identity)) if identity.startswith("art_") else None
    if record is None:
        raise UnknownRecord(f"there is no document `{identity}`", hint="gitmem doc list")
    return load_document(record)


def list_documents(workspace: Workspace, *, type_: str = "", limit: int = LIST_DEFAULT) -> list[Document]:
    """Documents, those that came in last first, of one type or of all. Raises UsageError, DamagedFile."""
    check_count("limit", limit, 1, MAX_LIST)
    if type_:
        check_choice("type", type_, DOCUMENT_TYPES)
    limits = RecordFilters(type=(type_,) if type_ else ())
    return [load_document(record) for record in newest_records(workspace, DOCUMENTS, limits, limit)]


def prune_expired(workspace: Workspace, *, dry_run: bool = False) -> list[Document]:
    """Delete the documents whose retention has run out; returns them. Raises GitFailed, StorageFailed, DamagedFile."""
    expired: list[Document] = []
    with RecordStore(workspace.location) as store:

        def prune(tip: Tip) -> Changes:
            expired[:] = map(load_document, read_expired(workspace, store, tip, datetime.now(UTC)))
            return {} if dry_run else {document_path(document.id): None for document in expired}

        store.change("documents: prune", prune)
    return expired
