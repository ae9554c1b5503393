"""Files of the store made by an enemy: every checksum is right and what they say is not.

Whatever an answer says then, the process must neither crash nor fail in a way that is not ours, nor read outside the
index.
"""

import random
import struct
import tempfile
from pathlib import Path
from typing import Any, Final

import pytest

from gitmem.store.format import Container, build_container
from gitmem.store.packed_file import PackedContainer
from gitmem.store.view_file import View
from tests.faults.flips import BATCH, Case, Harm, make_index, run_cases, store_files, tell
from tests.faults.oracle import small_steps
from tests.faults.report import Tally

_MAGIC_BYTES: Final = 8
_NUMBERS: Final = (0, 1, 2, 127, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1)
_VALUES: Final[tuple[Any, ...]] = (
    0, -1, 1, 2**31, 2**63, 1e308, float("nan"), None, True, "", "x", "../../../etc/passwd", "a" * 40, "\0", [], [[]],
    {}, b"\0" * 20, ["python"] * 70_000, [["../" + "a" * 37, 1, 1, 1]], "/" + "a" * 39,
)  # fmt: skip


def forge(data: bytearray, chance: random.Random) -> str:
    """Change a field or some of a section, deflated or not, and make all checksums anew."""
    form = chance.choice((Container, PackedContainer))
    opened = form(Path("forged"), bytes(data[:_MAGIC_BYTES]), bytes(data))
    fields = dict(opened.fields)
    if form is PackedContainer:
        fields.pop("packed", None)
    sections = {name: bytearray(section.all()) for name, section in opened._sections.items()}
    done = []
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        if not sections or chance.random() < 0.3:
            name = chance.choice(sorted(fields))
            fields[name] = chance.choice(_VALUES)
            done.append(f"field {name} is {str(fields[name])[:40]}")
        else:
            name = chance.choice(sorted(sections))
            done.append(f"section {name}: {_change(sections[name], chance)}")
    parts = build_container(bytes(data[:_MAGIC_BYTES]), fields, sections)
    data[:] = b"".join(bytes(part) for part in parts)
    return ", ".join(done)


def _change(section: bytearray, chance: random.Random) -> str:
    kind = chance.choice(("byte", "number", "short", "long", "noise", "same"))
    place = chance.randrange(len(section)) if section else 0
    if kind == "byte" and section:
        section[place] = chance.randrange(256)
    elif kind == "number":
        section[place & ~3 : (place & ~3) + 4] = struct.pack("<I", chance.choice(_NUMBERS))
    elif kind == "short":
        del section[place:]
    elif kind == "long":
        section += chance.randbytes(chance.choice((1, 4, 5000)))
    elif kind == "noise":
        section[place:] = chance.randbytes(len(section) - place)
    else:
        section[:] = bytes([chance.choice((0, 1, 127, 255))]) * len(section)
    return f"{kind} at {place}"


def run(*, long: bool) -> Tally:
    """Ten thousand forged files, or some tens."""
    return _run(Tally("forged files"), 10_000 if long else 80, "", forge)


def run_control() -> Tally:
    """A reader that believes what a view says of the entries of its keys."""

    def believe(view: View) -> tuple[Any, Any]:
        return view._file["sorted_keys"].numbers("<u8"), view._file["sorted_entries"].numbers("<u4")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(View, "sorted_keys", property(believe))
        return _run(Tally("a reader that believes a view", control=True), 20, "views", forge_entries)


def forge_entries(data: bytearray, chance: random.Random) -> str:
    """A view whose keys belong to entries that do not exist."""
    opened = Container(Path("forged"), bytes(data[:_MAGIC_BYTES]), bytes(data))
    sections = {name: bytes(section.all()) for name, section in opened._sections.items()}
    sections["sorted_entries"] = chance.randbytes(len(sections["sorted_entries"]))
    parts = build_container(bytes(data[:_MAGIC_BYTES]), opened.fields, sections)
    data[:] = b"".join(bytes(part) for part in parts)
    return "entries of noise"


def _run(tally: Tally, number: int, folder: str, harm: Harm) -> Tally:
    with tempfile.TemporaryDirectory() as place, small_steps():
        workspace = make_index(Path(place))
        wanted = tell(workspace)
        root = workspace.paths.root / folder
        files = [file for file in store_files(workspace) if file.is_relative_to(root) and _is_container(file)]
        cases = [Case(files[at % len(files)], harm, at) for at in range(number)]
        for start in range(0, number, BATCH):
            for case, bad in run_cases(workspace, cases[start : start + BATCH], wanted):
                name = case.file.relative_to(workspace.paths.root)
                tally.note(f"{name} ({case.seed})", [fault for fault in bad if not fault.endswith(": another answer")])
    return tally


def _is_container(file: Path) -> bool:
    return file.read_bytes().startswith(b"GITMEM")
