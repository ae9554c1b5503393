"""Fitted weights come back as they were written, or the file is called damaged."""

from pathlib import Path

import pytest

from gitmem.errors import DamagedFile
from gitmem.store.fitted_weights import MAGIC, Tuning, find_tuning, write_tuning
from gitmem.store.format import build_container

TUNING = Tuning("model:1", 0.4, 0.44, 0.039, 98)


def test_weights_come_back(tmp_path: Path) -> None:
    assert find_tuning(tmp_path / "tuning") is None
    write_tuning(tmp_path / "tuning", TUNING)
    assert find_tuning(tmp_path / "tuning") == TUNING


def test_every_damaged_byte_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "tuning"
    write_tuning(file, TUNING)
    data = file.read_bytes()
    used = len(data.rstrip(b"\0"))
    for place in range(used):
        file.write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
        with pytest.raises(DamagedFile):
            find_tuning(file)
    for size in range(used):
        file.write_bytes(data[:size])
        with pytest.raises(DamagedFile):
            find_tuning(file)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {**TUNING._asdict(), "semantic": "much"},
        {**TUNING._asdict(), "semantic": -1.0},
        {**TUNING._asdict(), "lexical": float("nan")},
        {**TUNING._asdict(), "lexical": float("inf")},
        {**TUNING._asdict(), "gain": float("nan")},
        {**TUNING._asdict(), "questions": None},
    ],
)
def test_what_no_fit_gives_is_refused(tmp_path: Path, fields: dict[str, object]) -> None:
    (tmp_path / "tuning").write_bytes(b"".join(bytes(part) for part in build_container(MAGIC, fields, {})))
    with pytest.raises(DamagedFile, match="tuning"):
        find_tuning(tmp_path / "tuning")
