"""Upload the blobs that the server lacks: one transaction for each segment, with their rows, texts and terms."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gitmem.answering.searcher import Searcher
from gitmem.arrays import NDArray
from gitmem.errors import GitFailed
from gitmem.git.object_reader import ObjectReader
from gitmem.git.objects import BULK_FROM, open_reader
from gitmem.named_tuple import NamedTuple
from gitmem.org.binary_copy import (
    HEADER,
    TRAILER,
    encode_bits_array,
    encode_int2,
    encode_int4,
    encode_int8,
    encode_row,
)
from gitmem.org.blob_rows import UploadedBlob, iter_blobs
from gitmem.org.blob_text import pack_text
from gitmem.org.connection import duplicate_key
from gitmem.org.partitions import remove_contents, skip_numbers
from gitmem.org.term_runs import add_runs
from gitmem.store.segment import Segment

if TYPE_CHECKING:
    from gitmem.org.connection import Database

_READ_TOGETHER: Final = 64

_LACKING: Final = """
SELECT wanted.oid, wanted.language FROM unnest(%(oids)s::bytea[], %(languages)s::text[]) wanted (oid, language)
WHERE NOT EXISTS (SELECT FROM gitmem.blobs WHERE blobs.oid = wanted.oid AND blobs.language = wanted.language
  AND blobs.producer = %(producer)s)
"""
_STAGED: Final = """
CREATE TEMP TABLE IF NOT EXISTS staged_blobs (id bigint, oid bytea, language text, parsed_language text, outcome int2,
  chunks int4, kinds int4, words int4, record bytea, text bytea, bits bit varying[]) ON COMMIT DELETE ROWS
"""
_STORE_BLOBS: Final = """
WITH stored AS (
  INSERT INTO gitmem.blobs (id, oid, language, producer, parsed_language, outcome, chunks, kinds, words, record,
    text)
  SELECT id, oid, language, %(producer)s, parsed_language, outcome, chunks, kinds, words,
    CASE WHEN is_apart THEN '' ELSE record END, CASE WHEN is_apart THEN '' ELSE text END
  FROM staged_blobs, (SELECT EXISTS (SELECT FROM gitmem.partitions) AS is_apart) layout
  ORDER BY id ON CONFLICT (oid, language, producer) DO NOTHING RETURNING id),
apart AS (
  INSERT INTO gitmem.contents (blob, record, text) SELECT id, record, text FROM stored JOIN staged_blobs USING (id)
  WHERE EXISTS (SELECT FROM gitmem.partitions))
INSERT INTO gitmem.signatures (blob, bits) SELECT id, bits FROM stored JOIN staged_blobs USING (id)
"""

Key = tuple[bytes, str]
"""Object id and requested language of a blob."""


class _Uploaded(NamedTuple):
    """Sums over some blobs, and their terms: `blobs` are the numbers of those that hold them."""

    chunks: int
    bytes: int
    blobs: NDArray[np.int64]
    hashes: NDArray[np.uint32]
    codes: NDArray[np.uint8]


def find_lacking(database: "Database", keys: Sequence[Key], producer: int) -> list[Key]:
    """Return the keys of the blobs that the server does not have."""
    parameters = {
        "oids": [oid for oid, _ in keys],
        "languages": [language for _, language in keys],
        "producer": producer,
    }
    rows: Any = database.execute(_LACKING, parameters).fetchall()
    database.commit()
    return rows  # type: ignore[no-any-return]


def upload_blobs(database: "Database", searcher: Searcher, blobs: Sequence[int], producer: int) -> tuple[int, int, int]:
    """Store blobs of an open index, given by ascending numbers; return the numbers of blobs, chunks and bytes.

    Raises: GitFailed, DamagedFile, DatabaseFailed.
    """
    wanted = np.array(blobs, np.int64)
    ids = _take_ids(database, len(wanted))
    bases = searcher.snapshot.blob_bases
    owner = np.searchsorted(bases, wanted, side="right") - 1
    chunks = size = 0
    with open_reader(searcher.tree.location, bulk=len(wanted) >= BULK_FROM, files=searcher.files) as reader:
        for place in np.unique(owner).tolist():
            own = owner == place
            part = _Part(searcher.snapshot.segments[place], wanted[own] - bases[place], searcher.snapshot.dimensions)
            try:
                totals = _upload_part(database, part, ids[own], reader, producer)
            except duplicate_key():
                database.rollback()
                skip_numbers(database)
                ids = _take_ids(database, len(wanted))
                totals = _upload_part(database, part, ids[own], reader, producer)
            chunks, size = chunks + totals.chunks, size + totals.bytes
    return len(wanted), chunks, size


class _Part(NamedTuple):
    """Blobs of a segment, which one transaction stores."""

    segment: Segment
    blobs: NDArray[np.int64]
    dimensions: int


def _upload_part(
    database: "Database", part: _Part, ids: NDArray[np.int64], reader: ObjectReader, producer: int
) -> _Uploaded:
    """Store blobs of a segment under new numbers. Raises `duplicate_key` if a number has been used."""
    rows = iter_blobs(part.segment, part.blobs)
    totals = _copy_blobs(database, zip(ids.tolist(), rows, strict=True), reader, part.dimensions)
    database.execute(_STORE_BLOBS, {"producer": producer})
    # If another publisher stored a blob first, its number here is that of no blob, and no search returns it.
    merged = add_runs(database, totals.blobs, totals.hashes, totals.codes)
    database.commit()
    remove_contents(database, [], merged)
    return totals


def _take_ids(database: "Database", count: int) -> NDArray[np.int64]:
    """Return numbers for new blobs, ascending. Blobs of one publication have few parts, see `term_lists`."""
    row: Any = database.execute(
        "SELECT array_agg(nextval('gitmem.blob_ids')) FROM generate_series(1, %s)", (count,)
    ).fetchone()
    database.commit()
    return np.sort(np.array(row[0] or [], np.int64))


def _copy_blobs(
    database: "Database", blobs: Iterable[tuple[int, UploadedBlob]], reader: ObjectReader, dimensions: int
) -> _Uploaded:
    """Copy blobs into `staged_blobs`."""
    chunks = size = 0
    numbers, hashes, codes = [], [np.zeros(0, np.uint32)], [np.zeros(0, np.uint8)]
    database.execute(_STAGED)
    with database.cursor().copy("COPY staged_blobs FROM STDIN (FORMAT BINARY)") as copy:
        copy.write(HEADER)
        for number, blob, text in _read_texts(blobs, reader):
            row = _encode(number, blob, text, dimensions)
            copy.write(row)
            chunks, size = chunks + blob.chunks, size + len(row)
            numbers.append(np.full(len(blob.terms.hashes), number, np.int64))
            hashes.append(blob.terms.hashes)
            codes.append(blob.terms.codes)
        copy.write(TRAILER)
    return _Uploaded(chunks, size, np.concatenate(numbers), np.concatenate(hashes), np.concatenate(codes))


def _read_texts(
    blobs: Iterable[tuple[int, UploadedBlob]], reader: ObjectReader
) -> Iterator[tuple[int, UploadedBlob, bytes]]:
    """Yield blobs with their texts. Raises GitFailed without a text: results could not be shown."""
    rest = iter(blobs)
    while group := list(islice(rest, _READ_TOGETHER)):
        texts = dict(reader.read_many([blob.oid.hex() for _, blob in group]))
        for number, blob in group:
            text = texts[blob.oid.hex()]
            if text is None:
                hint = "git fsck, or in a partial clone: git fetch --refetch"
                raise GitFailed(f"blob {blob.oid.hex()} cannot be read", hint=hint)
            yield number, blob, text


def _encode(number: int, blob: UploadedBlob, text: bytes, dimensions: int) -> bytes:
    """Return a row of `staged_blobs`."""
    return encode_row([
        encode_int8(number),
        blob.oid,
        blob.asked.encode(),
        blob.language.encode(),
        encode_int2(blob.outcome),
        encode_int4(blob.chunks),
        encode_int4(blob.kinds),
        encode_int4(blob.words),
        blob.record,
        pack_text(text, blob.dictionary),
        encode_bits_array(blob.bits, dimensions),
    ])  # fmt: skip
