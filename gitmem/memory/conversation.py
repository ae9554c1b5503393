"""Conversations: numbered turns in order, each stored as a record of its own."""

from typing import Final

from gitmem.memory.bounds import check_choice, check_count, check_text
from gitmem.memory.note import MAX_CONVERSATION
from gitmem.memory.visibility import DEFAULTS, VISIBILITIES, VISIBILITY, visibility_of
from gitmem.named_tuple import NamedTuple
from gitmem.record import Record
from gitmem.types import TURN

ROLES: Final = ("user", "assistant", "system")
MAX_TURN: Final = 50_000
MAX_TITLE: Final = 200
MAX_INDEX: Final = 99_999_999
"""Highest number of a turn. Turns are stored under names of eight digits."""

GET_DEFAULT: Final = 16
MAX_GET: Final = 50


class Turn(NamedTuple):
    """Words of one side of a conversation. `number` counts from 0; turn 0 has the title of the conversation.

    `visibility` is that of the whole conversation, `shared_by` that of the record.
    """

    conversation: str
    number: int
    role: str
    content: str
    time: str
    title: str = ""
    visibility: str = DEFAULTS[TURN]
    shared_by: str = ""


class Conversation(NamedTuple):
    """Summary of a conversation: its id, number of turns, time of the last one, title if any, and visibility."""

    id: str
    turns: int
    time: str
    title: str = ""
    visibility: str = DEFAULTS[TURN]


def check_turn(turn: Turn) -> Turn:
    """Refuse a turn with a field out of bounds. Raises UsageError."""
    check_conversation(turn.conversation)
    check_count("turn", turn.number, 0, MAX_INDEX)
    check_choice("role", turn.role, ROLES)
    check_text("content", turn.content, MAX_TURN)
    check_choice(VISIBILITY, turn.visibility, VISIBILITIES)
    if turn.title:
        check_text("title", turn.title, MAX_TITLE)
    return turn


def check_conversation(name: str) -> str:
    """Refuse an invalid id of a conversation. Raises UsageError."""
    return check_text("conversation", name, MAX_CONVERSATION)


def turn_record(turn: Turn) -> Record:
    """Convert a turn to a record."""
    fields = {"turn": turn.number, "role": turn.role, "time": turn.time}
    if turn.title:
        fields["title"] = turn.title
    if turn.visibility != DEFAULTS[TURN]:
        fields[VISIBILITY] = turn.visibility
    return Record(TURN, turn.conversation, fields, turn.content.encode())


def load_turn(record: Record) -> Turn:
    """Convert a record to a turn. Missing fields get their defaults."""
    fields = record.fields
    return Turn(
        conversation=record.id,
        number=int(fields.get("turn", 0)),
        role=str(fields.get("role", "user")),
        content=record.text,
        time=str(fields.get("time", "")),
        title=str(fields.get("title", "")),
        visibility=visibility_of(record),
        shared_by=record.shared_by,
    )
