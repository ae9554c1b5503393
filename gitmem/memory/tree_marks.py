"""Recognise the trees of the memory by the form of their names. Pure, but for the given reader.

A writer that was killed leaves trees that no commit names. They hold the ids of records, so a purge must find them, and
unlike blobs and commits they have no mark of their own.
"""

import re
from collections.abc import Callable
from typing import Final

from gitmem.git.object_format import parse_tree
from gitmem.memory.record_paths import CONVERSATIONS, DOCUMENTS, NOTES, is_document_id, is_note_id
from gitmem.record import is_record

# The rejected alternative is a journal of the objects about to be written: one more fsync for each record, and nothing
# for those that earlier versions left behind.

ReadObject = Callable[[str], bytes | None]
"""Function that returns the bytes of an object, None if it is missing."""

_MAX_DEPTH: Final = 5
"""Levels of trees: version, kind, first digits, conversation, turns."""

_VERSION: Final = NOTES.partition(b"/")[0]
_KINDS: Final = frozenset(folder.rpartition(b"/")[2] for folder in (NOTES, DOCUMENTS, CONVERSATIONS))
_DIGITS: Final = re.compile(rb"[0-9a-f]{2}(?:[0-9a-f]{62})?\Z")
_TURN: Final = re.compile(rb"[0-9]{8}\Z")


def is_memory_tree(data: bytes, read: ReadObject, object_format: str) -> bool:
    """Return whether a tree is one that gitmem writes: the tree of all records, or a subtree of it.

    Names that others may use too count only if the first object below that exists is a record or such a tree.
    """
    return _is_memory_tree(data, read, object_format, _MAX_DEPTH)


def _is_memory_tree(data: bytes, read: ReadObject, object_format: str, depth: int) -> bool:
    try:
        entries = parse_tree(data, object_format)
    except (ValueError, IndexError):
        return False
    if not entries or not depth:
        return False
    if all(entry.is_tree for entry in entries.values()):
        names = entries.keys()
        if names != {_VERSION} and not names <= _KINDS and not all(map(_DIGITS.match, names)):
            return False
        child = _first_present([entry.oid for entry in entries.values()], read)
        return child is not None and _is_memory_tree(child, read, object_format, depth - 1)
    if any(entry.is_tree for entry in entries.values()):
        return False
    if all(is_note_id(name) or is_document_id(name) for name in (name.decode("latin-1") for name in entries)):
        return True
    if not all(map(_TURN.match, entries)):
        return False
    child = _first_present([entry.oid for entry in entries.values()], read)
    return child is not None and is_record(child)


def _first_present(oids: list[str], read: ReadObject) -> bytes | None:
    return next((data for data in map(read, oids) if data is not None), None)
