"""Conversations: add turns, give back the last ones, list them, take in a session's transcript."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from gitmem.freshness.record_refresh import index_records
from gitmem.memory.bounds import check_count, current_time
from gitmem.memory.conversation import (
    GET_DEFAULT,
    MAX_GET,
    Conversation,
    Turn,
    check_conversation,
    check_turn,
    load_turn,
    turn_record,
)
from gitmem.memory.note import LIST_DEFAULT, MAX_LIST
from gitmem.memory.record_paths import CONVERSATIONS, conversation_folder, turn_path
from gitmem.memory.record_store import Changes, RecordStore, Tip
from gitmem.memory.secrets import redact_secrets, refuse_secrets
from gitmem.record import format_record
from gitmem.records.listing import open_listed
from gitmem.workspace import Workspace


class Appended(NamedTuple):
    """A turn that was kept; `replaced` where the conversation had one of that number."""

    turn: Turn
    replaced: bool


def append_turn(
    workspace: Workspace,
    conversation: str,
    role: str,
    content: str,
    number: int | None,
    *,
    allow_secrets: bool = False,
    notes: list[str] | None = None,
) -> Appended:
    """Keep a turn; without a number it comes behind the last one. Raises UsageError, GitFailed, StorageFailed."""
    given = check_turn(Turn(conversation, number or 0, role, content, current_time()))
    if not allow_secrets:
        refuse_secrets(content, "turn", conversation)
    made = Appended(given, False)
    with RecordStore(workspace.location) as store:

        def put(tip: Tip) -> Changes:
            nonlocal made
            place = _next_turn(store, tip, conversation) if number is None else number
            turn = check_turn(given._replace(number=place))
            path = turn_path(conversation, place)
            made = Appended(turn, store.find(tip, path) is not None)
            return {path: format_record(turn_record(turn))}

        store.change("conversation: append", put)
    index_records(workspace, notes)
    return made


def _next_turn(store: RecordStore, tip: Tip, conversation: str) -> int:
    entries = store.entries(tip, conversation_folder(conversation))
    return int(entries[-1].path.rpartition(b"/")[2]) + 1 if entries else 0


def last_turns(workspace: Workspace, conversation: str, limit: int = GET_DEFAULT) -> list[Turn]:
    """The last turns of a conversation in their order; none of one that is not there. Raises UsageError."""
    check_conversation(conversation)
    check_count("limit", limit, 1, MAX_GET)
    with RecordStore(workspace.location) as store:
        entries = store.entries(store.tip(), conversation_folder(conversation))
        return [load_turn(record) for record in store.read_records(entries[-limit:])]


def list_conversations(workspace: Workspace, limit: int = LIST_DEFAULT) -> list[Conversation]:
    """Conversations, the last spoken in first. Raises UsageError, DamagedFile."""
    check_count("limit", limit, 1, MAX_LIST)
    with RecordStore(workspace.location) as store:
        records = open_listed(workspace, store.tip())
    if records is None:
        return []
    turns = records.folder(CONVERSATIONS)
    groups = [list(group) for _, group in groupby(turns, key=lambda turn: records.path(turn).rpartition(b"/")[0])]
    names, times = records.column("conversation"), records.column("time")
    found = [Conversation(names.text(group[-1]), len(group), times.text(group[-1])) for group in groups]
    return sorted(found, key=lambda conversation: (conversation.time, conversation.id), reverse=True)[:limit]


def keep_turns(
    workspace: Workspace, turns: Sequence[Turn], *, allow_secrets: bool = False, notes: list[str] | None = None
) -> int:
    """Keep whole turns at once, each in the place of the one with its number; returns how many are new or changed.

    A transcript is not written by hand, so a line with a secret is left out instead of the whole refused.
    Raises UsageError, GitFailed, StorageFailed.
    """
    kept = [
        check_turn(turn if allow_secrets else turn._replace(content=redact_secrets(turn.content))) for turn in turns
    ]
    data = {turn_path(turn.conversation, turn.number): format_record(turn_record(turn)) for turn in kept}
    changed: Changes = {}
    with RecordStore(workspace.location) as store:

        def put(tip: Tip) -> Changes:
            nonlocal changed
            known = {path: store.find_data(tip, path) for path in data}
            changed = {path: record for path, record in data.items() if known[path] != record}
            return changed

        store.change("conversation: import", put)
    index_records(workspace, notes)
    return len(changed)
