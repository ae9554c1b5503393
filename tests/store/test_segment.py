"""Segments give back what was written, however odd, and joining or thinning them changes nothing else."""

import string
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.errors import DamagedFile
from gitmem.indexing.compact import drop_duplicates
from gitmem.paths import IndexPaths
from gitmem.store.columns import OUTCOMES
from gitmem.store.manifest import Manifest, SegmentEntry
from gitmem.store.rows import concatenate, select_blobs
from gitmem.store.segment import MAX_ROWS, Segment, find_segment, write_segment
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import ViewEntry, load_view
from tests.store.sample_rows import (
    DIMENSIONS,
    MadeBlob,
    MadeChunk,
    assert_same_rows,
    oid_of,
    rows_of,
    some_blobs,
    vector_of,
)

many = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def reopen(folder: Path, entry: SegmentEntry) -> Segment:
    segment = find_segment(folder, entry)
    assert segment is not None
    return segment


@many
@given(made=some_blobs())
def test_what_was_written_is_read_back(tmp_path: Path, made: list[MadeBlob]) -> None:
    """Property 9: Storage round trip."""
    rows = rows_of(made)
    segment = reopen(tmp_path, write_segment(tmp_path, rows))
    segment.check()
    assert_same_rows(segment.load_rows(), rows)


@many
@given(made=some_blobs())
def test_every_term_is_found_with_its_rows_and_counts(tmp_path: Path, made: list[MadeBlob]) -> None:
    segment = reopen(tmp_path, write_segment(tmp_path, rows_of(made)))
    chunks = [chunk for blob in made for chunk in blob.chunks]
    for field in ("text", "symbol"):
        held = [chunk.terms if field == "text" else chunk.names for chunk in chunks]
        for term in {term for terms in held for term in terms} | {b"zzz", b"", b"\xff" * 255}:
            wanted = [(row, min(terms[term], 255)) for row, terms in enumerate(held) if term in terms]
            hit = segment.find_postings(field, term)
            assert ([] if hit is None else list(zip(*map(np.ndarray.tolist, hit), strict=True))) == wanted


@many
@given(made=some_blobs())
def test_vectors_symbols_and_signs_belong_to_their_rows(tmp_path: Path, made: list[MadeBlob]) -> None:
    segment = reopen(tmp_path, write_segment(tmp_path, rows_of(made)))
    owned = [(blob, chunk) for blob in made for chunk in blob.chunks]
    assert segment.rows == len(owned)
    assert segment.bits().shape == (len(owned), DIMENSIONS // 8)
    for row, (blob, chunk) in enumerate(owned):
        vector = vector_of(blob, chunk)
        assert segment.vectors(np.array([row]))[0].tolist() == vector.tolist()
        assert np.unpackbits(segment.bits()[row]).tolist() == (vector > 0).astype(int).tolist()
        assert segment.symbols(np.array([row]))[0].encode() == chunk.symbol


@many
@given(parts=st.lists(some_blobs(), min_size=1, max_size=4))
def test_joined_batches_hold_the_rows_of_all(parts: list[list[MadeBlob]]) -> None:
    joined = concatenate([rows_of(part) for part in parts])
    assert_same_rows(joined, rows_of([blob for part in parts for blob in part]))


@many
@given(made=some_blobs(), data=st.data())
def test_selected_blobs_keep_their_rows_and_nothing_else(made: list[MadeBlob], data: st.DataObject) -> None:
    keep = data.draw(st.lists(st.booleans(), min_size=len(made), max_size=len(made)))
    kept = select_blobs(rows_of(made), np.array(keep, bool))
    assert_same_rows(kept, rows_of([blob for blob, wanted in zip(made, keep, strict=True) if wanted]))


def chunk(start: int, **terms: int) -> MadeChunk:
    return MadeChunk(start, 10, b"name", {word.encode(): times for word, times in terms.items()}, {})


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_a_blob_that_stands_twice_the_try_that_read_it_counts(order: tuple[int, int]) -> None:
    tries = [
        MadeBlob(oid_of("a"), "python", "python", OUTCOMES.index("failed"), []),
        MadeBlob(oid_of("a"), "python", "python", OUTCOMES.index("parsed"), [chunk(0, word=1)]),
    ]
    kept = drop_duplicates(concatenate([rows_of([tries[place]]) for place in order]))
    assert [OUTCOMES[outcome] for outcome in kept.blobs.outcomes] == ["parsed"]
    assert len(kept) == 1


def test_a_full_segment_is_read_back(tmp_path: Path) -> None:
    words = ["".join(pair) for pair in zip(string.ascii_lowercase, reversed(string.ascii_lowercase), strict=True)]
    made = [
        MadeBlob(
            oid_of(f"{number}"), "go", "go", 0, [chunk(row, **{words[row % 26]: row % 300 + 1}) for row in range(64)]
        )
        for number in range(MAX_ROWS // 64)
    ]
    rows = rows_of(made)
    assert len(rows) == MAX_ROWS
    segment = reopen(tmp_path, write_segment(tmp_path, rows))
    assert_same_rows(segment.load_rows(), rows)
    held = segment.find_postings("text", words[63 % 26].encode())
    assert held is not None
    assert int(held[0][-1]) == MAX_ROWS - 1


def test_one_row_more_than_fits_is_refused(tmp_path: Path) -> None:
    made = [MadeBlob(oid_of("big"), "go", "go", 0, [chunk(0)] * (MAX_ROWS + 1))]
    with pytest.raises(AssertionError):
        write_segment(tmp_path, rows_of(made))


def test_the_same_rows_give_the_same_file(tmp_path: Path) -> None:
    made = [MadeBlob(oid_of("a"), "go", "go", 0, [chunk(0, b=2, a=1)])]
    turned = [MadeBlob(oid_of("a"), "go", "go", 0, [chunk(0, a=1, b=2)])]
    assert write_segment(tmp_path, rows_of(made)) == write_segment(tmp_path, rows_of(turned))
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == [write_segment(tmp_path, rows_of(made)).name]


def test_a_damaged_file_of_the_same_name_is_written_again(tmp_path: Path) -> None:
    rows = rows_of([MadeBlob(oid_of("a"), "go", "go", 0, [chunk(0, a=1)])])
    file = tmp_path / write_segment(tmp_path, rows).name
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    write_segment(tmp_path, rows)
    assert file.read_bytes() == whole


def test_a_segment_of_another_size_than_the_manifest_says_is_damage(tmp_path: Path) -> None:
    entry = write_segment(tmp_path, rows_of([MadeBlob(oid_of("a"), "go", "go", 0, [chunk(0, a=1)])]))
    with pytest.raises(DamagedFile):
        find_segment(tmp_path, entry._replace(rows=2))
    assert find_segment(tmp_path, entry._replace(name="0" * 40)) is None


def test_blocks_of_terms_meet_at_their_borders(tmp_path: Path) -> None:
    for size in (1, 15, 16, 17, 31, 32, 33, 160):
        terms = {f"term{number:04}".encode(): number % 3 + 1 for number in range(size)}
        made = [MadeBlob(oid_of("a"), "go", "go", 0, [MadeChunk(0, 1, b"", terms, {}), MadeChunk(1, 1, b"", {}, {})])]
        segment = reopen(tmp_path, write_segment(tmp_path, rows_of(made)))
        for term, times in terms.items():
            held = segment.find_postings("text", term)
            assert held is not None
            assert (held[0].tolist(), held[1].tolist()) == ([0], [times])
            assert segment.find_postings("text", term + b"0") is None
            assert segment.find_postings("text", term[:-1]) is None


def test_words_in_many_terms_are_counted_alike(tmp_path: Path) -> None:
    generator = np.random.default_rng(7)
    held = [Counter(f"w{number}".encode() for number in generator.integers(0, 3000, 40)) for _ in range(500)]
    made = [
        MadeBlob(
            oid_of("a"), "go", "go", 0, [MadeChunk(row, 1, b"", dict(terms), {}) for row, terms in enumerate(held)]
        )
    ]
    segment = reopen(tmp_path, write_segment(tmp_path, rows_of(made)))
    assert_same_rows(segment.load_rows(), rows_of(made))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_in_whatever_segment_it_stands_the_try_that_read_a_blob_counts(tmp_path: Path, order: tuple[int, int]) -> None:
    paths = IndexPaths(tmp_path)
    paths.segments.mkdir()
    tries = [
        [MadeBlob(oid_of("a"), "go", "go", OUTCOMES.index("missing"), [])],
        [MadeBlob(oid_of("b"), "go", "go", 0, [chunk(0)]), MadeBlob(oid_of("a"), "go", "go", 0, [chunk(0), chunk(20)])],
    ]
    entries = tuple(write_segment(paths.segments, rows_of(tries[place])) for place in order)
    snapshot = Snapshot(paths, Manifest("1", segments=entries))
    view = load_view(
        Path("view"), "t", [ViewEntry(b"a.go", oid_of("a"), "go", 0), ViewEntry(b"c.go", oid_of("c"), "go", 0)]
    )
    found, absent = snapshot.match(view).tolist()
    assert OUTCOMES[snapshot.blob_outcomes[found]] == "parsed"
    assert snapshot.blob_first[found + 1] - snapshot.blob_first[found] == 2
    assert absent == -1
