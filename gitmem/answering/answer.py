"""Answer a question about a tree: open it, search, read the hits' text."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from gitmem.answering.searcher import Searcher, open_searcher
from gitmem.errors import DamagedFile, UsageError
from gitmem.freshness.tree_selection import WORKTREE, TreeReader
from gitmem.git.object_reader import ObjectReader
from gitmem.git.objects import open_reader
from gitmem.git.path_encoding import path_bytes, path_text
from gitmem.records.filters import NO_LIMITS, RecordLimits
from gitmem.records.kinds import CODE, line_told, parse_sources, sources_of
from gitmem.types import KINDS, RECORD_KINDS
from gitmem.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.record import Record
    from gitmem.records.code_notes import Remark
    from gitmem.search.adjacent_chunks import Beside
    from gitmem.search.hits import Hit

MAX_QUERY: Final = 1000
_INNER: Final = ("chunks", "tokens", "tokenizer")
MODES: Final = ("hybrid", "semantic", "lexical")


class Request(NamedTuple):
    """A question and what it is limited to. `limit` 0 is the configured default.

    It is about the working tree, unless `rev` names a revision, `staged` means the index, or `changed` names a range
    of revisions, at whose end then only what changed is found. `sources` are what it ranges over, see `actions.kinds`.
    `limits` are what records must have; they leave out code. With `neighbors` the chunks beside each hit are read too.
    """

    text: str
    limit: int = 0
    rev: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    mode: str = "hybrid"
    refresh: bool = True
    staged: bool = False
    changed: str = ""
    sources: tuple[str, ...] = ()
    limits: RecordLimits = NO_LIMITS
    neighbors: bool = False


class ViewState(NamedTuple):
    """Which tree an answer describes, and how completely it is indexed.

    `source` is `worktree`, `staged` or `commit`. So many paths are `uncommitted` over the commit, and `dirty` says
    whether any is: None where git could not tell. So many files are `missing` in the index.
    """

    rev: str
    commit: str | None
    tree: str
    branch: str | None
    dirty: bool | None
    stale: bool
    missing: int
    files: int
    source: str
    uncommitted: int


class Piece(NamedTuple):
    """Lines of a chunk and the number of the first, as a person counts them."""

    first: int
    lines: list[str]


class Answer(NamedTuple):
    """Hits with the lines of their chunks, best first.

    `changes` says of the hits' paths what is uncommitted about them, where anything is: `modified`, `staged` or
    `untracked`. `files` are blobs that are perhaps only files of the working tree, with their paths. `records` says
    what is known of those among the hits, by their blobs, `beside` has the chunks before and after each hit, None where
    there is none or they were not asked for, and `remarks` the notes about the code of each hit.
    """

    request: Request
    view: ViewState
    terms: tuple[str, ...]
    hits: "list[tuple[Hit, list[str]]]"
    stats: dict[str, Any]
    notes: list[str]
    changes: Mapping[str, str]
    files: Mapping[str, bytes]
    records: Mapping[str, Mapping[str, Any]]
    beside: "Sequence[tuple[Piece | None, Piece | None]]"
    remarks: "Sequence[Sequence[Remark]]"


def check_request(request: Request, max_limit: int, default_limit: int) -> int:
    """Refuse what cannot be answered; returns the limit in force. Raises UsageError."""
    if not request.text.strip():
        raise UsageError("the query is empty", hint='ask something: gitmem query "where are cookies signed"')
    if "\0" in request.text:
        raise UsageError("the query is binary data", hint="ask in words or symbols")
    if len(request.text.strip()) > MAX_QUERY:
        raise UsageError(f"Query exceeds maximum length of {MAX_QUERY} characters", hint="ask a shorter question")
    limit = request.limit or min(default_limit, max_limit)
    if not 1 <= limit <= max_limit:
        raise UsageError(f"the limit is {limit}, it must be between 1 and {max_limit}")
    if request.mode not in MODES:
        raise UsageError(f"`{request.mode}` is no mode", hint="modes: " + ", ".join(MODES))
    unknown = [kind for kind in request.kinds if kind not in KINDS]
    if unknown:
        raise UsageError(f"`{unknown[0]}` is no chunk type", hint="types: " + ", ".join(KINDS))
    parse_sources(request.sources)
    if request.changed and any(source != CODE for source in request.sources):
        raise UsageError("only code can be asked for what changed between revisions")
    if request.limits.any and sources_of(request) == (CODE,):
        raise UsageError("code has no source, time or type of a record", hint="ask records: --kind documents")
    return limit


Find = Callable[[Searcher, int], "tuple[tuple[str, ...], list[Hit]]"]
"""Terms to mark and hits, at most the given number, best first."""


def answer(workspace: Workspace, request: Request) -> Answer:
    """Answer one question.

    Raises: UsageError, UnknownRevision, NoIndex, UnsafeIndex, NewerFormat.
    """

    def find(searcher: Searcher, limit: int) -> "tuple[tuple[str, ...], list[Hit]]":
        query, hits = searcher.search(request, limit)
        return query.terms, hits

    return answer_with(workspace, request, find)


def answer_with(workspace: Workspace, request: Request, find: Find) -> Answer:
    """Answer by any way of finding hits: the index is opened, healed where it must be, and the hits' text read."""
    started = time.perf_counter()
    settings = workspace.settings
    limit = check_request(request, settings.search_max_limit, settings.search_default_limit)
    with TreeReader(workspace.location, request) as reader:
        try:
            made = _search(workspace, request, reader, limit, find)
        except DamagedFile as problem:
            if not request.refresh:
                raise
            _rebuild(workspace, reader)
            made = _search(workspace, request, reader, limit, find)
            made.notes.insert(0, f"{problem.message}; rebuilt")
    made.stats["query_time_ms"] = round((time.perf_counter() - started) * 1000, 1)
    return made


def _rebuild(workspace: Workspace, reader: TreeReader) -> None:
    """Read every checksum, and make what is damaged anew."""
    from gitmem.freshness.refresh import refresh

    refresh(workspace, reader.read().revision.tree, check=True)


def _search(workspace: Workspace, request: Request, reader: TreeReader, limit: int, find: Find) -> Answer:
    return answer_from(open_searcher(workspace, request, reader), request, limit, find)


def answer_from(
    searcher: Searcher, request: Request, limit: int, find: Find, reader: ObjectReader | None = None
) -> Answer:
    """Answer from a tree that is open already; `limit` is what `check_request` gave. Raises DamagedFile.

    `reader` is one of the tree's blobs that stays open; without it one is opened for this answer.
    """
    terms, hits = find(searcher, limit)
    if reader is not None:
        read = read_hits(searcher, hits, reader, neighbors=request.neighbors)
    else:
        with open_reader(searcher.asked.location, bulk=False, files=searcher.files) as own:
            read = read_hits(searcher, hits, own, neighbors=request.neighbors)
    stats = {
        "chunks": searcher.snapshot.rows,
        "generation": searcher.snapshot.manifest.generation,
        "results": len(hits),
    }
    notes = [*searcher.notes, *(f"`{path}` changed while it was read; ask again" for path in read.changed)]
    state = view_state(request, searcher)
    if read.changed:
        state = state._replace(stale=True, missing=state.missing + len(read.changed))
    paths = {path_bytes(hit.path) for hit in hits}
    changes = {path_text(path): change for path, change in searcher.changes.items() if path in paths}
    return Answer(request, state, terms, read.hits, stats, notes, changes, searcher.files, *read[2:])


def view_state(request: Request, searcher: Searcher) -> ViewState:
    """Which tree a searcher answers from."""
    asked = searcher.asked
    return ViewState(
        rev=request.changed or request.rev or "HEAD",
        commit=asked.revision.commit,
        tree=asked.revision.tree,
        branch=asked.revision.branch,
        dirty=None if asked.problem else bool(asked.entries),
        stale=searcher.stale,
        missing=searcher.missing_files,
        files=searcher.files_in_tree,
        source=asked.source,
        uncommitted=len(asked.entries),
    )


class ReadHits(NamedTuple):
    """Hits with the lines of their chunks, the paths of uncommitted files that have changed meanwhile, what is known of
    records, by blob, the chunks beside each hit, and the notes about its code."""

    hits: "list[tuple[Hit, list[str]]]"
    changed: list[str]
    records: dict[str, dict[str, Any]]
    beside: "list[tuple[Piece | None, Piece | None]]"
    remarks: "list[list[Remark]]"


def read_hits(searcher: Searcher, hits: "Sequence[Hit]", reader: ObjectReader, *, neighbors: bool) -> ReadHits:
    """Read the blobs of hits, each once, with the chunks beside them where these are wanted; what is gone gives no
    lines. Raises DamagedFile."""
    files = searcher.files
    wanted = list(dict.fromkeys(hit.blob for hit in hits))
    data = _read_files(searcher, hits)
    data |= {oid: found or b"" for oid, found in reader.read_many(oid for oid in wanted if oid not in data)}
    changed = [path_text(files[oid]) for oid in wanted if not data[oid] and oid in files]
    records = _parse_records(data, hits)
    shown, pieces = [], []
    for hit in hits:
        text, record = data[hit.blob], records.get(hit.blob)
        found = hit if record is None else _widen(hit, text, record)
        shown.append((found, _lines(text, found, found)))
        before, after = _beside(searcher, found, text, record) if neighbors else (None, None)
        pieces.append((_piece(text, found, before), _piece(text, found, after)))
    known = {oid: _known_of(record) for oid, record in records.items()}
    return ReadHits(shown, changed, known, pieces, _read_remarks(searcher, hits, reader))


def _read_remarks(searcher: Searcher, hits: "Sequence[Hit]", reader: ObjectReader) -> "list[list[Remark]]":
    if searcher.records is None:
        return [[] for _ in hits]
    from gitmem.records.code_notes import read_remarks

    return read_remarks(searcher.records, hits, reader)


def _parse_records(data: Mapping[str, bytes], hits: "Sequence[Hit]") -> "dict[str, Record]":
    """The records among hits, by their blobs, but for those that are gone."""
    told = {hit.blob: hit.path for hit in hits if hit.kind in RECORD_KINDS and data[hit.blob]}
    if not told:
        return {}
    from gitmem.record import parse_record

    return {oid: parse_record(data[oid], path) for oid, path in told.items()}


def _widen(hit: "Hit", data: bytes, record: "Record") -> "Hit":
    from gitmem.answering.record_windows import widen

    return widen(hit, data, record)


def _beside(
    searcher: Searcher, hit: "Hit", data: bytes, record: "Record | None"
) -> "tuple[Beside | None, Beside | None]":
    if record is None:
        return searcher.neighbours(hit)
    from gitmem.answering.record_windows import find_beside

    return find_beside(hit, data, record)


def _read_files(searcher: Searcher, hits: "Sequence[Hit]") -> dict[str, bytes]:
    """The blobs of hits that files of the working tree hold, where the question is about that."""
    if searcher.asked.source != WORKTREE:
        return {}
    from gitmem.git.working_files import read_unchanged

    places = {hit.blob: path_bytes(hit.path) for hit in hits if hit.kind not in RECORD_KINDS}
    return read_unchanged(searcher.asked.location, places)


def _lines(data: bytes, hit: "Hit", chunk: "Hit | Beside") -> list[str]:
    """The lines of a chunk; those of a record begin and end where the chunk does, for its lines may be long."""
    from gitmem.search.snippet import lines_of, lines_touched

    if hit.kind in RECORD_KINDS:
        return lines_of(data[chunk.start : chunk.end], 1, chunk.end_line - chunk.start_line + 1) if data else []
    return lines_touched(data, chunk.start, chunk.end) if data else []


def _piece(data: bytes, hit: "Hit", chunk: "Beside | None") -> "Piece | None":
    if chunk is None or not data:
        return None
    return Piece(line_told(hit, chunk.start_line), _lines(data, hit, chunk))


def _known_of(record: "Record") -> dict[str, Any]:
    """The id and the fields of a record, but for what only gitmem needs."""
    return {"id": record.id, **{name: value for name, value in record.fields.items() if name not in _INNER}}
