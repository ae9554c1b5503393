"""Read the results of search sessions: the text as it was found, unless it is gone.

The text of a file comes from the blob that was searched, so a later commit changes nothing. The text of a record comes
from the present memory: one that was deleted since is not shown again.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from gitmem.answering.answer_json import json_path
from gitmem.answering.commit_excerpts import find_commit_excerpt
from gitmem.answering.excerpts import Excerpt
from gitmem.answering.record_excerpts import read_records
from gitmem.answering.sessions import Session, SessionResult, session_json
from gitmem.chunking.blob_text import text_of
from gitmem.display import count, visible
from gitmem.errors import GitmemError, UsageError
from gitmem.git.objects import open_reader
from gitmem.git.path_encoding import path_bytes
from gitmem.locations import LineRange, Location, format_location
from gitmem.memory.kinds import CODE, COMMITS
from gitmem.memory.record_store import RecordStore
from gitmem.records.note_states import read_state
from gitmem.search.snippet import join_lines, lines_of
from gitmem.secrets.masking import mask_secrets, mask_text
from gitmem.workspace import Workspace

_GONE: Final = "this text no longer exists"


def read_session(workspace: Workspace, session: Session, limit: int) -> list[Excerpt]:
    """Return a heading with the query, followed by the first `limit` results with their text."""
    results = session.results[:limit]
    return [_describe(session, len(results)), *read_results(workspace, session, results)]


def read_results(workspace: Workspace, session: Session, results: Sequence[SessionResult]) -> list[Excerpt]:
    """Return some results of a session with their text; a result that is gone has none, and says so."""
    blobs = _read_blobs(workspace, [result for result in results if result.kind == CODE])
    with RecordStore(workspace.location) as store:
        excerpts = [
            _code_excerpt(workspace, result, blobs.get(result.blob))
            if result.kind == CODE
            else _record_excerpt(workspace, store, result)
            for result in results
        ]
    ranked = enumerate(zip(results, excerpts, strict=True), 1)
    return [_with_fields(session, rank, result, excerpt) for rank, (result, excerpt) in ranked]


def _describe(session: Session, shown: int) -> Excerpt:
    fields = {"kind": "session", **session_json(session), "returned_results": shown}
    number = count(len(session.results), "result")
    shorter = f", the first {shown}" if shown < len(session.results) else ""
    heading = f"{session.id} {visible(mask_text(session.query))} ({number}{shorter})"
    return Excerpt(heading, [], 1, "", fields, [f"searched {fields['time']} in {visible(session.tree)}"])


def _read_blobs(workspace: Workspace, results: Sequence[SessionResult]) -> dict[str, bytes]:
    """Read the blobs of files, those that were never committed from their files if these are unchanged."""
    if not results:
        return {}
    # A session is a file like any other: whoever changes it must not make this read other files of the machine.
    inside = (result for result in results if ".." not in result.path.split("/") and not result.path.startswith("/"))
    files = {result.blob: path_bytes(result.path) for result in inside if result.uncommitted}
    with open_reader(workspace.location, bulk=False, files=files) as reader:
        contents = reader.read_many(dict.fromkeys(result.blob for result in results))
        return {oid: content for oid, content in contents if content is not None}


def _code_excerpt(workspace: Workspace, result: SessionResult, data: bytes | None) -> Excerpt:
    location = format_location(Location(result.path, LineRange(result.start_line, result.end_line)))
    heading = f"{visible(location)} {visible(result.symbol)}".rstrip()
    folder = workspace.location.worktree
    uri = (folder / result.path).as_uri() if folder and result.path.isprintable() else None
    fields = {"id": json_path(location), "file_uri": uri}
    if data is None:
        return _without_text(heading, result, fields, _GONE)
    # Masked as a whole: only the whole text shows that a chunk belongs to a key that began in an earlier one.
    lines = lines_of(mask_secrets(text_of(data, result.language)), result.start_line, result.end_line)
    return Excerpt(heading, lines, result.start_line, join_lines(lines), fields)


def _without_text(heading: str, result: SessionResult, fields: Mapping[str, Any], problem: str) -> Excerpt:
    """Return a result that has no text, with the reason."""
    return Excerpt(heading, [], result.start_line, "", {**fields, "problem": problem}, [problem])


def _record_excerpt(workspace: Workspace, store: RecordStore, result: SessionResult) -> Excerpt:
    name = f"{result.path}:{result.start_line}-{result.end_line}"
    try:
        if result.kind == COMMITS:
            excerpt = find_commit_excerpt(workspace.location, name)
        else:
            excerpt = read_records(store, store.tip(), name, 1, partial(read_state, workspace))[0]
    except UsageError:  # no such record or revision any more
        excerpt = None
    except GitmemError as problem:  # one damaged result must not hide the others
        return _without_text(visible(name), result, {"id": name}, problem.message)
    if excerpt is None:
        return _without_text(visible(name), result, {"id": name}, _GONE)
    return excerpt._replace(fields={**excerpt.fields, "id": name, "file_uri": None})


def _with_fields(session: Session, rank: int, result: SessionResult, excerpt: Excerpt) -> Excerpt:
    """Add the fields that results of searches have, and the session."""
    fields = {
        "session": session.id,
        "rank": rank,
        "kind": result.kind,
        "path": json_path(result.path),
        "start_line": result.start_line,
        "end_line": result.end_line,
        "chunk_type": result.chunk_type,
        "symbol": result.symbol,
        "language": result.language,
        "score": result.score,
        "blob": result.blob,
        "content_hash": hashlib.sha256(excerpt.content.encode("utf-8", "surrogateescape")).hexdigest(),
        **excerpt.fields,
    }
    return excerpt._replace(fields=fields)
