"""Records of blobs give back the rows of the segment that they were taken from."""

import json
import struct
import zlib
from collections.abc import Collection, Iterator

import numpy as np
import psycopg
import pytest

from gitmem.errors import DatabaseFailed
from gitmem.org.blob_record import (
    BlobPostings,
    BlobRows,
    StoredBlob,
    join_blobs,
    pack_blob,
    pack_vectors,
    unpack_blob,
    unpack_vectors,
)
from gitmem.org.blob_rows import UploadedBlob, iter_blobs
from gitmem.org.blob_text import pack_text, unpack_text
from gitmem.org.common_terms import COMMON_TERMS
from gitmem.org.term_keys import CODE_IMPACTS, CODE_ROWS, pack_codes
from gitmem.store.columns import COLUMNS, FIELDS
from gitmem.store.segment import Segment
from gitmem.store.segment_writer import load_rows
from tests.gitrepo import Repo
from tests.indexes import dump_segment, snapshot_of
from tests.sample import SIGN, Cli


class Everything(Collection[bytes]):
    """Collection with every term."""

    def __contains__(self, term: object) -> bool:
        return True

    def __iter__(self) -> Iterator[bytes]:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError


ALL = Everything()


def blobs_of(segment: Segment) -> list[UploadedBlob]:
    return list(iter_blobs(segment, np.flatnonzero(np.diff(segment.first))))


def pack_first(rows: BlobRows) -> bytes:
    """Return a record of the first format: one stream of zlib, and the vectors."""
    numbers, parts = [len(rows.labels)], []
    for name, kind in COLUMNS.items():
        parts.append(np.ascontiguousarray(rows.columns[name]).astype(kind).tobytes())
    labels = b"".join(rows.labels)
    numbers.append(len(labels))
    parts += [np.fromiter(map(len, rows.labels), "<u4", len(rows.labels)).tobytes(), labels, rows.contents.tobytes()]
    for field in FIELDS:
        own = rows.postings[field]
        terms = b"\n".join(own.terms)
        numbers += [len(terms), len(own.rows)]
        parts += [terms, own.sizes.astype("<u4").tobytes(), own.rows.astype("<u4").tobytes(), own.counts.tobytes()]
    counts = struct.pack("<IIIIIII", *numbers, 0)
    return zlib.compress(b"".join([counts, *parts]), 6) + pack_vectors(rows.vectors)


def test_records_hold_all_rows_of_a_segment(indexed: Repo) -> None:
    segment = snapshot_of(indexed).segments[0]
    stored = [
        StoredBlob(number, blob.oid, blob.asked, blob.language, blob.outcome, blob.record)
        for number, blob in enumerate(blobs_of(segment))
    ]
    terms = {term for field in ("text", "symbol") for part in segment.iter_postings(field, 64) for term in part.terms}
    rebuilt = load_rows(join_blobs(stored, segment.dimensions, terms))
    rebuilt.check_structure()
    rows = np.arange(segment.rows)
    error = segment.vectors(rows).astype(int) - rebuilt.vectors(rows)
    # A component has sixteen levels, and the nearest of the thirty-two of a segment is read.
    assert np.abs(error).max() <= 8 + 3
    without_names = {row._replace(names=b"", vector=b"") for row in dump_segment(segment)}
    assert {row._replace(vector=b"") for row in dump_segment(rebuilt)} == without_names != set()


@pytest.mark.parametrize("dimensions", [1, 7, 256])
def test_packed_vectors_keep_the_signs(dimensions: int) -> None:
    vectors = np.random.default_rng(dimensions).integers(-127, 128, (5, dimensions)).astype(np.int8)
    unpacked = unpack_vectors(pack_vectors(vectors), 5, dimensions)
    assert unpacked.shape == vectors.shape
    assert ((unpacked > 0) == (vectors >= 0)).all()


def test_a_damaged_record_is_reported(indexed: Repo) -> None:
    for record in (b"", b"no deflate", b"\x78\x9c\x03\x00\x00\x00\x00\x01", b"\x02", b"\x02\0\0\0\0"):
        with pytest.raises(DatabaseFailed, match="damaged record"):
            unpack_blob(record, 256, set())
    record = blobs_of(snapshot_of(indexed).segments[0])[0].record
    for place in range(1, len(record)):
        flipped = bytearray(record)
        flipped[place] ^= 1
        with pytest.raises(DatabaseFailed, match="damaged record"):
            unpack_blob(bytes(flipped), 256, set())


def test_only_the_postings_of_wanted_terms_are_returned(indexed: Repo) -> None:
    for blob in blobs_of(snapshot_of(indexed).segments[0]):
        whole = unpack_blob(blob.record, 256, ALL).postings["text"]
        ends = np.cumsum(whole.sizes)
        for term, end, size in zip(whole.terms, ends.tolist(), whole.sizes.tolist(), strict=True):
            own = unpack_blob(blob.record, 256, {term, b"nowhere"}).postings["text"]
            assert (own.terms, own.sizes.tolist()) == ([term], [size])
            assert own.rows.tolist() == whole.rows[end - size : end].tolist()
            assert own.counts.tolist() == whole.counts[end - size : end].tolist()


def test_a_blob_without_rows_has_a_record(indexed: Repo) -> None:
    whole = unpack_blob(blobs_of(snapshot_of(indexed).segments[0])[0].record, 256, ALL)
    nothing = np.zeros(0, np.int64)
    empty = BlobRows(
        {name: column[:0] for name, column in whole.columns.items()}, [], whole.contents[:0],
        {field: BlobPostings([], nothing, nothing, np.zeros(0, np.uint8)) for field in FIELDS}, whole.vectors[:0],
    )  # fmt: skip
    unpacked = unpack_blob(pack_blob(empty).record, 256, ALL)
    assert (unpacked.labels, unpacked.vectors.shape) == ([], (0, 256))


def test_a_text_is_compressed_with_the_words_of_its_record(indexed: Repo) -> None:
    first, second = blobs_of(snapshot_of(indexed).segments[0])[:2]
    text = b"def sign_cookie(ring, value):\n    return ring.sign(value)\n" * 3
    packed = pack_text(text, first.dictionary)
    assert unpack_text(packed, first.record) == text
    assert unpack_text(zlib.compress(text), first.record) == text, "texts of the first format have no dictionary"
    for damaged, record in ((packed, second.record), (packed[:-5], first.record), (packed, b"\x02"), (b"", b"")):
        with pytest.raises(DatabaseFailed, match="damaged text"):
            unpack_text(damaged, record)


def test_stored_records_need_exactly_this_dictionary() -> None:
    assert (len(COMMON_TERMS), zlib.crc32(COMMON_TERMS)) == (4091, 3966348668)


def test_a_server_with_records_of_both_formats_answers_as_before(published: str, cli: Cli) -> None:
    query = ("org", "query", "--dsn", published, "--json", SIGN)
    expected = json.loads(cli(*query).out)["results"]
    assert len(expected) > 2
    with psycopg.connect(published) as database:
        blobs = database.execute("SELECT id, record, text FROM gitmem.blobs ORDER BY id").fetchall()
        assert {record[0] for _, record, _ in blobs} == {2}
        for number, record, packed in blobs[::2]:
            first, text = pack_first(unpack_blob(record, 256, ALL)), zlib.compress(unpack_text(packed, record), 6)
            assert len(first) + len(text) > len(record) + len(packed)
            database.execute("UPDATE gitmem.blobs SET record = %s, text = %s WHERE id = %s", (first, text, number))
    assert json.loads(cli(*query).out)["results"] == expected


def test_the_code_of_a_term_has_its_impact_and_its_rows() -> None:
    for impact in (0.1, 0.6, 1.2, 2.1):
        for rows in (1, 2, 50):
            code = int(pack_codes(np.array([impact]), np.array([rows]))[0])
            assert abs(CODE_IMPACTS[code] - impact) <= 0.275
            assert (CODE_ROWS[code] > 1) == (rows > 1)
