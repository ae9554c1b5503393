"""Values from the memory that complete arguments: ids of records, names of conversations, revisions."""

import os

from click.shell_completion import CompletionItem

from gitmem.cli.completion_values import MOST_VALUES, Values, from_words
from gitmem.display import first_line
from gitmem.memory.record_paths import CONVERSATION_PREFIX, DOCUMENTS, NOTES
from gitmem.memory.record_store import RecordStore
from gitmem.records.conversations import list_conversations
from gitmem.records.revisions import read_log
from gitmem.secrets.masking import mask_text
from gitmem.workspace import Workspace


def records(workspace: Workspace, incomplete: str) -> Values:
    """Complete the id of a note, a document or a conversation."""
    yield from _ids(workspace, NOTES, incomplete)
    yield from _ids(workspace, DOCUMENTS, incomplete)
    if CONVERSATION_PREFIX.startswith(incomplete) or incomplete.startswith(CONVERSATION_PREFIX):
        names = conversations(workspace, incomplete.removeprefix(CONVERSATION_PREFIX) if ":" in incomplete else "")
        for item in names:
            yield CompletionItem(CONVERSATION_PREFIX + item.value, help=item.help)


def documents(workspace: Workspace, incomplete: str) -> Values:
    """Complete the id of a document."""
    return _ids(workspace, DOCUMENTS, incomplete)


def _ids(workspace: Workspace, folder: bytes, incomplete: str) -> Values:
    """Yield the ids of records below a folder with their first lines, in which known secrets are masked."""
    with RecordStore(workspace.location) as store:
        entries = store.entries(store.tip(), folder)
        start = os.fsencode(incomplete)
        matching = [entry for entry in entries if entry.path.rpartition(b"/")[2].startswith(start)][:MOST_VALUES]
        for record in store.read_records(matching):
            text = mask_text(str(record.fields.get("title") or record.text)[:1000])
            yield CompletionItem(record.id, help=first_line(text))


def conversations(workspace: Workspace, incomplete: str) -> Values:
    """Complete the name of a conversation."""
    names = {item.id: f"{item.turns} turns, {item.time[:10]}" for item in list_conversations(workspace, 100)}
    return from_words(names, incomplete)


def memory_revisions(workspace: Workspace, incomplete: str) -> Values:
    """Complete a revision of the memory, counted from the last one."""
    messages = [mask_text(entry.message) for entry in read_log(workspace, limit=20)]
    return from_words({f"~{number}": message for number, message in enumerate(messages) if number}, incomplete)
