"""Container format: every changed byte is detected, and no claim of a header is trusted."""

import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gitmem.errors import DamagedFile, NewerFormat, OldFormat
from gitmem.store.format import (
    BLOCK,
    FIRST_FORMAT,
    FORMAT,
    LONG_BLOCK,
    Buffer,
    Container,
    ContainerWriter,
    build_container,
    find_container,
)

MAGIC = b"GITMEMXX"
HERE = Path("index/file")

many = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
fields = st.dictionaries(
    st.text(max_size=8), st.one_of(st.integers(-(2**63), 2**64 - 1), st.text(), st.binary()), max_size=4
)
sections = st.dictionaries(
    st.text(max_size=8), st.builds(bytes.__mul__, st.binary(max_size=40), st.integers(0, 300)), max_size=4
)


def build(fields: Mapping[str, Any], sections: Mapping[str, bytes]) -> bytes:
    return b"".join(build_container(MAGIC, fields, sections))


def read(data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return all fields and sections of a file, with all checksums verified."""
    container = Container(HERE, MAGIC, data)
    container.check()
    names = list(container._sections)
    return container.fields, {name: bytes(container[name].all()) for name in names}


def forge(header: Any, body: bytes = b"", *, version: int = FORMAT) -> bytes:
    """Build a file with an arbitrary header and valid checksums."""
    packed = header if isinstance(header, bytes) else msgpack.packb(header)
    start = struct.pack("<8sII", MAGIC, version, 0)
    prefix = start + struct.pack("<I", zlib.crc32(start))
    end = struct.pack("<II", len(packed), zlib.crc32(packed))
    return prefix + bytes(-len(prefix) % 64) + body + packed + end


def forge_first_format(header: Any, body: bytes) -> bytes:
    """Build a file of format 1, which has its header before the sections."""
    packed: bytes = msgpack.packb(header)
    start = struct.pack("<8sII", MAGIC, 1, len(packed))
    prefix = start + struct.pack("<I", zlib.crc32(packed, zlib.crc32(start))) + packed
    return prefix + bytes(-len(prefix) % 64) + body


@many
@given(fields=fields, sections=sections)
@example(fields={}, sections={})
@example(fields={}, sections={"a": b"", "b": bytes(BLOCK), "c": bytes(BLOCK + 1)})
def test_fields_and_sections_survive_a_round_trip(fields: dict[str, Any], sections: dict[str, bytes]) -> None:
    assert read(build(fields, sections)) == (fields, sections)


@many
@given(sections=sections, data=st.data())
def test_any_part_of_a_section_can_be_read(sections: dict[str, bytes], data: st.DataObject) -> None:
    container = Container(HERE, MAGIC, build({}, sections))
    for name, content in sections.items():
        start = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(start, len(content)))
        assert bytes(container[name].read(start, end)) == content[start:end]


SAMPLE = build({"rows": 3, "names": ["a", "b"]}, {"one": bytes(range(256)) * 3, "two": b"x" * 5000, "none": b""})


def test_a_truncated_file_is_damage_unless_only_padding_is_missing() -> None:
    whole = read(SAMPLE)
    for length in range(len(SAMPLE)):
        try:
            actual = read(SAMPLE[:length])
        except DamagedFile:
            continue
        assert actual == whole
        assert not SAMPLE[length:].strip(b"\0"), length


def test_every_flipped_bit_is_damage_or_has_no_effect() -> None:
    whole = read(SAMPLE)
    undetected = 0
    for place in range(8 * len(SAMPLE)):
        flipped = bytearray(SAMPLE)
        flipped[place // 8] ^= 1 << place % 8
        try:
            assert read(bytes(flipped)) == whole
            undetected += 1
        except DamagedFile:
            continue
    assert undetected <= 8 * 64 * 4, "only changes of padding may be undetected"


def test_these_tests_would_detect_a_reader_without_checksums() -> None:
    flipped = bytearray(SAMPLE)
    flipped[64 + 768 + 1000] ^= 1
    assert bytes(Container(HERE, MAGIC, bytes(flipped))["two"]._view) != b"x" * 5000


@given(st.sets(st.integers(0, 49), max_size=8), st.sets(st.integers(0, 4), max_size=2))
def test_picked_rows_equal_those_of_the_table_and_only_their_blocks_are_read(
    rows: set[int], damaged_blocks: set[int]
) -> None:
    table = np.arange(50 * 100, dtype=np.uint32).astype("<u4").view(np.uint8).reshape(50, 400)
    data = bytearray(b"".join(build_container(MAGIC, {}, {"table": table.tobytes()})))
    start = 64
    for block in damaged_blocks:
        data[start + block * BLOCK] ^= 1
    section = Container(HERE, MAGIC, bytes(data))["table"]
    selected = np.array(sorted(rows), np.int64)
    if damaged_blocks & {place // BLOCK for row in rows for place in (row * 400, row * 400 + 399)}:
        with pytest.raises(DamagedFile):
            section.pick(selected, 400)
    else:
        assert np.array_equal(section.pick(selected, 400), table[selected])


@given(st.lists(st.tuples(st.integers(0, 9_999), st.integers(1, 5_000)), max_size=6), st.integers(0, 2))
def test_slices_equal_those_of_the_section_and_only_their_blocks_are_read(
    ranges: list[tuple[int, int]], damaged_block: int
) -> None:
    content = np.arange(2_500, dtype="<u4").tobytes()
    data = bytearray(b"".join(build_container(MAGIC, {}, {"table": content})))
    data[64 + damaged_block * BLOCK] ^= 1
    section = Container(HERE, MAGIC, bytes(data))["table"]
    bounds = [(start, min(start + size, len(content))) for start, size in ranges]
    starts, ends = np.array([start for start, _ in bounds], "<u4"), np.array([end for _, end in bounds], "<u4")
    if any(start < (damaged_block + 1) * BLOCK and end > damaged_block * BLOCK for start, end in bounds):
        with pytest.raises(DamagedFile):
            section.slices(starts, ends)
    else:
        assert section.slices(starts, ends) == [content[start:end] for start, end in bounds]


@pytest.mark.parametrize(("start", "end"), [(0, 10_001), (5, 4)])
def test_slices_out_of_range_are_damage(start: int, end: int) -> None:
    section = Container(HERE, MAGIC, b"".join(build_container(MAGIC, {}, {"table": bytes(10_000)})))["table"]
    with pytest.raises(DamagedFile):
        section.slices(np.array([start]), np.array([end]))


@pytest.mark.parametrize(("row", "width"), [(50, 400), (0, 0), (0, 399), (0, 5000)])
def test_rows_out_of_range_are_damage(row: int, width: int) -> None:
    section = Container(HERE, MAGIC, b"".join(build_container(MAGIC, {}, {"table": bytes(20_000)})))["table"]
    with pytest.raises(DamagedFile):
        section.pick(np.array([row], np.int64), width)


@pytest.mark.parametrize(
    "header",
    [
        b"", b"\xc1", b"\x81", 7, [], None, "text", {}, {"fields": {}}, {"sections": {}},
        {"fields": 1, "sections": {}}, {"fields": [1], "sections": {}}, {"fields": {}, "sections": 3},
        {"fields": {}, "sections": {"a": 1}}, {"fields": {}, "sections": {"a": []}},
        {"fields": {}, "sections": {"a": [0, 0]}}, {"fields": {}, "sections": {"a": [0, 0, 64, b"", b""]}},
        {"fields": {}, "sections": {"a": [0, 2**40, 64, b""]}}, {"fields": {}, "sections": {"a": [0, 4, 0, b"aaaa"]}},
        {"fields": {}, "sections": {"a": [2**63, 4, 64, b"aaaa"]}}, {"fields": {}, "sections": {"a": [0, 4, -4, b""]}},
        {"fields": {}, "sections": {"a": [-64, 4, 64, b"aaaa"]}}, {"fields": {}, "sections": {"a": [0, -1, 64, b""]}},
        {"fields": {}, "sections": {"a": ["0", "1", "2", "3"]}},
        {"fields": {}, "sections": {"a": [0, 1.5, 64, b"aaaa"]}}, {"fields": {}, "sections": {"a": [0, 4, 64, 4]}},
        {"fields": {}, "sections": {"a": [0, float("inf"), 64, b"aaaa"]}},
        {"fields": {}, "sections": {"a": [0, 4, 0.5, bytes(32)]}},
        {"fields": {}, "sections": {"a": [None, None, None, None]}},
        {"fields": {}, "sections": {"a": [0, 4, 64, "aaaa"]}},
        b"\x91" * 100_000, b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff",
        b"\x81\x01\x02", b"\x82\xa6fields\x80\xa8sections\x80trailing",
    ],
)  # fmt: skip
def test_a_header_of_another_structure_is_damage(header: Any) -> None:
    with pytest.raises(DamagedFile):
        read(forge(header, bytes(256)))


wild = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**64 - 1),
        st.floats(),
        st.text(max_size=5),
        st.binary(max_size=8),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=8,
)


@many
@given(fields=wild, sections=st.one_of(wild, st.dictionaries(st.text(max_size=3), st.lists(wild, max_size=4))))
def test_a_forged_header_raises_no_other_error(fields: Any, sections: Any) -> None:
    try:
        read(forge({"fields": fields, "sections": sections}, bytes(128)))
    except DamagedFile:
        return


def test_a_newer_format_is_an_error_and_an_older_one_is_damage_to_be_rebuilt() -> None:
    header: dict[str, Any] = {"fields": {}, "sections": {}}
    with pytest.raises(NewerFormat, match=f"format {FORMAT + 1}"):
        read(forge(header, version=FORMAT + 1))
    with pytest.raises(OldFormat):
        read(forge(header, version=0))
    assert issubclass(OldFormat, DamagedFile)


def test_a_reader_that_understands_the_first_format_reads_its_fields_and_sections() -> None:
    content = b"some bytes"
    sums = struct.pack("<I", zlib.crc32(content))
    data = forge_first_format({"fields": {"a": 1}, "sections": {"one": [0, len(content), sums]}}, content)
    with pytest.raises(OldFormat, match="format 1"):
        Container(HERE, MAGIC, data)
    container = Container(HERE, MAGIC, data, oldest=FIRST_FORMAT)
    assert (container.fields, bytes(container["one"].all())) == ({"a": 1}, content)
    damaged = Container(HERE, MAGIC, data[:-1] + b"!", oldest=FIRST_FORMAT)
    with pytest.raises(DamagedFile):
        damaged["one"].all()


def test_a_reader_of_the_first_format_meets_a_valid_prefix_with_a_newer_version() -> None:
    """It would otherwise report damage, and replace the index of a newer gitmem."""
    magic, version, length = struct.unpack_from("<8sII", SAMPLE)
    assert (magic, version) == (MAGIC, FORMAT)
    header = SAMPLE[20 : 20 + length]
    assert zlib.crc32(header, zlib.crc32(SAMPLE[:16])) == int.from_bytes(SAMPLE[16:20], "little")


def test_sections_may_have_blocks_of_any_size_and_come_in_parts() -> None:
    content = bytes(range(256)) * 1000
    parts: list[Buffer] = []
    writer = ContainerWriter(MAGIC, parts.append)
    writer.add_section("long", (content[at : at + 777] for at in range(0, len(content), 777)), LONG_BLOCK)
    writer.add_section("one", [content], LONG_BLOCK)
    writer.add_section("empty", [])
    writer.finish({})
    container = Container(HERE, MAGIC, b"".join(parts))
    container.check()
    assert bytes(container["long"].all()) == bytes(container["one"].all()) == content
    assert container["long"]._sums == container["one"]._sums
    assert len(container["long"]._sums) == 4 * 4


def test_blocks_of_a_verified_file_are_verified_by_a_check_only() -> None:
    data = bytearray(build({}, {"table": bytes(6000)}))
    data[64 + 100] ^= 1
    container = Container(HERE, MAGIC, data, is_verified=True)
    container["table"].all()
    container["table"].pick(np.array([0]), 3000)
    with pytest.raises(DamagedFile):
        container.check()


def test_a_wrong_magic_number_is_damage() -> None:
    with pytest.raises(DamagedFile, match="wrong magic number"):
        Container(HERE, b"GITMEMYY", SAMPLE)


def test_an_empty_file_is_damage_and_a_missing_one_is_none(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    with pytest.raises(DamagedFile):
        find_container(empty, MAGIC)
    assert find_container(tmp_path / "missing", MAGIC) is None


def test_a_row_that_crosses_two_blocks_is_checked_in_both() -> None:
    data = bytearray(b"".join(build_container(MAGIC, {}, {"table": bytes(6000)})))
    data[64 + 5000] ^= 1
    section = Container(HERE, MAGIC, bytes(data))["table"]
    with pytest.raises(DamagedFile, match="checksum mismatch in block 1"):
        section.pick(np.array([1]), 3000)


def test_a_block_is_checked_when_it_is_first_read_only() -> None:
    data = bytearray(b"".join(build_container(MAGIC, {}, {"table": bytes(6000)})))
    section = Container(HERE, MAGIC, data)["table"]
    section.read(0, 10)
    data[64 + 100] ^= 1
    section.read(0, 10)
    with pytest.raises(DamagedFile):
        section.check_block(0)


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs the memory maps that Linux reports")
@pytest.mark.parametrize("picked", [8, 64])
def test_picked_rows_of_a_large_section_leave_little_of_it_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, picked: int
) -> None:
    monkeypatch.setattr("gitmem.store.section.MAX_PICKED_BYTES", 1 << 20)
    table = np.arange(1 << 22, dtype="<u4").view(np.uint8).reshape(-1, 256)
    path = tmp_path / "file"
    path.write_bytes(build(fields={}, sections={"table": table.tobytes()}))
    container = find_container(path, MAGIC)
    assert container is not None
    for start in range(0, len(table), picked):
        rows = np.arange(start, min(start + picked, len(table)))
        assert np.array_equal(container["table"].pick(rows, 256), table[rows])
    # A page that is touched may bring 2 MiB with it, if the system caches the file in pieces as large.
    assert resident_kilobytes(path) <= 8 << 10


def resident_kilobytes(path: Path) -> int:
    """Return how much of a mapped file this process has in memory."""
    lines = iter(Path("/proc/self/smaps").read_text().splitlines())
    mapped = next(line for line in lines if line.endswith(str(path)))
    assert mapped
    return next(int(line.split()[1]) for line in lines if line.startswith("Rss:"))


def test_a_read_that_ends_in_a_damaged_block_is_refused() -> None:
    data = bytearray(b"".join(build_container(MAGIC, {}, {"table": bytes(6000)})))
    data[64 + 5000] ^= 1
    section = Container(HERE, MAGIC, bytes(data))["table"]
    with pytest.raises(DamagedFile, match="checksum mismatch in block 1"):
        section.read(0, 5001)


def test_a_section_beyond_the_end_of_the_file_is_damage() -> None:
    section = [0, BLOCK + 1, BLOCK, bytes(8)]
    with pytest.raises(DamagedFile, match="truncated"):
        Container(HERE, MAGIC, forge({"fields": {}, "sections": {"table": section}}, bytes(64)))
