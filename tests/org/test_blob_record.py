"""Records of blobs give back the rows of the segment that they were taken from."""

import numpy as np
import pytest

from gitmem.errors import DatabaseFailed
from gitmem.org.blob_record import StoredBlob, join_blobs, pack_vectors, unpack_blob, unpack_vectors
from gitmem.org.blob_rows import iter_blobs
from gitmem.org.term_keys import CODE_IMPACTS, CODE_ROWS, pack_codes
from gitmem.store.segment_writer import load_rows
from tests.gitrepo import Repo
from tests.indexes import dump_segment, snapshot_of


def test_records_hold_all_rows_of_a_segment(indexed: Repo) -> None:
    segment = snapshot_of(indexed).segments[0]
    blobs = np.flatnonzero(np.diff(segment.first))
    stored = [
        StoredBlob(number, blob.oid, blob.asked, blob.language, blob.outcome, blob.record)
        for number, blob in enumerate(iter_blobs(segment, blobs))
    ]
    terms = {term for field in ("text", "symbol") for part in segment.iter_postings(field, 64) for term in part.terms}
    rebuilt = load_rows(join_blobs(stored, segment.dimensions, terms))
    rebuilt.check_structure()
    rows = np.arange(segment.rows)
    error = segment.vectors(rows).astype(int) - rebuilt.vectors(rows)
    assert np.abs(error).max() <= 8, "a component has sixteen levels"
    without_names = {row._replace(names=b"", vector=b"") for row in dump_segment(segment)}
    assert {row._replace(vector=b"") for row in dump_segment(rebuilt)} == without_names != set()


@pytest.mark.parametrize("dimensions", [1, 7, 256])
def test_packed_vectors_keep_the_signs(dimensions: int) -> None:
    vectors = np.random.default_rng(dimensions).integers(-127, 128, (5, dimensions)).astype(np.int8)
    unpacked = unpack_vectors(pack_vectors(vectors), 5, dimensions)
    assert unpacked.shape == vectors.shape
    assert ((unpacked > 0) == (vectors >= 0)).all()


def test_a_damaged_record_is_reported() -> None:
    for record in (b"", b"no deflate", b"\x78\x9c\x03\x00\x00\x00\x00\x01"):
        with pytest.raises(DatabaseFailed, match="damaged record"):
            unpack_blob(record, 256, set())


def test_the_code_of_a_term_has_its_impact_and_its_rows() -> None:
    for impact in (0.1, 0.6, 1.2, 2.1):
        for rows in (1, 2, 50):
            code = int(pack_codes(np.array([impact]), np.array([rows]))[0])
            assert abs(CODE_IMPACTS[code] - impact) <= 0.275
            assert (CODE_ROWS[code] > 1) == (rows > 1)
