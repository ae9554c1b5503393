"""Deflated sections of containers, and vectors of few levels."""

import sys
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.errors import DamagedFile
from gitmem.store.format import build_container
from gitmem.store.packed_file import (
    BYTES,
    PACKED_BLOCK,
    PackedContainer,
    PackedSection,
    Packing,
    build_packed_container,
    find_packed_container,
    pack_block,
    unpack_block,
)
from gitmem.store.section import Section

MAGIC = b"GITMEMTT"

PACKINGS = st.builds(Packing, st.sampled_from([1, 2, 4, 8]), st.booleans())


def packed(content: bytes, packing: Packing, path: Path = Path("file")) -> Section:
    parts = build_packed_container(MAGIC, {}, {"numbers": content}, {"numbers": packing})
    return PackedContainer(path, MAGIC, b"".join(map(bytes, parts)))["numbers"]


@given(st.binary(max_size=300), PACKINGS)
def test_a_block_is_restored_whatever_its_bytes_and_its_packing_are(content: bytes, packing: Packing) -> None:
    assert unpack_block(pack_block(content, packing), len(content), packing) == content


@given(st.data())
def test_a_deflated_section_reads_like_its_content(data: st.DataObject) -> None:
    size = data.draw(st.sampled_from([0, 1, PACKED_BLOCK // 4, PACKED_BLOCK // 4 + 1, PACKED_BLOCK]))
    numbers = np.random.default_rng(size).integers(0, 1 << 12, size, np.uint32)
    content = numbers.tobytes()
    section = packed(content, data.draw(st.sampled_from([BYTES, Packing(4), Packing(4, is_ascending=True)])))
    ends = st.integers(0, len(content))
    ranges = [sorted(pair) for pair in data.draw(st.lists(st.tuples(ends, ends), max_size=5))]
    assert len(section) == len(content)
    assert [bytes(section.read(start, end)) for start, end in ranges] == [content[start:end] for start, end in ranges]
    starts, stops = (np.array([pair[side] for pair in ranges], np.int64) for side in (0, 1))
    assert section.slices(starts, stops) == [content[start:end] for start, end in ranges]
    rows = np.array(data.draw(st.lists(st.integers(0, size - 1), max_size=5)) if size else [], np.int64)
    assert section.pick(rows, 4).view("<u4").ravel().tolist() == numbers[rows].tolist()
    section.release(0, len(content))
    assert section.numbers("<u4").tolist() == numbers.tolist()
    assert bytes(section.all()) == content


def test_only_the_blocks_of_a_range_are_inflated(monkeypatch: pytest.MonkeyPatch) -> None:
    section = packed(bytes(5 * PACKED_BLOCK), BYTES)
    inflated = []

    def unpack(stored: bytes, size: int, packing: Packing) -> bytes:
        inflated.append(size)
        return unpack_block(stored, size, packing)

    monkeypatch.setattr("gitmem.store.packed_file.unpack_block", unpack)
    section.read(PACKED_BLOCK + 1, PACKED_BLOCK + 9)
    section.read(PACKED_BLOCK + 2, PACKED_BLOCK + 3)
    assert inflated == [PACKED_BLOCK]


def test_a_section_that_is_released_before_any_line_is_read_as_before() -> None:
    # Another thread may release it between any two steps.
    section = packed(bytes(range(256)), BYTES)
    lines = []

    def release(frame: FrameType, event: str, _: object) -> Any:
        if event == "line" and frame.f_code in (PackedSection.all.__code__, PackedSection.read.__code__):
            lines.append(frame.f_lineno)
            section.release(0, len(section))
        return release

    former = sys.gettrace()
    sys.settrace(release)
    try:
        contents = [bytes(section.all()), bytes(section.read(3, 9)), bytes(section.all())]
    finally:
        sys.settrace(former)
    assert contents == [bytes(range(256)), bytes(range(3, 9)), bytes(range(256))]
    assert len(lines) > 10


def test_a_column_of_small_ascending_numbers_takes_a_tenth_of_its_bytes() -> None:
    content = np.cumsum(np.random.default_rng(0).integers(0, 9, 20_000)).astype("<u4").tobytes()
    parts = build_packed_container(MAGIC, {}, {"numbers": content}, {"numbers": Packing(4, is_ascending=True)})
    assert sum(len(bytes(part)) for part in parts) < 0.15 * len(content)


def test_ranges_and_rows_outside_of_the_content_are_damage() -> None:
    section = packed(bytes(8), BYTES)
    for read in (
        lambda: section.read(4, 9),
        lambda: section.pick(np.array([2]), 4),
        lambda: section.pick(np.array([0]), 3),
        lambda: section.pick(np.array([0]), 0),
        lambda: section.numbers("V3"),
    ):
        with pytest.raises(DamagedFile):
            read()


@pytest.mark.parametrize(
    "field",
    [
        {"numbers": [9, 1, False, b"\x10\0\0\0"]},  # more bytes than the blocks have
        {"numbers": [8, 3, False, b"\x10\0\0\0"]},
        {"numbers": [8, 1, False, b"\xff\0\0\0"]},
        {"numbers": [-1, 1, False, b""]},
        {"numbers": [float("inf"), 1, False, b"\x10\0\0\0"]},
        {"other": [8, 1, False, b"\x10\0\0\0"]},
        {"numbers": 5},
    ],
)
def test_blocks_that_do_not_fit_the_section_are_damage(field: Mapping[str, object]) -> None:
    parts = build_packed_container(MAGIC, {"packed": field}, {"numbers": bytes(16)}, {})
    with pytest.raises(DamagedFile):
        PackedContainer(Path("file"), MAGIC, b"".join(map(bytes, parts))).check()


def test_a_flipped_bit_is_found_and_no_file_is_none(tmp_path: Path) -> None:
    content = np.arange(4000, dtype="<u4").tobytes()
    file = bytearray(b"".join(map(bytes, build_packed_container(MAGIC, {}, {"a": content}, {"a": Packing(4)}))))
    assert find_packed_container(tmp_path / "file", MAGIC) is None
    file[100] ^= 1
    (tmp_path / "file").write_bytes(file)
    container = find_packed_container(tmp_path / "file", MAGIC)
    assert container is not None
    with pytest.raises(DamagedFile):
        container["a"].all()
    with pytest.raises(DamagedFile):
        container.check()


_BLOCKS = 3 * (64 << 20) // PACKED_BLOCK
"""Blocks of 192 MB, more than any small file may state."""


def test_a_small_file_that_states_to_be_large_is_damage_before_it_is_inflated() -> None:
    stored = [pack_block(bytes(PACKED_BLOCK), BYTES)] * _BLOCKS
    ends = np.cumsum([len(block) for block in stored]).astype("<u4").tobytes()
    fields = {"packed": {"numbers": [_BLOCKS * PACKED_BLOCK, 1, False, ends]}}
    data = b"".join(map(bytes, build_container(MAGIC, fields, {"numbers": b"".join(stored)})))
    assert len(data) < 1 << 20
    with pytest.raises(DamagedFile, match="invalid packed section"):
        PackedContainer(Path("file"), MAGIC, data)


def test_several_sections_count_together() -> None:
    # Sections of a forged file may have the same bytes.
    half = _BLOCKS // 4
    stored = pack_block(bytes(PACKED_BLOCK), BYTES) * half
    ends = (np.arange(1, half + 1) * (len(stored) // half)).astype("<u4").tobytes()
    names = [f"part {number}" for number in range(4)]
    fields = {"packed": {name: [half * PACKED_BLOCK, 1, False, ends] for name in names}}
    data = b"".join(map(bytes, build_container(MAGIC, fields, dict.fromkeys(names, stored))))
    with pytest.raises(DamagedFile, match="invalid packed section"):
        PackedContainer(Path("file"), MAGIC, data)


def test_a_written_file_that_shrinks_to_almost_nothing_can_be_read() -> None:
    size = _BLOCKS * PACKED_BLOCK
    parts = build_packed_container(MAGIC, {}, {"zeros": bytes(size)}, {"zeros": BYTES})
    data = b"".join(map(bytes, parts))
    assert size / 64 <= len(data) < size / 50
    container = PackedContainer(Path("file"), MAGIC, data)
    assert container["zeros"].read(size - 2, size) == bytes(2)
    container.check()
