"""Vectors of an index whose scales an enemy made infinite, with checksums that hold."""

import random
from pathlib import Path

import numpy as np

from gitmem.store.format import build_container
from gitmem.store.packed_file import PackedContainer
from tests.faults.flips import Case, make_index, store_files, tell, try_case
from tests.faults.oracle import small_steps


def _make_scales_infinite(data: bytearray, _: random.Random) -> str:
    opened = PackedContainer(Path("forged"), b"GITMEMSG", bytes(data))
    sections = {name: bytes(section.all()) for name, section in opened._sections.items()}
    sections["scale"] = np.full(len(sections["scale"]) // 2, np.inf, "<f2").tobytes()
    fields = {name: value for name, value in opened.fields.items() if name != "packed"}
    data[:] = b"".join(map(bytes, build_container(b"GITMEMSG", fields, sections)))
    return "infinite scales"


def test_a_search_survives_infinite_scales(tmp_path: Path) -> None:
    with small_steps():
        workspace = make_index(tmp_path)
        wanted = tell(workspace)
        segments = [file for file in store_files(workspace) if file.parent == workspace.paths.segments]
        assert segments
        with np.errstate(all="ignore"):
            faults = [
                fault
                for file in segments
                for fault in try_case(workspace, Case(file, _make_scales_infinite, 0), wanted)
            ]
    assert [fault for fault in faults if not fault.endswith(": another answer")] == []
