"""Offsets and numbers of an inverted index on disk."""

from pathlib import Path

import numpy as np
import pytest

from gitmem.errors import DamagedFile
from gitmem.store.format import Container, build_container
from gitmem.store.postings import read_offsets
from gitmem.store.segment import find_segment
from gitmem.store.segment_writer import write_segment
from tests.store.sample_rows import SampleBlob, SampleChunk, oid_of, rows_of


@pytest.mark.parametrize(
    ("offsets", "sound"), [([0, 2, 6], True), ([1, 2, 6], False), ([0, 2, 5], False), ([0, 7, 6], False), ([], False)]
)
def test_offsets_rise_from_zero_to_the_end(offsets: list[int], sound: bool) -> None:
    data = b"".join(build_container(b"GITMEMXX", {}, {"at": np.array(offsets, "<u4").tobytes()}))
    container = Container(Path("file"), b"GITMEMXX", data)
    if sound:
        assert read_offsets(container, "at", 6).tolist() == offsets
    else:
        with pytest.raises(DamagedFile):
            read_offsets(container, "at", 6)


@pytest.mark.parametrize("rows", [127, 128, 129, 300])
def test_a_term_may_occur_in_any_number_of_rows(tmp_path: Path, rows: int) -> None:
    """Numbers of places take a byte more from 128 on."""
    chunks = [
        SampleChunk(10 * number, 10, b"name", {b"common": 1 + number % 2} | ({b"rare": 2} if number % 2 else {}), {})
        for number in range(rows)
    ]
    entry = write_segment(tmp_path, rows_of([SampleBlob(oid_of("a"), "python", "python", 0, chunks)]))
    segment = find_segment(tmp_path, entry)
    assert segment is not None
    common, rare = (segment.find_postings("text", term) for term in (b"common", b"rare"))
    assert common is not None
    assert rare is not None
    assert common[0].tolist() == list(range(rows))
    assert common[1].tolist() == [1 + number % 2 for number in range(rows)]
    assert rare[0].tolist() == list(range(1, rows, 2))
