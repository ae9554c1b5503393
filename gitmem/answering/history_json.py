"""The history of an element as JSON, for the command line and agents."""

from typing import Any

from gitmem.answering.element_history import DatedChange, ElementHistory
from gitmem.git.path_encoding import path_text
from gitmem.history.changes import KINDS
from gitmem.history.trace import Change

Json = dict[str, Any]


def history_json(history: ElementHistory) -> Json:
    """Return a history as one object; `introduced` and `removed` are commits, or null if unknown or still there."""
    by_kind = {kind: dated.change.commit for dated in history.changes for kind in dated.change.kinds}
    return {
        "rev": history.rev,
        "commit": history.commit,
        "path": history.path,
        "symbol": history.symbol,
        "chunk_type": history.chunk_type,
        "start_line": history.first,
        "end_line": history.last,
        "introduced": by_kind.get("introduced"),
        "removed": by_kind.get("removed"),
        "changes": [_change_json(dated) for dated in history.changes],
        "notes": history.notes,
    }


def kinds_of(change: Change) -> list[str]:
    """Return the kinds of a change in their fixed order."""
    return [kind for kind in KINDS if kind in change.kinds]


def former_place(change: Change) -> str:
    """Return path and symbol before a change, "" if both stayed."""
    if not change.old_path or (change.old_path, change.old_symbol) == (change.path, change.symbol):
        return ""
    if change.old_path == change.path:
        return change.old_symbol
    path = path_text(change.old_path)
    return f"{path}#{change.old_symbol}" if change.old_symbol else path


def _change_json(dated: DatedChange) -> Json:
    change, details = dated
    return {
        "commit": change.commit,
        "kinds": kinds_of(change),
        "author": details.author,
        "email": details.address,
        "date": details.date,
        "subject": details.subject,
        "path": path_text(change.path),
        "symbol": change.symbol,
        "old_path": path_text(change.old_path) or None,
        "old_symbol": change.old_symbol or None,
        "sources": [
            {"relation": source.relation, "path": path_text(source.path), "symbol": source.symbol}
            for source in change.sources
        ],
    }
