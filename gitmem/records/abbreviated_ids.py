"""Complete abbreviated ids of notes and documents, as git completes those of objects, and names of conversations."""

import re
from collections.abc import Iterable
from typing import Final

from gitmem.errors import UnknownRecord, UsageError
from gitmem.git.locate import RepositoryLocation
from gitmem.git.ref_log import ALL_COMMITS, read_ref_log
from gitmem.memory.record_paths import (
    CONVERSATION_PREFIX,
    CONVERSATIONS,
    document_path,
    is_complete_id,
    is_conversation,
    is_note_id,
    note_path,
    parse_id,
)
from gitmem.memory.record_store import RecordStore, Tip

_ABBREVIATION: Final = re.compile(r"(?:mem|art)_[0-9a-f]{4,64}")
"""At least four digits, as in git."""

_MIN_NAME: Final = 4
_SHOWN: Final = 5


def complete_name(store: RecordStore, tip: Tip, name: str) -> str:
    """Do what `complete_id` does, and also complete the name of a conversation from four or more characters.

    Only for commands that read. Names are words: one that deletes `plan` again must not delete `planning` instead.
    Raises as `complete_id`.
    """
    start = name.removeprefix(CONVERSATION_PREFIX)
    if not is_conversation(name) or len(start) < _MIN_NAME or store.find(tip, parse_id(name)):
        return complete_id(store, tip, name)
    # Their paths are hashes, so the names are in the turns. The last turn of each stands for it.
    last = {entry.path.rpartition(b"/")[0]: entry for entry in store.entries(tip, CONVERSATIONS)}
    names = sorted(record.id for record in store.read_records(last.values()) if record.id.startswith(start))
    if not names:
        return name
    return _choose(name, [CONVERSATION_PREFIX + each for each in names], "give more of the name")


def complete_id(store: RecordStore, tip: Tip, name: str) -> str:
    """Return the id of the record that a full or abbreviated id names. Others are returned as they are.

    An id that exists has precedence over longer ones. Raises UnknownRecord for an abbreviation of no id, UsageError for
    an ambiguous or invalid one.
    """
    if is_complete_id(name) and (is_conversation(name) or store.find(tip, parse_id(name))):
        return name
    candidates = store.names(tip, _folder(name))
    return _choose(name, candidates)


def complete_former_id(location: RepositoryLocation, store: RecordStore, tip: Tip, name: str) -> str:
    """Return the id of a record that exists or existed in any revision. Raises as `complete_id`."""
    if is_conversation(name) or is_note_id(name) or tip.commit is None:
        return complete_id(store, tip, name)
    folder = _folder(name)
    current = [identity for identity in store.names(tip, folder) if identity.startswith(name)]
    if current:
        return _choose(name, current)
    # Only the commits that changed the folder of the id are read.
    commits = read_ref_log(location, tip.commit, ALL_COMMITS, folder)
    paths = (change.path for commit in commits for change in commit.changes)
    return _choose(name, (path.rpartition(b"/")[2].decode("utf-8", "replace") for path in paths))


def _folder(name: str) -> bytes:
    """Return the folder of the records whose ids begin in this way. Raises UsageError for another kind of id."""
    if not _ABBREVIATION.fullmatch(name):
        parse_id(name)
    return (note_path if name.startswith("mem_") else document_path)(name).rpartition(b"/")[0]


def _choose(name: str, ids: Iterable[str], hint: str = "give more digits") -> str:
    candidates = sorted({identity for identity in ids if identity.startswith(name)})
    if name in candidates or (not candidates and is_complete_id(name)):
        return name
    if not candidates:
        raise UnknownRecord(f"no such record: `{name}`", hint="gitmem memory log")
    if len(candidates) == 1:
        return candidates[0]
    more = f" and {len(candidates) - _SHOWN} more" if len(candidates) > _SHOWN else ""
    raise UsageError(f"the id `{name}` is ambiguous: {', '.join(candidates[:_SHOWN])}{more}", hint=hint)
