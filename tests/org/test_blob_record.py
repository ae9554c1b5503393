"""Records of blobs give back the rows of the segment that they were taken from."""

import numpy as np
import pytest

from gitmem.errors import DatabaseFailed
from gitmem.org.blob_record import StoredBlob, join_blobs, unpack_blob
from gitmem.org.blob_rows import iter_blobs
from gitmem.org.term_keys import hash_terms, keys_of, pack_keys
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
    without_names = {row._replace(names=b"") for row in dump_segment(segment)}
    assert set(dump_segment(rebuilt)) == without_names != set()


def test_a_damaged_record_is_reported() -> None:
    for record in (b"", b"no deflate", b"\x78\x9c\x03\x00\x00\x00\x00\x01"):
        with pytest.raises(DatabaseFailed, match="damaged record"):
            unpack_blob(record, set())


def test_each_key_of_a_term_is_found_again() -> None:
    term = "überschreiben".encode()
    known = {key.key: key for key in keys_of(term)}
    assert len(known) == 8
    for impact in (0.1, 0.6, 1.2, 2.1):
        for rows in (1, 2, 50):
            key = known[int(pack_keys(hash_terms([term]), np.array([impact]), np.array([rows]))[0])]
            assert abs(key.impact - impact) <= 0.275
            assert (key.rows > 1) == (rows > 1)
