"""Visibility of records: whom a record is meant for, which decides whether it leaves the clone. Pure."""

from collections.abc import Mapping
from typing import Final

from gitmem.record import Record
from gitmem.types import DOCUMENT, NOTE, TURN

VISIBILITIES: Final = ("me", "team", "org", "custom")
TRAVELLING: Final = ("team", "org")
"""Visibilities of records that are shared."""

VISIBILITY: Final = "visibility"

# A record without the field means what it always did, so no stored record has to be rewritten: a note is written for
# the next reader of the code, a document comes from somebody's mailbox, and a conversation has drafts.
DEFAULTS: Final[Mapping[str, str]] = {NOTE: "team", DOCUMENT: "me", TURN: "me"}
"""Visibility of a record without the field, by kind."""


def visibility_of(record: Record) -> str:
    """Return the visibility of a record, by default that of its kind."""
    return str(record.fields.get(VISIBILITY) or DEFAULTS[record.kind])


def travels(record: Record) -> bool:
    """Return whether a record may leave the clone."""
    return visibility_of(record) in TRAVELLING
