"""Segments: round trips of unusual rows, concatenation, selection, and matching of views."""

import string
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.errors import DamagedFile
from gitmem.paths import IndexPaths
from gitmem.store import segment_writer
from gitmem.store.columns import OUTCOMES
from gitmem.store.manifest import Manifest, SegmentEntry
from gitmem.store.postings import WINDOW_ROWS
from gitmem.store.rows import concatenate
from gitmem.store.segment import Segment, find_segment
from gitmem.store.segment_writer import SegmentSource, write_segment, write_sources
from gitmem.store.snapshot import Snapshot
from gitmem.store.vector_levels import PAST_LEVELS
from gitmem.store.view_file import ViewEntry, load_view
from tests.store.sample_rows import (
    DIMENSIONS,
    SampleBlob,
    SampleChunk,
    assert_same_rows,
    content_of,
    oid_of,
    rows_of,
    sample_blobs,
    vector_of,
)

many = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(autouse=True, params=["deflated", "as it is"])
def _form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all segments be small, or none."""
    monkeypatch.setattr(segment_writer, "DEFLATED_ROWS", 1 << 20 if request.param == "deflated" else -1)


def reopen(folder: Path, entry: SegmentEntry) -> Segment:
    segment = find_segment(folder, entry)
    assert segment is not None
    return segment


@many
@given(blobs=sample_blobs())
def test_rows_survive_a_round_trip_through_a_segment(tmp_path: Path, blobs: list[SampleBlob]) -> None:
    """Property 9: Storage round trip."""
    rows = rows_of(blobs)
    segment = reopen(tmp_path, write_segment(tmp_path, rows))
    segment.check()
    assert_same_rows(segment.load_rows(), rows)


def test_a_segment_of_few_rows_takes_fewer_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = [chunk(20 * number, cookie=1, sign=number) for number in range(1, 10)]
    rows = rows_of([SampleBlob(oid_of(str(number)), "python", "python", 0, chunks) for number in range(40)])
    sizes = []
    for limit in (360, 359):
        monkeypatch.setattr(segment_writer, "DEFLATED_ROWS", limit)
        entry = write_segment(tmp_path, rows)
        assert_same_rows(reopen(tmp_path, entry).load_rows(), rows)
        sizes.append(entry.bytes)
    assert sizes[0] < 0.8 * sizes[1]


@many
@given(blobs=sample_blobs())
def test_every_term_is_found_with_its_rows_and_frequencies(tmp_path: Path, blobs: list[SampleBlob]) -> None:
    segment = reopen(tmp_path, write_segment(tmp_path, rows_of(blobs)))
    chunks = [chunk for blob in blobs for chunk in blob.chunks]
    for field in ("text", "symbol"):
        rows = [chunk.terms if field == "text" else chunk.names for chunk in chunks]
        for term in {term for terms in rows for term in terms} | {b"zzz", b"", b"\xff" * 255}:
            expected = [(row, min(terms[term], 255)) for row, terms in enumerate(rows) if term in terms]
            hit = segment.find_postings(field, term)
            assert ([] if hit is None else list(zip(*map(np.ndarray.tolist, hit), strict=True))) == expected


@many
@given(blobs=sample_blobs())
def test_vectors_symbols_and_signs_belong_to_their_rows(tmp_path: Path, blobs: list[SampleBlob]) -> None:
    segment = reopen(tmp_path, write_segment(tmp_path, rows_of(blobs)))
    owned = [(blob, chunk) for blob in blobs for chunk in blob.chunks]
    assert segment.rows == len(owned)
    assert segment.bits().shape == (len(owned), DIMENSIONS // 8)
    for row, (blob, chunk) in enumerate(owned):
        vector = vector_of(blob, chunk)
        assert segment.vectors(np.array([row]))[0].tolist() == vector.tolist()
        assert np.unpackbits(segment.bits()[row]).tolist() == (vector > 0).astype(int).tolist()
        assert segment.symbols(np.array([row]))[0].encode() == chunk.symbol


@many
@given(parts=st.lists(sample_blobs(), min_size=1, max_size=4))
def test_concatenated_batches_contain_the_rows_of_all(parts: list[list[SampleBlob]]) -> None:
    joined = concatenate([rows_of(part) for part in parts])
    assert_same_rows(joined, rows_of([blob for part in parts for blob in part]))


@many
@given(blobs=sample_blobs(), data=st.data())
def test_selected_blobs_keep_exactly_their_rows(tmp_path: Path, blobs: list[SampleBlob], data: st.DataObject) -> None:
    keep = data.draw(st.lists(st.booleans(), min_size=len(blobs), max_size=len(blobs)))
    segment = reopen(tmp_path, write_segment(tmp_path, rows_of(blobs)))
    selected = write_sources(tmp_path, [SegmentSource(segment, np.array(keep, bool))], tmp_path)
    expected = rows_of([blob for blob, is_selected in zip(blobs, keep, strict=True) if is_selected])
    assert_same_rows(reopen(tmp_path, selected).load_rows(), expected)
    assert selected.name == write_segment(tmp_path, expected).name


@pytest.mark.parametrize("is_compact", [False, True])
@pytest.mark.parametrize("dimensions", [0, 64])
def test_blobs_without_rows_are_loaded_whatever_the_length_of_vectors(
    tmp_path: Path, dimensions: int, is_compact: bool
) -> None:
    blob = SampleBlob(oid_of("nothing"), "python", "python", OUTCOMES.index("empty"), [])
    rows = replace(rows_of([blob]), vectors=np.zeros((0, dimensions), np.int8))
    read = reopen(tmp_path, write_segment(tmp_path, rows, is_compact=is_compact)).load_rows()
    assert read.vectors.shape == (0, dimensions)
    assert read.blobs.keys == rows.blobs.keys


@many
@given(parts=st.lists(sample_blobs(), min_size=1, max_size=4), is_compact=st.booleans())
def test_a_merge_gives_the_same_file_as_writing_all_rows_at_once(
    tmp_path: Path, parts: list[list[SampleBlob]], is_compact: bool
) -> None:
    """Property 9: Storage round trip."""
    segments = [reopen(tmp_path, write_segment(tmp_path, rows_of(part), is_compact=is_compact)) for part in parts]
    merged = write_sources(tmp_path, [SegmentSource(segment) for segment in segments], tmp_path)
    whole = rows_of([blob for part in parts for blob in part])
    assert merged.name == write_segment(tmp_path, whole, is_compact=is_compact).name


@many
@given(blobs=sample_blobs())
def test_a_compact_segment_has_the_same_rows_but_for_the_lengths_of_components(
    tmp_path: Path, blobs: list[SampleBlob]
) -> None:
    """Property 9: Storage round trip."""
    rows = rows_of(blobs)
    segment = reopen(tmp_path, write_segment(tmp_path, rows, is_compact=True))
    segment.check()
    segment.check_structure()
    read = segment.load_rows()
    assert ((read.vectors > 0) == (rows.vectors > 0)).all()
    scales = {"scale": read.columns["scale"]}
    assert_same_rows(read, replace(rows, vectors=read.vectors, columns={**rows.columns, **scales}))
    for row in range(segment.rows):
        assert bytes(segment.read_magnitudes(row)) == PAST_LEVELS.pack(rows.vectors[row : row + 1]).tobytes()


@many
@given(blobs=sample_blobs(), others=sample_blobs())
def test_chunks_are_found_by_the_hash_of_their_content(
    tmp_path: Path, blobs: list[SampleBlob], others: list[SampleBlob]
) -> None:
    segment = reopen(tmp_path, write_segment(tmp_path, rows_of(blobs)))
    contents = [content_of(chunk) for blob in blobs for chunk in blob.chunks]
    wanted = contents + [content_of(chunk) for blob in others for chunk in blob.chunks] + [bytes(16), b"\xff" * 16]
    found = segment.find_contents(np.frombuffer(b"".join(wanted), np.uint8).reshape(-1, 16)).tolist()
    for content, row in zip(wanted, found, strict=True):
        assert (contents[row] if row >= 0 else None) == (content if content in contents else None)


def chunk(start: int, **terms: int) -> SampleChunk:
    return SampleChunk(start, 10, b"name", {word.encode(): times for word, times in terms.items()}, {})


def test_rows_of_several_windows_survive_a_round_trip_and_a_merge(tmp_path: Path) -> None:
    words = ["".join(pair) for pair in zip(string.ascii_lowercase, reversed(string.ascii_lowercase), strict=True)]
    blobs = [
        SampleBlob(
            oid_of(f"{number}"), "go", "go", 0, [chunk(row, **{words[row % 26]: row % 300 + 1}) for row in range(64)]
        )
        for number in range(WINDOW_ROWS // 64 + 2)
    ]
    blobs[-1] = blobs[-1]._replace(chunks=[*blobs[-1].chunks, chunk(64, last=7)])
    rows = rows_of(blobs)
    entry = write_segment(tmp_path, rows)
    segment = reopen(tmp_path, entry)
    assert_same_rows(segment.load_rows(), rows)
    for word, expected in ((words[63 % 26], [WINDOW_ROWS + 127, 64 % 256]), ("last", [WINDOW_ROWS + 128, 7])):
        postings = segment.find_postings("text", word.encode())
        assert postings is not None
        assert int(postings[0][-1]) == expected[0]
        assert int(postings[1][-1]) == expected[1]
    middle = len(blobs) // 3
    parts = [reopen(tmp_path, write_segment(tmp_path, rows_of(part))) for part in (blobs[:middle], blobs[middle:])]
    assert write_sources(tmp_path, [SegmentSource(part) for part in parts], tmp_path).name == entry.name


def test_more_rows_than_fit_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitmem.store.segment_writer.MAX_ROWS", 3)
    with pytest.raises(AssertionError):
        write_segment(tmp_path, rows_of([SampleBlob(oid_of("big"), "go", "go", 0, [chunk(0)] * 4)]))


def test_the_same_rows_give_the_same_file(tmp_path: Path) -> None:
    blobs = [SampleBlob(oid_of("a"), "go", "go", 0, [chunk(0, b=2, a=1)])]
    reordered = [SampleBlob(oid_of("a"), "go", "go", 0, [chunk(0, a=1, b=2)])]
    assert write_segment(tmp_path, rows_of(blobs)).name == write_segment(tmp_path, rows_of(reordered)).name
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == [
        write_segment(tmp_path, rows_of(blobs)).name
    ]


def test_a_damaged_file_of_the_same_name_is_replaced(tmp_path: Path) -> None:
    rows = rows_of([SampleBlob(oid_of("a"), "go", "go", 0, [chunk(0, a=1)])])
    file = tmp_path / write_segment(tmp_path, rows).name
    content = file.read_bytes()
    file.write_bytes(content[:-1])
    write_segment(tmp_path, rows)
    assert file.read_bytes() == content


def test_a_segment_whose_size_differs_from_the_manifest_is_damage(tmp_path: Path) -> None:
    entry = write_segment(tmp_path, rows_of([SampleBlob(oid_of("a"), "go", "go", 0, [chunk(0, a=1)])]))
    with pytest.raises(DamagedFile):
        find_segment(tmp_path, entry._replace(rows=2))
    assert find_segment(tmp_path, entry._replace(name="0" * 40)) is None


def test_terms_at_the_boundaries_of_blocks_are_found(tmp_path: Path) -> None:
    for size in (1, 15, 16, 17, 31, 32, 33, 160):
        terms = {f"term{number:04}".encode(): number % 3 + 1 for number in range(size)}
        blobs = [
            SampleBlob(oid_of("a"), "go", "go", 0, [SampleChunk(0, 1, b"", terms, {}), SampleChunk(1, 1, b"", {}, {})])
        ]
        segment = reopen(tmp_path, write_segment(tmp_path, rows_of(blobs)))
        for term, times in terms.items():
            postings = segment.find_postings("text", term)
            assert postings is not None
            assert (postings[0].tolist(), postings[1].tolist()) == ([0], [times])
            assert segment.find_postings("text", term + b"0") is None
            assert segment.find_postings("text", term[:-1]) is None


def test_many_terms_survive_a_round_trip(tmp_path: Path) -> None:
    generator = np.random.default_rng(7)
    counts = [Counter(f"w{number}".encode() for number in generator.integers(0, 3000, 40)) for _ in range(500)]
    blobs = [
        SampleBlob(
            oid_of("a"), "go", "go", 0, [SampleChunk(row, 1, b"", dict(terms), {}) for row, terms in enumerate(counts)]
        )
    ]
    segment = reopen(tmp_path, write_segment(tmp_path, rows_of(blobs)))
    assert_same_rows(segment.load_rows(), rows_of(blobs))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_outcomes_in_different_segments_the_successful_one_is_matched(
    tmp_path: Path, order: tuple[int, int]
) -> None:
    paths = IndexPaths(tmp_path)
    paths.segments.mkdir()
    outcomes = [
        [SampleBlob(oid_of("a"), "go", "go", OUTCOMES.index("missing"), [])],
        [
            SampleBlob(oid_of("b"), "go", "go", 0, [chunk(0)]),
            SampleBlob(oid_of("a"), "go", "go", 0, [chunk(0), chunk(20)]),
        ],
    ]
    entries = tuple(write_segment(paths.segments, rows_of(outcomes[place])) for place in order)
    snapshot = Snapshot(paths, Manifest("1", segments=entries))
    view = load_view(
        Path("view"), "t", [ViewEntry(b"a.go", oid_of("a"), "go", 0), ViewEntry(b"c.go", oid_of("c"), "go", 0)]
    )
    blob, missing = snapshot.match(view).tolist()
    assert OUTCOMES[snapshot.blob_outcomes[blob]] == "parsed"
    assert snapshot.blob_first[blob + 1] - snapshot.blob_first[blob] == 2
    assert missing == -1
