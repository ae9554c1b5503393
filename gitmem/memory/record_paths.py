"""Where a record lies below the memory ref, and what its id may look like. Pure.

Names in the tree are hexadecimal whatever an id holds: an id is data, never a path.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from typing import Final

from gitmem.errors import UsageError

REFERENCE: Final = "refs/gitmem/memory"
NOTES: Final = b"v1/notes"
DOCUMENTS: Final = b"v1/documents"
CONVERSATIONS: Final = b"v1/conversations"
CONVERSATION_PREFIX: Final = "conversation:"

_NOTE_ID: Final = re.compile(r"mem_[0-9a-f]{12}\Z")
_DOCUMENT_ID: Final = re.compile(r"art_([0-9a-f]{4}){2,16}\Z")
_SHORTEST: Final = 8
_STEP: Final = 4


def new_note_id() -> str:
    """`mem_` and 12 random hexadecimal digits."""
    return "mem_" + os.urandom(6).hex()


def is_note_id(text: str) -> bool:
    """Whether this can be the id of a note."""
    return _NOTE_ID.match(text) is not None


def document_ids(source: str, source_id: str, content: bytes) -> Iterator[str]:
    """Ids a document may have, the first choice first: `art_` and 8 digits of its source's hash, then more digits.

    Without a source id the content stands for the source. Two sources that are written alike with a colon between their
    parts differ in the last choice alone.
    """
    named = f"{source}:{source_id}".encode() if source_id else content
    digest = hashlib.sha256(named).hexdigest()
    for length in range(_SHORTEST, len(digest) + 1, _STEP):
        yield "art_" + digest[:length]
    yield "art_" + hashlib.sha256(b"%d:%s:" % (len(source), named) + content).hexdigest()


def note_path(note_id: str) -> bytes:
    """Where a note lies."""
    return b"%s/%s/%s" % (NOTES, note_id[4:6].encode(), note_id.encode())


def document_path(document_id: str) -> bytes:
    """Where a document lies."""
    return b"%s/%s/%s" % (DOCUMENTS, document_id[4:6].encode(), document_id.encode())


def conversation_folder(conversation: str) -> bytes:
    """The folder of a conversation's turns."""
    digest = hashlib.sha256(conversation.encode()).hexdigest().encode()
    return b"%s/%s/%s" % (CONVERSATIONS, digest[:2], digest)


def turn_path(conversation: str, turn: int) -> bytes:
    """Where one turn of a conversation lies."""
    return b"%s/%08d" % (conversation_folder(conversation), turn)


def place_of(name: str) -> bytes:
    """The record, or for `conversation:<id>` the folder, that an id names. Raises UsageError for what is no id."""
    if is_note_id(name):
        return note_path(name)
    if _DOCUMENT_ID.match(name):
        return document_path(name)
    if name.startswith(CONVERSATION_PREFIX) and len(name) > len(CONVERSATION_PREFIX):
        return conversation_folder(name.removeprefix(CONVERSATION_PREFIX))
    raise UsageError(f"`{name}` is no id of a record", hint="ids: mem_..., art_..., conversation:NAME")


def is_conversation(name: str) -> bool:
    """Whether an id names a whole conversation."""
    return name.startswith(CONVERSATION_PREFIX)
