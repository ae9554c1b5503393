"""Records of the definitions in versions of files, stored as differences."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.errors import DamagedFile
from gitmem.indexing.mark_records import MARK_BYTES, RecordReader, RecordWriter
from gitmem.store.columns import OUTCOMES
from gitmem.store.keys import blob_key
from gitmem.store.open_segments import OpenSegments
from gitmem.store.segment_writer import load_rows
from tests.store.sample_rows import SampleBlob, oid_of, rows_of

LANGUAGE = "python"


def mark(number: int) -> bytes:
    return hashlib.sha1(b"%d" % number).digest()[:MARK_BYTES]


def index_of(versions: Sequence[str], records: Sequence[bytes]) -> OpenSegments:
    """Return an index with a blob for each version, and these records."""
    rows = rows_of([SampleBlob(oid_of(name), LANGUAGE, LANGUAGE, 0, []) for name in versions])
    rows.blobs.names[:] = records
    return OpenSegments([load_rows(rows, is_compact=True)])


def write(versions: Sequence[list[bytes]]) -> tuple[list[str], list[bytes]]:
    """Return the names of some versions and their records."""
    writer, names = RecordWriter(), [f"version {number}" for number in range(len(versions))]
    return names, [writer.pack(oid_of(name), LANGUAGE, marks) for name, marks in zip(names, versions, strict=True)]


def key_of(name: str) -> int:
    return blob_key(oid_of(name), LANGUAGE)


@given(st.lists(st.lists(st.integers(0, 12).map(mark), max_size=12), max_size=40), st.randoms())
def test_the_marks_of_every_version_are_restored(versions: list[list[bytes]], random: object) -> None:
    names, records = write(versions)
    reader = RecordReader(index_of(names, records))
    order = list(range(len(names)))
    random.shuffle(order)  # type: ignore[attr-defined]
    assert all(set(reader.read(key_of(names[place]))) == set(versions[place]) for place in order)


def test_a_version_that_changes_one_definition_takes_a_few_bytes() -> None:
    first = [mark(number) for number in range(100)]
    names, records = write([first, [*first[:50], mark(500), *first[51:]]])
    assert len(records[0]) == 1 + 100 * MARK_BYTES
    assert len(records[1]) < 25
    assert set(RecordReader(index_of(names, records)).read(key_of(names[1]))) == {*first[:50], *first[51:], mark(500)}


def test_a_long_history_needs_few_steps_to_any_of_its_versions() -> None:
    versions = [[mark(number), *map(mark, range(1000, 1030))] for number in range(200)]
    names, records = write(versions)
    whole = [record for record in records if record[0] == 0]
    assert 200 // 32 <= len(whole) <= 200 // 30 + 1
    reader = RecordReader(index_of(names, records))
    assert len(reader.with_bases([key_of(names[-1])])) <= 32


def test_the_versions_that_a_record_needs_are_named() -> None:
    common = list(map(mark, range(30)))
    names, records = write([[*common, mark(100)], [mark(7000)], [*common, mark(101)]])
    reader = RecordReader(index_of(names, records))
    assert reader.with_bases([key_of(names[2])]) == {key_of(names[0]), key_of(names[2])}
    assert reader.with_bases([key_of(names[1])]) == {key_of(names[1])}


@pytest.mark.parametrize("is_first", [True, False])
def test_an_attempt_that_did_not_read_a_version_hides_no_other(is_first: bool) -> None:
    # A merge puts the merged segment in the place of its first, so the attempt that failed may come last.
    common = list(map(mark, range(30)))
    names, records = write([[*common, mark(100)], [*common, mark(101)]])
    failed = rows_of([SampleBlob(oid_of(names[0]), LANGUAGE, LANGUAGE, OUTCOMES.index("failed"), [])])
    failed.blobs.names[:] = [b""]
    segments = [*index_of(names, records).segments, load_rows(failed, is_compact=True)]
    reader = RecordReader(OpenSegments(segments[::-1] if is_first else segments))
    assert set(reader.read(key_of(names[0]))) == {*common, mark(100)}
    assert set(reader.read(key_of(names[1]))) == {*common, mark(101)}


@pytest.mark.parametrize(
    "record",
    [
        b"\0abc", b"\1abc", b"\2" + bytes(30), b"\1" + bytes(8) + b"\xff\xff",
        b"\1" + bytes(8) + b"\2\0" + b"\1\0\0\0",  # places that descend
    ],
)  # fmt: skip
def test_a_record_that_no_writer_made_is_damage(record: bytes) -> None:
    with pytest.raises(DamagedFile):
        RecordReader(index_of(["version"], [record])).read(key_of("version"))


def test_a_record_whose_base_is_missing_is_damage_and_so_is_a_circle(tmp_path: Path) -> None:
    common = list(map(mark, range(30)))
    names, records = write([[*common, mark(100)], [*common, mark(101)]])
    with pytest.raises(DamagedFile):
        RecordReader(index_of(names[1:], records[1:])).read(key_of(names[1]))
    circle = b"\1" + key_of("one").to_bytes(8, "little") + b"\0\0"
    with pytest.raises(DamagedFile):
        RecordReader(index_of(["one"], [circle])).read(key_of("one"))


def difference(base: str, removed: Sequence[int], added: Sequence[bytes] = ()) -> bytes:
    places = b"".join(place.to_bytes(2, "little") for place in removed)
    return b"\1" + key_of(base).to_bytes(8, "little") + len(removed).to_bytes(2, "little") + places + b"".join(added)


@pytest.mark.parametrize(("removed", "is_sound"), [([0, 1], True), ([0, 2], False), ([1, 1], False), ([1, 0], False)])
def test_a_difference_removes_marks_that_there_are_in_their_order(removed: list[int], is_sound: bool) -> None:
    index = index_of(["one", "two"], [b"\0" + mark(1) + mark(2), difference("one", removed, [mark(3)])])
    (segment,) = index.segments
    assert (RecordReader(index).find_fault(segment) == "") == is_sound
    if is_sound:
        assert RecordReader(index).read(key_of("two")) == [mark(3)]
    else:
        with pytest.raises(DamagedFile):
            RecordReader(index).read(key_of("two"))
