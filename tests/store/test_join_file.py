"""The stored join of paths and blobs never changes what a view matches."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gitmem.paths import IndexPaths
from gitmem.store import blob_match
from gitmem.store.columns import OUTCOMES, RETRIED
from gitmem.store.join_file import find_join, join_file
from gitmem.store.manifest import Manifest, SegmentEntry
from gitmem.store.overlaid_view import OverlaidView
from gitmem.store.segment_writer import write_segment
from gitmem.store.snapshot import Snapshot
from gitmem.store.stored_view import find_view, write_view
from gitmem.store.view_file import INDEXED, REASONS, View, ViewEntry
from tests.store.sample_rows import SampleBlob, SampleChunk, oid_of, rows_of

Blob = tuple[int, str, bool]
"""Number, language, and whether it was read."""

_blobs = st.tuples(st.integers(0, 9), st.sampled_from(["", "python"]), st.booleans())
_segments = st.lists(
    st.lists(_blobs, min_size=1, max_size=5, unique_by=lambda blob: blob[:2]), max_size=4, unique_by=tuple
)
_entries = st.builds(
    lambda path, number, language, reason: ViewEntry(b"f%d" % path, oid_of(str(number)), language, reason),
    st.integers(0, 9), st.integers(0, 9), st.sampled_from(["", "python"]), st.sampled_from([INDEXED] * 3 + [4]),
)  # fmt: skip
_views = st.lists(_entries, max_size=8, unique_by=lambda entry: entry.path).map(sorted)


def write(paths: IndexPaths, blobs: Sequence[Blob]) -> SegmentEntry:
    chunk = SampleChunk(0, 10, b"f", {b"word": 1}, {})
    return write_segment(
        paths.segments,
        rows_of([
            SampleBlob(oid_of(str(number)), language, language, 0 if read else RETRIED[0], [chunk] if read else [])
            for number, language, read in blobs
        ]),
    )  # fmt: skip


def expected(view: View, segments: Sequence[Sequence[Blob]]) -> list[object]:
    """Return for each entry whether it has a blob that was read, True, or one that was not, False, or a reason."""
    read: dict[tuple[bytes, str], bool] = {}
    for number, language, was_read in (blob for segment in segments for blob in segment):
        key = oid_of(str(number)), language
        read[key] = read.get(key, False) or was_read
    entries = map(view.entry, range(len(view)))
    return [
        REASONS[entry.reason] if entry.reason != INDEXED else read.get((entry.oid, entry.language), "missing")
        for entry in entries
    ]


def actual(view: View, snapshot: Snapshot) -> list[object]:
    result: list[object] = []
    for place, blob in enumerate(snapshot.match(view).tolist()):
        if blob < 0:
            result.append("missing" if blob == -1 else REASONS[view.reason(place)])
            continue
        segment, number = snapshot.blob(blob)
        entry = view.entry(place)
        assert segment.oids[number].tobytes() == entry.oid
        result.append(OUTCOMES[segment.outcomes[number]] == OUTCOMES[0])
    return result


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(base=_views, edits=st.dictionaries(st.integers(0, 9), st.none() | _entries, max_size=3),
       before=_segments, after=_segments, kept=st.integers(0, 4))  # fmt: skip
@example(
    base=[ViewEntry(b"f0", oid_of("0"), "", INDEXED)], edits={}, kept=0, after=[[(0, "", False)]],
    before=[[(0, "", True)], [(0, "", False)]],
)  # fmt: skip
@example(
    base=[ViewEntry(b"f0", oid_of("0"), "", INDEXED)], edits={}, kept=1, after=[[(0, "", False)]],
    before=[[(0, "", True)], [(0, "", True), (0, "python", False)]],
)  # fmt: skip
def test_a_stored_join_gives_the_same_blobs_after_any_change_of_segments_and_paths(
    tmp_path_factory: pytest.TempPathFactory,
    base: list[ViewEntry],
    edits: dict[int, ViewEntry | None],
    before: list[list[Blob]],
    after: list[list[Blob]],
    kept: int,
) -> None:
    paths = IndexPaths(tmp_path_factory.mktemp("index"))
    paths.segments.mkdir()
    paths.views.mkdir()
    write_view(paths.view("1"), "t", base)
    view = find_view(paths.view("1"))
    assert view is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blob_match, "MAX_UNJOINED", 0)
        first = Snapshot(paths, Manifest("1", segments=tuple(write(paths, blobs) for blobs in before)))
        first.update_join(view.base)
        assert first.is_join_valid(view.base)
    assert (find_join(view.file, len(view)) is not None) == bool(before)
    # The segments that are kept come after the new ones, as compaction reorders them.
    segments = [*(blobs for blobs in after if blobs not in before[:kept]), *before[:kept]]
    second = Snapshot(paths, Manifest("1", segments=tuple(write(paths, blobs) for blobs in segments)))
    assert second.is_join_valid(view)
    placed = {b"f%d" % path: entry and entry._replace(path=b"f%d" % path) for path, entry in edits.items()}
    for changed in (view, OverlaidView.of(view, placed)):
        assert actual(changed, second) == expected(changed, segments)


def test_a_damaged_join_is_ignored_and_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = IndexPaths(tmp_path)
    paths.segments.mkdir()
    paths.views.mkdir()
    write_view(paths.view("1"), "t", [ViewEntry(b"f", oid_of("1"), "python", INDEXED)])
    view = find_view(paths.view("1"))
    assert view is not None
    manifest = Manifest("1", segments=(write(paths, [(1, "python", True), (2, "python", True)]),))
    monkeypatch.setattr(blob_match, "MAX_UNJOINED", 0)
    Snapshot(paths, manifest).update_join(view)
    file = join_file(view.file)
    whole = file.read_bytes()
    assert find_join(view.file, 1) is not None
    assert find_join(view.file, 2) is None, "it belongs to another base"
    file.write_bytes(whole[:-70] + bytes(len(whole[-70:])))
    assert find_join(view.file, 1) is None
    assert Snapshot(paths, manifest).match(view).tolist() == [0]
