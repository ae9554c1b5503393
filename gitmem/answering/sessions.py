"""Search sessions: the last searches of a repository with their results, for later calls and for reports.

A session is one small file in the state folder. It refers to the results by path, lines and blob, and holds no text of
them: a record that is deleted or purged later can therefore not come back out of a session.

The name of a file begins with the time of its last use, so the names alone are the order of use. No lock is needed:
each writer adds its file first and then removes the oldest files, so of any number of writers the last one leaves
exactly the configured number.
"""

import json
import os
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_origin

from gitmem.answering.answer_json import describe_view
from gitmem.answering.hit_text import named_hit
from gitmem.errors import StorageFailed, UnknownRecord
from gitmem.events import hide_keys
from gitmem.fsio import read_file, remove_file, rename_file, write_atomic
from gitmem.lazy_pattern import lazy_pattern
from gitmem.memory.kinds import kind_of
from gitmem.named_tuple import NamedTuple
from gitmem.paths import SESSION, IndexPaths
from gitmem.secrets.masking import mask_text
from gitmem.workspace import Workspace, find_index

if TYPE_CHECKING:
    from gitmem.answering.answer import Answer

PREFIX: Final = "search_"
_VERSION: Final = 1
_ID_FORM: Final = PREFIX + "[0-9a-f]{8}"
_ID: Final = lazy_pattern(_ID_FORM)
_NAME: Final = lazy_pattern(re.escape(SESSION) + r"(\d{20})-(" + _ID_FORM + ")")
_MAX_BYTES: Final = 4 << 20
"""Larger than the file of a query of maximum length with the maximum number of results."""


class SessionResult(NamedTuple):
    """Result of a search: its place, by path and lines or by the id of a record, and its score.

    `blob` has the text at the time of the search. If `uncommitted`, only a file of the working tree may have it.
    """

    kind: str
    path: str
    start_line: int
    end_line: int
    chunk_type: str
    symbol: str
    language: str
    score: float
    blob: str
    uncommitted: bool


class Session(NamedTuple):
    """A search: its id, time in seconds, query, the tree that was searched, and its results, best first."""

    id: str
    time: float
    query: str
    tree: str
    results: tuple[SessionResult, ...]


def is_session_name(name: str) -> bool:
    """Return whether a name is the id of a session."""
    return _ID.fullmatch(name) is not None


def save_session(workspace: Workspace, answer: "Answer") -> "Answer":
    """Keep the search of an answer; return the answer with the id of its session.

    The answer stays as it is if no sessions are kept, or if the index cannot be written to.
    """
    most = workspace.settings.sessions
    if not most:
        return answer
    name = PREFIX + os.urandom(4).hex()
    query = mask_text(hide_keys(answer.query.text))
    session = Session(name, time.time(), query, describe_view(answer.view), _results(answer))
    try:
        write_session(workspace.paths, session, most)
    except StorageFailed:  # a repository that can only be read is searched all the same
        return answer
    return answer._replace(session=name)


def _results(answer: "Answer") -> tuple[SessionResult, ...]:
    hits = (named_hit(hit) for hit, _ in answer.hits)
    return tuple(
        SessionResult(
            kind_of(hit.chunk_type), hit.path, hit.start_line, hit.end_line, hit.chunk_type, hit.symbol, hit.language,
            round(float(hit.score), 6), hit.blob, hit.blob in answer.files,
        )
        for hit in hits
    )  # fmt: skip


def session_time(session: Session) -> str:
    """Return the time of a search in ISO 8601."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(max(0.0, min(session.time, 2.0**36))))


def session_json(session: Session) -> dict[str, Any]:
    """Return a session without its results as JSON values."""
    return {
        "id": session.id,
        "query": session.query,
        "time": session_time(session),
        "tree": session.tree,
        "total_results": len(session.results),
    }


def write_session(paths: IndexPaths, session: Session, most: int) -> None:
    """Add a session as the one used last, and remove the oldest beyond `most`. Raises: StorageFailed."""
    names = _list_names(paths)
    value = {"version": _VERSION, **session._asdict(), "results": [list(result) for result in session.results]}
    write_atomic(_next_file(paths, names, session.id), [json.dumps(value).encode("ascii")], durable=False)
    for name in names[: max(0, len(names) + 1 - most)]:
        remove_file(paths.state / name)


def list_sessions(workspace: Workspace) -> list[Session]:
    """Return the sessions, the one used last first. Files that cannot be read are skipped.

    Raises: UnsafeIndex if the index is not of gitmem, StorageFailed.
    """
    if find_index(workspace) is None:
        return []
    sessions = (_read(workspace.paths.state / name) for name in reversed(_list_names(workspace.paths)))
    return [session for session in sessions if session is not None]


def use_session(workspace: Workspace, name: str) -> Session:
    """Return a session and make it the one used last. Raises: UnknownRecord, and as `list_sessions`."""
    if find_index(workspace) is not None:
        names = _list_names(workspace.paths)
        # The newest first: another process may be renaming the file at this moment.
        for file in (workspace.paths.state / each for each in reversed(names) if each.endswith(name)):
            session = _read(file)
            if session is not None and session.id == name:
                with suppress(StorageFailed):  # an index that can only be read
                    rename_file(file, _next_file(workspace.paths, names, name))
                return session
    hint = f"gitmem report sessions; the last {workspace.settings.sessions} searches are kept"
    raise UnknownRecord(f"no such session: `{name}`", hint=hint)


def _next_file(paths: IndexPaths, names: list[str], name: str) -> Path:
    """Return the file of a session that is used now: later than all others, even if the clock was set back."""
    last = _NAME.fullmatch(names[-1]) if names else None
    return paths.state / f"{SESSION}{max(time.time_ns(), int(last[1]) + 1 if last else 0):020}-{name}"


def _list_names(paths: IndexPaths) -> list[str]:
    """Return the names of the files of all sessions, the one used last at the end."""
    try:
        # Plain names: a path object for each of the other files would cost more than reading the folder.
        return sorted(name for name in os.listdir(paths.state) if _NAME.fullmatch(name))  # noqa: PTH208
    except OSError:
        return []


def _read(file: Path) -> Session | None:
    """Return the session of a file, None if it is gone, damaged or of another version."""
    try:
        return _parse(json.loads(read_file(file, _MAX_BYTES) or b"null"))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _parse(value: Mapping[str, Any]) -> Session | None:
    if value["version"] != _VERSION:
        return None
    results = tuple(_checked(SessionResult, SessionResult(*fields)) for fields in value["results"])
    session: Session = _checked(Session, Session(value["id"], value["time"], value["query"], value["tree"], results))
    return session


def _checked(kind: Any, fields: Any) -> Any:
    """Return the fields of a named tuple. Raises TypeError unless each has the type of its annotation."""
    for name, expected in kind.__annotations__.items():
        if not isinstance(getattr(fields, name), get_origin(expected) or expected):
            raise TypeError(f"`{name}` is not of type {expected}")
    return fields
