"""Read the text of hits: the lines of chunks, adjacent chunks, fields of records, and notes about the code."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from gitmem.answering.hit_blobs import read_blobs, texts_of
from gitmem.commit import Commit, parse_commit
from gitmem.git.object_reader import ObjectReader
from gitmem.git.path_encoding import path_bytes, path_text
from gitmem.memory.kinds import CODE, content_line, kind_of
from gitmem.memory.record_paths import CONVERSATION_PREFIX
from gitmem.named_tuple import NamedTuple
from gitmem.record import Record, parse_record
from gitmem.search.snippet import lines_of, lines_of_span
from gitmem.secrets.masking import mask_private_keys
from gitmem.types import COMMIT, NOTE, PROSE_KINDS, RECORD_KINDS, TURN

# Records and their windows are imported only for hits that are records: a query of code saves a tenth of its start-up.
if TYPE_CHECKING:
    from gitmem.answering.hit_details import HitDetails
    from gitmem.answering.searcher import Searcher
    from gitmem.records.code_notes import CodeNote
    from gitmem.search.adjacent_chunks import AdjacentChunk
    from gitmem.search.engine import SearchResult
    from gitmem.search.hits import Hit
    from gitmem.search.skeleton import InnerChunk

    _Adjacent = tuple[AdjacentChunk | None, AdjacentChunk | None]

COMMIT_DIGITS: Final = 12
"""Digits by which a commit is named: unique in the largest repositories."""

_INTERNAL_FIELDS: Final = ("chunks", "tokens", "tokenizer", "blobs", "commit")


class Piece(NamedTuple):
    """Lines of a chunk, and the 1-based number of the first."""

    first: int
    lines: list[str]


class HitLines(NamedTuple):
    """Lines of hits, and the chunks before and after each, None at either end of a file or if not requested.

    A hit with other chunks inside is reduced to its skeleton (`search.skeleton`).
    """

    hits: "list[tuple[Hit, list[str]]]"
    adjacent: "list[tuple[Piece | None, Piece | None]]"


class HitTexts(NamedTuple):
    """Text of hits, in their order.

    `without_keys` are the lines with private keys as dots, None if no blob has one. `changed` are the paths of
    uncommitted files that changed since they were searched. `records` maps the blobs of records to their fields.
    `code_notes` has one item a hit, and so has `details` if requested.
    """

    lines: HitLines
    without_keys: HitLines | None
    changed: list[str]
    records: dict[str, dict[str, Any]]
    code_notes: "list[list[CodeNote]]"
    details: "list[HitDetails]"


def read_hits(
    searcher: "Searcher",
    found: "SearchResult",
    limit: int,
    reader: ObjectReader,
    *,
    neighbors: bool,
    details: bool = False,
) -> HitTexts:
    """Read the blobs of hits, each once, and choose the units that represent rows with several.

    A blob that no longer exists gives no lines. Raises DamagedFile.
    """
    from gitmem.search.unit_choice import choose_units  # with numpy, which the search has loaded by now

    data = read_blobs(searcher.tree, found.hits, reader)
    texts = texts_of(found.hits, data)
    hits = choose_units(found.hits, texts, found.terms, limit, found.meaning, found.literal)
    files = searcher.files
    # An uncommitted blob without content: the file no longer has the hash under which it was indexed.
    changed = [path_text(files[oid]) for oid, content in data.items() if not content and oid in files]
    records = _parse_records(searcher, data, hits)
    commits = _parse_commits(texts, hits)
    shown = [_widen(hit, data[hit.blob], records.get(hit.blob), commits.get(hit.blob)) for hit in hits]
    beside = [_adjacent_chunks(searcher, hit, data[hit.blob], records.get(hit.blob)) if neighbors else (None, None)
              for hit in shown]  # fmt: skip
    # Only the whole text shows that a chunk belongs to a key that began in an earlier chunk.
    masked = {source: mask_private_keys(text) for source, text in texts.items()}
    fields = {oid: _public_fields(record) for oid, record in records.items()}
    fields |= {oid: commit.fields(oid) for oid, commit in commits.items()}
    for oid, state in _read_states(searcher, records).items():
        fields[oid]["state"] = state
    inner = [[] if hit.blob in records else searcher.inner_chunks(hit) for hit in shown]
    return HitTexts(
        _cut_lines(texts, shown, inner, beside, found.terms),
        None if masked == texts else _cut_lines(masked, shown, inner, beside, found.terms),
        changed,
        fields,
        _read_code_notes(searcher, hits, reader),
        _read_details(searcher, hits, data) if details else [],
    )


def _read_details(searcher: "Searcher", hits: "Sequence[Hit]", data: Mapping[str, bytes]) -> "list[HitDetails]":
    from gitmem.answering.hit_details import read_details  # only for programs

    return [read_details(searcher, hit, len(data[hit.blob])) for hit in hits]


def _cut_lines(
    texts: Mapping[tuple[str, str], bytes],
    hits: "Sequence[Hit]",
    inner: "Sequence[Sequence[InnerChunk]]",
    beside: "Sequence[_Adjacent]",
    terms: Sequence[str],
) -> HitLines:
    from gitmem.search.skeleton import reduce_lines

    return HitLines(
        [(hit, reduce_lines(_lines(texts[hit.source], hit, hit), hit, chunks, terms))
         for hit, chunks in zip(hits, inner, strict=True)],
        [(_piece(texts[hit.source], hit, before), _piece(texts[hit.source], hit, after))
         for hit, (before, after) in zip(hits, beside, strict=True)],
    )  # fmt: skip


def _parse_records(searcher: "Searcher", data: Mapping[str, bytes], hits: "Sequence[Hit]") -> dict[str, Record]:
    """Parse the records among hits, except those that no longer exist, and find out who shared them."""
    paths = {hit.blob: hit.path for hit in hits if hit.chunk_type in RECORD_KINDS and data[hit.blob]}
    if not paths:
        return {}
    from gitmem.memory.record_store import RecordStore

    with RecordStore(searcher.workspace.location) as store:
        return {
            oid: store.attribute(parse_record(data[oid], path), path_bytes(path), oid) for oid, path in paths.items()
        }


def _parse_commits(texts: Mapping[tuple[str, str], bytes], hits: "Sequence[Hit]") -> dict[str, Commit]:
    """Parse the commits among hits, except those that no longer exist."""
    commits = (hit for hit in hits if hit.chunk_type == COMMIT and texts[hit.source])
    return {hit.blob: parse_commit(texts[hit.source]) for hit in commits}


def _widen(hit: "Hit", data: bytes, record: Record | None, commit: Commit | None) -> "Hit":
    """Return the whole window of a record's hit, and that of a commit with lines of its message; others unchanged."""
    if commit is not None:
        return hit._replace(start_line=hit.start_line - commit.headers, end_line=hit.end_line - commit.headers)
    if record is None:
        return hit
    from gitmem.answering.record_windows import widen

    return widen(hit, data, record)


def _adjacent_chunks(searcher: "Searcher", hit: "Hit", data: bytes, record: Record | None) -> "_Adjacent":
    if hit.chunk_type == COMMIT:
        return None, None  # its result is a passage of one text, which `get` returns as a whole
    if record is None:
        return searcher.adjacent_chunks(hit)
    from gitmem.answering.record_windows import find_beside

    return find_beside(hit, data, record)


def _lines(data: bytes, hit: "Hit", chunk: "Hit | AdjacentChunk") -> list[str]:
    """Return the lines of a chunk. That of a record or commit may begin inside a line, since its lines can be long."""
    if hit.chunk_type in PROSE_KINDS:
        return lines_of(data[chunk.start : chunk.end], 1, chunk.end_line - chunk.start_line + 1) if data else []
    return lines_of_span(data, chunk.start, chunk.end) if data else []


def _piece(data: bytes, hit: "Hit", chunk: "AdjacentChunk | None") -> "Piece | None":
    if chunk is None or not data:
        return None
    return Piece(content_line(hit.chunk_type, chunk.start_line), _lines(data, hit, chunk))


def _public_fields(record: Record) -> dict[str, Any]:
    """Return id and fields of a record, without those that only gitmem uses."""
    return {
        "id": record.id,
        **{name: value for name, value in record.named_fields.items() if name not in _INTERNAL_FIELDS},
    }


def _read_states(searcher: "Searcher", records: Mapping[str, Record]) -> dict[str, dict[str, Any]]:
    """Return the states of the notes among records by their blobs, as JSON values."""
    notes = {oid: record for oid, record in records.items() if record.kind == NOTE}
    if not notes or searcher.records is None:
        return {}
    from gitmem.memory.note import load_note
    from gitmem.records.note_states import find_states, state_json

    full_notes = [load_note(record) for record in notes.values()]
    states = find_states(searcher.records, searcher.view, searcher.workspace.location, full_notes)
    return {oid: state_json(states[record.id]) for oid, record in notes.items()}


def _read_code_notes(searcher: "Searcher", hits: "Sequence[Hit]", reader: ObjectReader) -> "list[list[CodeNote]]":
    if searcher.records is None:
        return [[] for _ in hits]
    from gitmem.records.code_notes import read_code_notes

    return read_code_notes(searcher.workspace.location, searcher.records, searcher.view, hits, reader)


def repeats_heading(hit: "Hit", lines: Sequence[str]) -> bool:
    """Return whether the text of a hit is its heading: a commit message of one line is the subject alone."""
    return hit.chunk_type == COMMIT and list(lines) == [hit.symbol]


def named_hit(hit: "Hit") -> "Hit":
    """Return the hit of a record or commit under the id that `get` accepts, with lines of its text; code unchanged."""
    if kind_of(hit.chunk_type) == CODE:
        return hit
    if hit.chunk_type == COMMIT:
        return hit._replace(path=hit.path[:COMMIT_DIGITS])
    # A turn is stored as <conversation>/<number>, zero-padded so that names sort; users see the plain number.
    last = hit.path.rpartition("/")[2]
    name = f"{CONVERSATION_PREFIX}{hit.symbol} {int(last)}" if hit.chunk_type == TURN else last
    first, end = content_line(hit.chunk_type, hit.start_line), content_line(hit.chunk_type, hit.end_line)
    # The symbol of a turn is its conversation, which the name contains.
    symbol = "" if hit.chunk_type == TURN else hit.symbol
    return hit._replace(path=name, symbol=symbol, start_line=first, end_line=end)
