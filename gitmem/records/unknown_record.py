"""The error for an id that no record has: the same message in every command and tool."""

from gitmem.errors import UnknownRecord
from gitmem.memory.record_paths import is_conversation


def unknown_record(name: str, *, at: str = "", hint: str = "") -> UnknownRecord:
    """Return the error for the id of a record that does not exist, or not at the revision `at`."""
    kind = "conversation" if is_conversation(name) else "record"
    command = "gitmem conversation list" if is_conversation(name) and not at else f"gitmem memory log {name}"
    place = f" at revision `{at}`" if at else ""
    return UnknownRecord(f"no such {kind}{place}: `{name}`", hint=hint or command)
