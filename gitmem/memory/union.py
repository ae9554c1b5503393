"""Records of the union of all writers, and the changes of a clone that the union lacks. Pure, but for the given reader.

Of a record that was changed concurrently every content is a record of its own: the newest under the record's id, each
other one under an id made of a hash, with the id of the record in `variant_of`. Deleting one of them chooses another.
"""

import hashlib
from collections.abc import Callable, Collection, Mapping
from typing import Final

from gitmem.git.ids import object_id
from gitmem.memory.note import MAX_CONVERSATION
from gitmem.memory.record_paths import document_path, note_path, turn_path
from gitmem.memory.versions import State, Version, contents, succeed
from gitmem.named_tuple import NamedTuple
from gitmem.record import Record, format_record, parse_record
from gitmem.types import NOTE, TURN

VARIANT_OF: Final = "variant_of"
"""Field of a record with the id of the one that was changed concurrently."""


class Placed(NamedTuple):
    """Record of the union as the memory has it: the record's own path, its content, and its blob.

    `data` are the bytes of a blob that is not stored yet, None for the content itself.
    """

    path: bytes
    content: str
    oid: str
    data: bytes | None = None


def place_records(
    union: State, purged: Collection[str], read: Callable[[str], bytes], object_format: str
) -> dict[bytes, Placed]:
    """Return the records of a union by the paths under which the memory has them, without purged contents.

    `read` returns a blob's bytes.
    """
    placed: dict[bytes, Placed] = {}
    for path, versions in union.items():
        found = contents(versions, purged)
        if len(found) > 1:
            placed |= _place_variants(path, {oid: read(oid) for oid in found}, object_format)
        elif found:
            placed[path] = Placed(path, found[0], found[0])
    return placed


def _place_variants(path: bytes, data: Mapping[str, bytes], object_format: str) -> dict[bytes, Placed]:
    """Return the contents of one record: the newest under its path, the others under paths of their own."""
    records = {oid: parse_record(each, path.decode()) for oid, each in data.items()}
    newest, *others = sorted(records, key=lambda oid: (_time(records[oid]), oid), reverse=True)
    placed = {path: Placed(path, newest, newest)}
    for oid in others:
        variant = _make_variant(records[oid], oid)
        blob = format_record(variant)
        placed[record_path(variant)] = Placed(path, oid, object_id("blob", blob, object_format), blob)
    return placed


def record_path(record: Record) -> bytes:
    """Return the path of a record of any kind. Raises TypeError, ValueError for a turn whose number is none."""
    if record.kind == TURN:
        return turn_path(record.id, int(record.fields.get("turn", 0)))
    return (note_path if record.kind == NOTE else document_path)(record.id)


def _time(record: Record) -> str:
    return str(record.fields.get("stored") or record.fields.get("time") or "")


def _make_variant(record: Record, oid: str) -> Record:
    digest = hashlib.sha256(f"{record.id} {oid}".encode()).hexdigest()
    if record.kind == TURN:
        # A turn has no id of its own. The other words of one number are a conversation of that one turn.
        name = f"{record.id[: MAX_CONVERSATION - 13]}~{digest[:12]}"
    else:
        name = f"mem_{digest[:12]}" if record.kind == NOTE else f"art_{digest[:16]}"
    return Record(record.kind, name, {**record.fields, VARIANT_OF: record.id}, record.content)


class Memory(NamedTuple):
    """Ids of all blobs of a memory by path, and of those that may leave the clone."""

    records: Mapping[bytes, str]
    shared: Mapping[bytes, str]

    def is_private(self, path: bytes) -> bool:
        """Return whether the memory has a record at a path that stays in the clone."""
        return path in self.records and path not in self.shared


def own_changes(
    held: State, placed: Mapping[bytes, Placed], own: State, purged: Collection[str], memory: Memory
) -> dict[bytes, dict[str, Version]]:
    """Return versions for the differences of a memory from the versions it held.

    Only what the memory held counts as seen: a version that was fetched, but hidden by a private record with the same
    id, must survive when that record is shared. A record that becomes private is deleted for others if this clone
    shared it.
    """
    removed: dict[bytes, set[str]] = {}
    new = {path: oid for path, oid in memory.shared.items() if path not in placed}
    for path, (record, content, oid, _) in placed.items():
        # A variant counts as a content of its record, so a deleted variant is a content that somebody decided against.
        mine = memory.records.get(path)
        if mine == oid:
            continue
        if memory.is_private(path):
            # The path may be that of a variant, but this clone made its content as one of the record.
            removed.setdefault(record, set()).update({content}.intersection(contents(own.get(record, {}))))
            continue
        removed.setdefault(record, set()).add(content)
        if mine is not None:
            new[path] = mine
    changes: dict[bytes, dict[str, Version]] = {}
    for path in removed.keys() | new.keys():
        if path in new or removed[path]:
            known = held.get(path, {})
            # A purged version has no content in the memory. A record that is stored again under its id replaces it.
            hidden = {version.content for version in known.values() if version.content in purged}
            replaced = {each for each in hidden if each} | removed.get(path, set())
            changes[path] = succeed(path, known, replaced, new.get(path))
    return changes
