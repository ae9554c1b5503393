"""Add documents, get them by id, list them, delete the expired ones."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from gitmem.errors import GitmemError, UnknownRecord, UsageError
from gitmem.freshness.record_refresh import index_records
from gitmem.memory.bounds import check_choice, check_count, current_time
from gitmem.memory.document import (
    DOCUMENT_TYPES,
    MANUAL,
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
from gitmem.memory.text_breaks import find_breaks
from gitmem.memory.text_windows import cut_windows
from gitmem.named_tuple import NamedTuple
from gitmem.record import Record, format_record
from gitmem.records.abbreviated_ids import complete_id
from gitmem.records.filters import RecordFilters
from gitmem.records.listing import newest_records, read_expired
from gitmem.secrets.refusal import refuse_secrets
from gitmem.workspace import Workspace

CREATED = "created"
UPDATED = "updated"
UNCHANGED = "unchanged"


class AddedDocument(NamedTuple):
    """Document as stored, with the status created, updated or unchanged, and notices for the user."""

    document: Document
    status: str
    notices: list[str]

    @property
    def chunk_ids(self) -> list[str]:
        """Ids of its chunks; none if it is not cut."""
        return [chunk_id(self.document, number) for number in range(len(self.document.chunks))]


def add_document(
    workspace: Workspace, content: str, given: Mapping[str, Any], *, allow_secrets: bool = False
) -> AddedDocument:
    """Store a document, or replace the one from the same source. `given` are fields of DocumentFields.

    Fields of the earlier document that are not given stay. If the content and all given fields are the same, nothing is
    stored. On return the document is durable, and searchable unless a notice says why not.

    Raises: UsageError, GitFailed, StorageFailed.
    """
    fields = check_fields(DocumentFields(**given))
    # Cutting a long text takes seconds, so it is done before the memory is locked.
    new = cut_document(check_content(content), fields)
    if not allow_secrets:
        refuse_secrets(content, "document", fields)
    document, status = new, CREATED
    with RecordStore(workspace.location) as store:

        def add(tip: Tip) -> Changes:
            nonlocal document, status
            document, status = place_document(lambda path: store.find_record(tip, path), new, given)
            record = document_record(document)
            return {} if status == UNCHANGED else {document_path(document.id): format_record(record)}

        store.change(f"document {fields.source}: {_subject(fields)}", add)
    notices, _ = index_records(workspace)
    return AddedDocument(document, status, notices)


def cut_document(content: str, fields: DocumentFields) -> Document:
    """Return a document without an id, cut into chunks if it is long."""
    from gitmem.embedding.tokens import TokenCounter  # imported here because it loads the tokenizer's library

    counter = TokenCounter()
    starts = counter.starts(content)
    chunks = cut_windows(len(content), starts, find_breaks(content))
    return Document("", fields, content, current_time(), len(starts), counter.name, chunks)


def place_document(
    find: Callable[[bytes], Record | None], new: Document, given: Mapping[str, Any]
) -> tuple[Document, str]:
    """Return a document with its id, merged with the one it replaces, and the status. `find` reads a record by path.

    The id is that of the earlier document from the same source, otherwise the first free one.
    """
    fields = new.fields
    for identity in document_ids(fields.source, fields.source_id, new.content.encode()):
        record = find(document_path(identity))
        if record is None:
            return new._replace(id=identity), CREATED
        old = load_document(record)
        if _same_source(old, new):
            return _replace(old, new, given)
        # The short hashes of two sources collide: try the next, longer one.
    raise AssertionError("the last id is a hash of the source and the content themselves")


def _same_source(old: Document, new: Document) -> bool:
    """Return whether two documents are from the same source. Without a source id, the content is the source."""
    source = old.fields.source, old.fields.source_id
    return source == (new.fields.source, new.fields.source_id) and (bool(source[1]) or old.content == new.content)


def _replace(old: Document, new: Document, given: Mapping[str, Any]) -> tuple[Document, str]:
    # The values of `new` are checked and normalised; `given` only decides which of them replace the old ones.
    checked = new.fields._asdict()
    fields = old.fields._replace(**{name: checked[name] for name in given})
    if old.content == new.content:
        return old._replace(fields=fields), UNCHANGED if fields == old.fields else UPDATED
    return new._replace(id=old.id, fields=fields), UPDATED


def _subject(fields: DocumentFields) -> str:
    """Return one line for the log: the source id or the title."""
    return " ".join((fields.source_id or fields.title or "without a name").split())[:100]


def get_document(workspace: Workspace, name: str) -> Document:
    """Return a document with its content, by its id or as `find_named_document`. Raises UnknownRecord, DamagedFile."""
    with RecordStore(workspace.location) as store:
        tip = store.tip()
        record = store.find_record(tip, document_path(_document_id(store, tip, name)))
    if record is None:
        raise _no_document(name)
    return load_document(record)


def document_ids_of(workspace: Workspace, names: Sequence[str]) -> list[str]:
    """Return the ids of documents that are named as for `get_document`. Raises: as that."""
    with RecordStore(workspace.location) as store:
        tip = store.tip()
        return [_document_id(store, tip, name) for name in names]


def find_named_document(store: RecordStore, tip: Tip, name: str) -> str:
    """Return the id of the document with a source id: `ID` of a document added by hand, or `SOURCE:ID`; else "".

    `ID` alone has precedence, as it was given in this form.
    """
    for origin in (f"{MANUAL}:{name}", name):
        source, colon, source_id = origin.partition(":")
        # The ids of a source are derived from both, joined by a colon: it does not matter which colon is the joint.
        for identity in document_ids(source, source_id, b"") if colon and source_id else ():
            record = store.find_record(tip, document_path(identity))
            if record is None:
                break
            fields = load_document(record).fields
            if fields.source_id and f"{fields.source}:{fields.source_id}" == origin:
                return identity
    return ""


def _document_id(store: RecordStore, tip: Tip, name: str) -> str:
    """Return the id of a named document. An id and its abbreviation have precedence. Raises: as `get_document`."""
    problem: GitmemError = _no_document(name)
    if name.startswith("art_"):
        try:
            return complete_id(store, tip, name)
        except UsageError as error:
            problem = error
    found = find_named_document(store, tip, name)
    if not found:
        raise problem
    return found


def _no_document(name: str) -> UnknownRecord:
    return UnknownRecord(f"no such document: `{name}`", hint="gitmem doc list")


def list_documents(
    workspace: Workspace, *, type_: str = "", name: str = "", limit: int = LIST_DEFAULT
) -> list[Document]:
    """Return documents, the last stored first: of one type, with one id or source id, or all of them.

    Raises: UsageError, DamagedFile.
    """
    check_count("limit", limit, 1, MAX_LIST)
    if type_:
        check_choice("type", type_, DOCUMENT_TYPES)
    if name:
        try:
            document = get_document(workspace, name)
        except UnknownRecord:
            return []
        return [document] if type_ in ("", document.fields.type) else []
    filters = RecordFilters(type=(type_,) if type_ else ())
    return [load_document(record) for record in newest_records(workspace, DOCUMENTS, filters, limit)]


def prune_expired(workspace: Workspace, *, dry_run: bool = False) -> list[Document]:
    """Delete the documents whose retention has ended, and return them. Raises GitFailed, StorageFailed, DamagedFile."""
    expired: list[Document] = []
    with RecordStore(workspace.location) as store:

        def prune(tip: Tip) -> Changes:
            # Assigned, not appended: the edit is computed again if another writer comes first.
            expired[:] = map(load_document, read_expired(workspace, store, tip, datetime.now(UTC)))
            return {} if dry_run else {document_path(document.id): None for document in expired}

        store.change("documents: prune", prune)
    return expired
