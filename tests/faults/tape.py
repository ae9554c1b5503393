"""The calls that change files, of this process and of the git that it starts: counted, taken down, failed or the last.

A harness runs itself again, in several processes at once, with the library of `tape.c` preloaded (`run_processes`). Its
`main` finds a `Tape` there, and prints its tally at the end (`tell_tally`).
"""

import mmap
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from tests.faults.power import Operation
from tests.faults.report import Tally

OFF, COUNT, RECORD, KILL, TORN, ERROR, ERRORS, SHORT = range(8)
"""Modes, as in `tape.c`."""

KINDS: Final = (
    "create", "write", "sync", "sync_folder", "rename", "link", "unlink", "make_folder", "remove_folder", "truncate",
)  # fmt: skip
ROOT: Final = Path(__file__).resolve().parents[2]
_CONTROL: Final = struct.Struct("iiqq")
_HEAD: Final = struct.Struct("IIIIq")
_VARIABLES: Final = ("TAPE_ROOT", "TAPE_CONTROL", "TAPE_LOG")


def is_available() -> bool:
    """Whether the library can be built and preloaded here."""
    return sys.platform == "linux" and shutil.which("cc") is not None and Path("/proc/self/fd").exists()


def run_processes(name: str, module: str, *arguments: Sequence[str], control: bool = False, at_once: int = 2) -> Tally:
    """Run a harness's `main` in a process for each list of arguments, and return the sum of their tallies."""
    tally = Tally(name, control=control)
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(at_once) as pool:
        folders = [Path(place) / str(number) for number in range(len(arguments))]
        for part in pool.map(lambda folder, given: _run_preloaded(module, folder, given), folders, arguments):
            tally.add(part)
    return tally


def _run_preloaded(module: str, folder: Path, args: Sequence[str]) -> Tally:
    """Run a harness's `main` with the library preloaded; what it prints are its cases and the bad ones."""
    folder.mkdir()
    library = folder / "tape.so"
    source = Path(__file__).with_name("tape.c")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
    work = folder / "work"
    work.mkdir()
    (folder / "control").write_bytes(bytes(_CONTROL.size))
    (folder / "log").touch()
    own = dict(zip(_VARIABLES, map(str, (work, folder / "control", folder / "log")), strict=True))
    environment = {**os.environ, **own, "PYTHONPATH": str(ROOT), "LD_PRELOAD": str(library)}
    command = [sys.executable, "-m", f"tests.faults.{module}", *args]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    cases, missed, *bad = done.stdout.splitlines()
    return Tally(module, cases=int(cases), bad=bad, missed=missed.split(";") if missed else [])


def tell_tally(tally: Tally) -> None:
    """Print a tally as `run_processes` reads it."""
    print(tally.cases)
    print(";".join(tally.missed))
    for line in tally.bad:
        print(line.replace("\n", " "))


def spread(calls: int, wanted: int) -> list[int]:
    """Numbers of calls from 1 to `calls`: so many, evenly spread, or all of them for 0."""
    if not wanted or wanted >= calls:
        return list(range(1, calls + 1))
    return sorted({1 + round((place + 0.5) * (calls - 1) / wanted) for place in range(wanted)})


class Tape:
    """The preloaded library, as its processes see it. Off until it is set."""

    def __init__(self) -> None:
        self.root = Path(os.environ["TAPE_ROOT"])
        self._log = Path(os.environ["TAPE_LOG"])
        with Path(os.environ["TAPE_CONTROL"]).open("r+b") as file:
            self._control = mmap.mmap(file.fileno(), _CONTROL.size)

    def set(self, mode: int, number: int = 0, error: int = 0) -> None:
        """Begin anew: count calls from 0, and let happen what the mode says at the call of that number."""
        if mode == RECORD:
            os.truncate(self._log, 0)
        self._control[:] = _CONTROL.pack(mode, error, number, 0)

    def end(self) -> int:
        """Stop; returns how many calls there were."""
        count: int = _CONTROL.unpack(self._control)[3]
        self._control[:] = _CONTROL.pack(OFF, 0, 0, 0)
        return count

    def read(self, repo: Path) -> list[Operation]:
        """The calls that were taken down below a repository, in their order."""
        return list(_parse_log(self._log.read_bytes(), f"{repo.relative_to(self.root)}/"))


def _parse_log(data: bytes, prefix: str) -> Iterator[Operation]:
    """Each file gets a number when it is made or first written; it keeps it under every name."""
    inodes: dict[str, int] = {}
    at = 0
    while at < len(data):
        kind, length, target_length, size, where = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        path, target = data[at : at + length].decode(), data[at + length : at + length + target_length].decode()
        at += length + target_length
        content = data[at : at + size]
        at += size
        if not (path + "/").startswith(prefix):
            continue
        path, target = path.removeprefix(prefix), target.removeprefix(prefix)
        name = KINDS[kind]
        inode = -1
        if name == "create":
            inode = inodes[path] = len(inodes) + 1_000_000
        elif name in ("write", "sync", "truncate"):
            inode = inodes.setdefault(path, len(inodes) + 1_000_000)
        elif name == "rename":
            inode = inodes[target] = inodes.pop(path)
        elif name == "link":
            inode = inodes[target] = inodes[path]
        elif name == "unlink":
            inodes.pop(path, None)
        yield Operation(name, path, target, inode, content, where)
