"""Fitted weights: round trips, and detection of damage."""

from pathlib import Path

import pytest

from gitmem.errors import DamagedFile
from gitmem.store.fitted_weights import MAGIC, Tuning, find_tuning, write_tuning
from gitmem.store.format import build_container

TUNING = Tuning("model:1", 0.4, 0.44, 0.039, 98)
FIELDS = {"maker": "model:1", "semantic": 0.4, "lexical": 0.44, "gain": 0.039, "questions": 98}


def write_fields(path: Path, fields: dict[str, object]) -> None:
    path.write_bytes(b"".join(bytes(part) for part in build_container(MAGIC, fields, {})))


def test_weights_survive_a_round_trip(tmp_path: Path) -> None:
    assert find_tuning(tmp_path / "tuning") is None
    write_tuning(tmp_path / "tuning", TUNING)
    assert find_tuning(tmp_path / "tuning") == TUNING


def test_the_names_of_the_fields_in_the_file_are_stable(tmp_path: Path) -> None:
    write_fields(tmp_path / "tuning", dict(FIELDS))
    assert find_tuning(tmp_path / "tuning") == TUNING


def test_every_damaged_byte_is_detected(tmp_path: Path) -> None:
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
        {**FIELDS, "semantic": "much"},
        {**FIELDS, "semantic": -1.0},
        {**FIELDS, "lexical": float("nan")},
        {**FIELDS, "lexical": float("inf")},
        {**FIELDS, "gain": float("nan")},
        {**FIELDS, "questions": None},
    ],
)
def test_invalid_weights_are_damage(tmp_path: Path, fields: dict[str, object]) -> None:
    write_fields(tmp_path / "tuning", fields)
    with pytest.raises(DamagedFile, match="tuning"):
        find_tuning(tmp_path / "tuning")
