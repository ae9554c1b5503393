"""Paths of records below the memory ref, and the form of their ids. Pure.

Names in the tree are hexadecimal digits, some with a fixed prefix. The id of a conversation may contain any character,
so it is hashed: an id is data, never a path.
"""

import hashlib
import os
from collections.abc import Iterator
from typing import Final

from gitmem.errors import UsageError
from gitmem.lazy_pattern import lazy_pattern

REFERENCE: Final = "refs/gitmem/memory"
BACKUP_REFERENCE: Final = "refs/gitmem-backup/memory"
"""Second ref to the last known commit. It is outside `refs/gitmem/`, which users may fetch, and thereby prune."""

SHARED_REFERENCE: Final = "refs/gitmem-backup/shared"
"""What every writer shared, as far as it is part of the memory. Outside `refs/gitmem/` for the same reason."""

SHARERS: Final = b"sharers"
"""Folder of the shared state that names the people who shared records."""

SIGNATURES: Final = b"signatures"
"""Folder of the shared state that describes the signatures of commits by which records came."""

WRITERS: Final = "refs/gitmem/writers/"
"""Refs that are pushed, one for each writer: nobody else moves it, so no push waits for another one."""

REMOTES: Final = "refs/gitmem/remotes/"
"""Refs of remotes as they were fetched last. They only spare the next fetch the objects of this one."""

NOTES: Final = b"v1/notes"
DOCUMENTS: Final = b"v1/documents"
CONVERSATIONS: Final = b"v1/conversations"
CONVERSATION_PREFIX: Final = "conversation:"

_NOTE_ID: Final = lazy_pattern(r"mem_[0-9a-f]{12}\Z")
_DOCUMENT_ID: Final = lazy_pattern(r"art_([0-9a-f]{4}){2,16}\Z")
_RECORD_PATH: Final = lazy_pattern(
    rb"v1/(?:notes/([0-9a-f]{2})/mem_\1[0-9a-f]{10}|documents/([0-9a-f]{2})/art_\2[0-9a-f]{6,62}"
    rb"|conversations/([0-9a-f]{2})/\3[0-9a-f]{62}/[0-9]{8})\Z"
)
_MIN_DIGITS: Final = 8
_DIGITS_STEP: Final = 4


def new_note_id() -> str:
    """Return `mem_` and 12 random hexadecimal digits."""
    return "mem_" + os.urandom(6).hex()


def is_note_id(text: str) -> bool:
    """Return whether a text has the form of a note's id."""
    return _NOTE_ID.match(text) is not None


def is_document_id(text: str) -> bool:
    """Return whether a text has the form of a document's id."""
    return _DOCUMENT_ID.match(text) is not None


def document_ids(source: str, source_id: str, content: bytes) -> Iterator[str]:
    """Yield the ids a document may have, the preferred one first: `art_` and 8 or more digits of a hash.

    The hash is that of the source and the source id, or of the content without a source id.
    """
    name = f"{source}:{source_id}".encode() if source_id else content
    digest = hashlib.sha256(name).hexdigest()
    # Like git's abbreviated object ids: short ones first, and a longer one only on a collision.
    for length in range(_MIN_DIGITS, len(digest) + 1, _DIGITS_STEP):
        yield "art_" + digest[:length]
    # `a:b` with the id `c` and `a` with the id `b:c` have equal hashes. The length of the source tells them apart.
    yield "art_" + hashlib.sha256(b"%d:%s:" % (len(source), name) + content).hexdigest()


def note_path(note_id: str) -> bytes:
    """Return the path of a note."""
    return b"%s/%s/%s" % (NOTES, note_id[4:6].encode(), note_id.encode())


def document_path(document_id: str) -> bytes:
    """Return the path of a document."""
    return b"%s/%s/%s" % (DOCUMENTS, document_id[4:6].encode(), document_id.encode())


def conversation_folder(conversation: str) -> bytes:
    """Return the folder of a conversation's turns."""
    # The name is hashed because it may hold slashes and any other character.
    digest = hashlib.sha256(conversation.encode()).hexdigest().encode()
    return b"%s/%s/%s" % (CONVERSATIONS, digest[:2], digest)


def turn_path(conversation: str, turn: int) -> bytes:
    """Return the path of a turn."""
    return b"%s/%08d" % (conversation_folder(conversation), turn)


def is_complete_id(text: str) -> bool:
    """Return whether a text has the form of an id, and not of an abbreviated one."""
    return is_note_id(text) or _DOCUMENT_ID.match(text) is not None or is_conversation(text)


def is_record_path(path: bytes) -> bool:
    """Return whether a path is that of a note, a document or a turn."""
    return _RECORD_PATH.match(path) is not None


def is_turn_path(path: bytes) -> bool:
    """Return whether the path of a record is that of a turn."""
    return path.startswith(CONVERSATIONS + b"/")


def parse_id(name: str) -> bytes:
    """Return the path of a record by its id, or the folder of `conversation:NAME`. Raises UsageError."""
    if is_note_id(name):
        return note_path(name)
    if is_document_id(name):
        return document_path(name)
    if is_conversation(name) and len(name) > len(CONVERSATION_PREFIX):
        return conversation_folder(name.removeprefix(CONVERSATION_PREFIX))
    raise UsageError(f"`{name}` is not the id of a record", hint="ids: mem_..., art_..., conversation:NAME, SOURCE:DOC")


def is_conversation(name: str) -> bool:
    """Return whether an id names a whole conversation."""
    return name.startswith(CONVERSATION_PREFIX)
