"""Encoding of a record: a line of JSON with its fields, an empty line, then the content unchanged. Pure.

`git show` of a record's blob is readable without gitmem.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from gitmem.errors import DamagedFile, NewerFormat
from gitmem.named_tuple import NamedTuple
from gitmem.types import RECORD_KINDS

VERSION: Final = 1
"""Version of the encoding. 1 is the first, and the oldest that is read."""

STORED_NAMES: Final[Mapping[str, str]] = {"source": "source_system"}
"""Names of fields that differ in a stored record. They stay as they are, so that older records stay readable."""

SHARED_BY: Final = "shared_by"
SIGNATURE: Final = "signature"
RECEIVED: Final = (SHARED_BY, SIGNATURE)
"""Names under which users see who shared a record, and the worth of the signature. Stored fields of these names are
hidden: no record names its own."""

_NAMES: Final = {stored: name for name, stored in STORED_NAMES.items()}
_SEPARATOR: Final = b"\n\n"


class Record(NamedTuple):
    """Note, document, or turn of a conversation. `id` is the id of the note, of the document or of the conversation.

    `shared_by` is the name and address of the person who shared it, "" for a record of this clone. `signature`
    is the state of the signature by which it came and the signer (`git/commit_signing.py`). Neither is stored.
    """

    kind: str
    id: str
    fields: Mapping[str, Any]
    content: bytes
    shared_by: str = ""
    signature: str = ""

    @property
    def text(self) -> str:
        """Content as text; `parse_record` has checked that it is UTF-8."""
        return self.content.decode("utf-8")

    @property
    def named_fields(self) -> dict[str, Any]:
        """Fields under the names that users see."""
        named = {_NAMES.get(name, name): value for name, value in self.fields.items() if name not in RECEIVED}
        received = {SHARED_BY: self.shared_by, SIGNATURE: self.signature}
        return {**named, **{name: value for name, value in received.items() if value}}


def format_record(record: Record) -> bytes:
    """Encode a record as a blob."""
    head = {"v": VERSION, "kind": record.kind, "id": record.id, **record.fields}
    return json.dumps(head, ensure_ascii=False).encode("utf-8") + _SEPARATOR + record.content


def parse_record(data: bytes, name: str) -> Record:
    """Decode a record. `name` identifies it in errors.

    Raises: NewerFormat if a newer gitmem wrote it, DamagedFile if the data is not a record.
    """
    line, _, content = data.partition(_SEPARATOR)
    try:
        head = json.loads(line)
    except (ValueError, RecursionError) as problem:  # the latter for deeply nested arrays
        raise _damaged(name) from problem
    version = head.pop("v", None) if isinstance(head, dict) else None
    # A Boolean is an int in Python, so `true` would pass for version 1.
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise _damaged(name)
    if version > VERSION:
        raise NewerFormat(f"the record `{name}` was written by a newer gitmem", hint="install the newest gitmem")
    kind, identity = head.pop("kind", None), head.pop("id", None)
    # The length check detects a record that ends before its separator.
    if kind not in RECORD_KINDS or not isinstance(identity, str) or len(data) < len(line) + len(_SEPARATOR):
        raise _damaged(name)
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise _damaged(name) from problem
    return Record(kind, identity, head, content)


def is_record(data: bytes) -> bool:
    """Return whether data is a record of any version."""
    try:
        parse_record(data, "")
    except NewerFormat:
        return True
    except DamagedFile:
        return False
    return True


def _damaged(name: str) -> DamagedFile:
    return DamagedFile(f"`{name}` is not a record of gitmem", hint="see which change added it: gitmem memory log")
