"""Append turns to conversations, read the last ones, list conversations, import transcripts."""

from collections.abc import Sequence
from itertools import groupby

from gitmem.errors import UsageError
from gitmem.freshness.record_refresh import index_records
from gitmem.memory.bounds import check_choice, check_count, current_time
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
from gitmem.memory.record_paths import CONVERSATION_PREFIX, CONVERSATIONS, conversation_folder, turn_path
from gitmem.memory.record_store import Changes, RecordStore, Tip
from gitmem.memory.visibility import DEFAULTS, VISIBILITIES, VISIBILITY, visibility_of
from gitmem.named_tuple import NamedTuple
from gitmem.record import format_record
from gitmem.records.abbreviated_ids import complete_name
from gitmem.records.listing import open_at
from gitmem.records.unknown_record import unknown_record
from gitmem.secrets.refusal import redact_secrets, refuse_secrets
from gitmem.types import TURN
from gitmem.workspace import Workspace


class AppendedTurn(NamedTuple):
    """Turn that was stored, whether it replaced one with its number, and notices for the user."""

    turn: Turn
    replaced: bool
    notices: list[str]


class ImportedTurns(NamedTuple):
    """Number of turns that are new or changed, and notices for the user."""

    changed: int
    notices: list[str]


def append_turn(
    workspace: Workspace,
    conversation: str,
    role: str,
    content: str,
    number: int | None,
    *,
    visibility: str = "",
    allow_secrets: bool = False,
) -> AppendedTurn:
    """Store a turn under its number, or after the last one without a number.

    Without a visibility it has that of the conversation; another one is refused once there are turns. Raises:
    UsageError, GitFailed, StorageFailed.
    """
    turn = check_turn(
        Turn(conversation, number or 0, role, content, current_time(), visibility=visibility or DEFAULTS[TURN])
    )
    if not allow_secrets:
        refuse_secrets(content, "turn", conversation)
    replaced = False
    with RecordStore(workspace.location) as store:

        def append(tip: Tip) -> Changes:
            nonlocal turn, replaced
            # Another writer may have appended a turn since the last call, so the number is computed each time.
            given = _next_number(store, tip, conversation) if number is None else number
            present = _find_visibility(store, tip, conversation)
            if visibility and present and visibility != present:
                edit = f"gitmem conversation edit {conversation} --visibility {visibility}"
                raise UsageError(f"the conversation `{conversation}` has the visibility `{present}`", hint=edit)
            turn = check_turn(turn._replace(number=given, visibility=present or turn.visibility))
            path = turn_path(conversation, turn.number)
            replaced = store.find(tip, path) is not None
            return {path: format_record(turn_record(turn))}

        store.change("conversation: append", append)
    notices, _ = index_records(workspace)
    return AppendedTurn(turn, replaced, notices)


def _find_visibility(store: RecordStore, tip: Tip, conversation: str) -> str:
    """Return the visibility of a conversation, which is that of its first turn, "" without turns."""
    names = store.names(tip, conversation_folder(conversation))
    if not names:
        return ""
    first = store.find_record(tip, turn_path(conversation, int(min(names))))
    return visibility_of(first) if first else ""


def change_visibility(workspace: Workspace, conversation: str, visibility: str) -> tuple[int, list[str]]:
    """Give all turns of a conversation a visibility; return the number of changed turns, and notices for the user.

    Raises: UsageError, UnknownRecord, GitFailed, StorageFailed.
    """
    check_conversation(conversation)
    check_choice(VISIBILITY, visibility, VISIBILITIES)
    changes: Changes = {}
    with RecordStore(workspace.location) as store:
        name = complete_name(store, store.tip(), CONVERSATION_PREFIX + conversation)

        def change(tip: Tip) -> Changes:
            nonlocal changes
            entries = store.entries(tip, conversation_folder(name.removeprefix(CONVERSATION_PREFIX)))
            if not entries:
                raise unknown_record(name)
            records = zip(entries, store.read_records(entries), strict=True)
            changes = {
                entry.path: format_record(record._replace(fields={**record.fields, VISIBILITY: visibility}))
                for entry, record in records
                if visibility_of(record) != visibility
            }
            return changes

        store.change("conversation: visibility", change)
    return len(changes), index_records(workspace)[0]


def _next_number(store: RecordStore, tip: Tip, conversation: str) -> int:
    # Names of turns are numbers of equal length, so the last entry has the highest number.
    entries = store.entries(tip, conversation_folder(conversation))
    return int(entries[-1].path.rpartition(b"/")[2]) + 1 if entries else 0


def last_turns(workspace: Workspace, conversation: str, limit: int = GET_DEFAULT) -> list[Turn]:
    """Return the last turns of a conversation in order; its name may be abbreviated.

    Raises: UsageError, UnknownRecord.
    """
    check_conversation(conversation)
    check_count("limit", limit, 1, MAX_GET)
    with RecordStore(workspace.location) as store:
        tip = store.tip()
        name = complete_name(store, tip, CONVERSATION_PREFIX + conversation)
        entries = store.entries(tip, conversation_folder(name.removeprefix(CONVERSATION_PREFIX)))
        if not entries:
            raise unknown_record(CONVERSATION_PREFIX + conversation)
        return [load_turn(record) for record in store.read_records(entries[-limit:])]


def list_conversations(workspace: Workspace, limit: int = LIST_DEFAULT) -> list[Conversation]:
    """Return conversations, the one with the latest turn first. Raises UsageError, DamagedFile."""
    check_count("limit", limit, 1, MAX_LIST)
    with RecordStore(workspace.location) as store:
        records = open_at(workspace, store.tip())
    if records is None:
        return []
    # Entries are sorted by path: the turns of a conversation are next to each other, the last one at the end.
    turns = records.folder(CONVERSATIONS)
    groups = [list(group) for _, group in groupby(turns, key=lambda turn: records.path(turn).rpartition(b"/")[0])]
    names, times, titles, readers = (records.column(name) for name in ("conversation", "time", "title", VISIBILITY))
    listed = [
        Conversation(
            names.text(group[-1]),
            len(group),
            times.text(group[-1]),
            titles.text(group[0]),
            readers.text(group[0]) or DEFAULTS[TURN],
        )
        for group in groups
    ]
    return sorted(listed, key=lambda conversation: (conversation.time, conversation.id), reverse=True)[:limit]


def import_turns(
    workspace: Workspace, turns: Sequence[Turn], *, visibility: str = "", allow_secrets: bool = False
) -> ImportedTurns:
    """Store all turns in one commit, each in place of the one with its number.

    Without a visibility a conversation keeps the one that it has, by default `me`. A line with a secret is redacted,
    instead of refusing the import: a transcript is not written by hand. Raises UsageError, GitFailed, StorageFailed.
    """
    checked = [
        check_turn(
            turn
            if allow_secrets
            else turn._replace(content=redact_secrets(turn.content), title=redact_secrets(turn.title))
        )
        for turn in turns
    ]
    names = {turn.conversation for turn in checked}
    changes: Changes = {}
    with RecordStore(workspace.location) as store:

        def replace(tip: Tip) -> Changes:
            nonlocal changes
            seen_by = {name: visibility or _find_visibility(store, tip, name) or DEFAULTS[TURN] for name in names}
            visible = [turn._replace(visibility=seen_by[turn.conversation]) for turn in checked]
            blobs = {turn_path(turn.conversation, turn.number): format_record(turn_record(turn)) for turn in visible}
            # A transcript that is imported again has mostly turns that are stored already.
            changes = {path: data for path, data in blobs.items() if store.find_data(tip, path) != data}
            return changes

        store.change("conversation: import", replace)
    notices, _ = index_records(workspace)
    return ImportedTurns(len(changes), notices)
