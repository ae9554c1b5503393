"""Packs from elsewhere are opened only if they are segments of a tree."""

import hashlib
from pathlib import Path

import msgpack
import pytest

from gitmem.errors import DamagedFile
from gitmem.indexing.row_packs import open_pack
from gitmem.store.format import build_container
from gitmem.store.packed_file import Packing, build_packed_container, find_packed_container
from gitmem.store.segment import MAGIC
from gitmem.store.segment_writer import write_segment
from tests.store.sample_rows import SampleBlob, oid_of, rows_of


def forge_pack(folder: Path, *, is_compact: bool) -> bytes:
    """Return a segment whose sections are not deflated, also if it says that it is of the past."""
    rows = rows_of([SampleBlob(oid_of("a"), "python", "python", 0, [])])
    file = folder / write_segment(folder, rows, is_compact=is_compact).name
    container = find_packed_container(file, MAGIC)
    assert container is not None
    data = file.read_bytes()
    header = data[-8 - int.from_bytes(data[-8:-4], "little") : -8]
    sections = {name: bytes(container[name].all()) for name in msgpack.unpackb(header)["sections"]}
    fields = {name: value for name, value in container.fields.items() if name != "packed"}
    return b"".join(map(bytes, build_container(MAGIC, fields, sections)))


def test_a_pack_that_says_to_be_of_the_past_is_refused(tmp_path: Path) -> None:
    # Its records of names are not those of names, so nothing would check them.
    own, past = (forge_pack(tmp_path, is_compact=is_compact) for is_compact in (False, True))
    assert open_pack(hashlib.blake2b(own, digest_size=20).hexdigest(), own, 0, 20).blobs == 1
    with pytest.raises(DamagedFile, match="rows are those of a past"):
        open_pack(hashlib.blake2b(past, digest_size=20).hexdigest(), past, 0, 20)


def test_a_deflated_pack_is_opened_if_it_does_not_grow_too_large(tmp_path: Path) -> None:
    entry = write_segment(tmp_path, rows_of([SampleBlob(oid_of("a"), "python", "python", 0, [])]))
    assert open_pack(entry.name, (tmp_path / entry.name).read_bytes(), 0, 20).blobs == 1
    fields = {"rows": 0, "blobs": 0, "dimensions": 0, "id_bytes": 20, "languages": []}
    parts = build_packed_container(MAGIC, fields, {"labels": bytes((64 << 20) + 1)}, {"labels": Packing()})
    bomb = b"".join(map(bytes, parts))
    assert len(bomb) < 2 << 20
    with pytest.raises(DamagedFile, match="invalid packed section"):
        open_pack(hashlib.blake2b(bomb, digest_size=20).hexdigest(), bomb, 0, 20)
