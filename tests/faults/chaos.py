"""Random faults: kills, torn and short writes, full disks, errors, interrupted calls, too many files, no memory.

Two ways of causing them: a disk that misbehaves in the place of `fsio.disk`, and a library built from `shim.c` and
preloaded, which stands below Python and sees reads and maps too. A warm process copies itself for each trial.
"""

import ctypes
import errno
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from gitmem import fsio
from gitmem.errors import GitmemError
from tests.faults.disk_states import State, digest, put_state, read_base, trusted_segments
from tests.faults.driver import InPlace
from tests.faults.kill import ROOT, World, look_after, open_world
from tests.faults.oracle import small_steps
from tests.faults.report import Tally
from tests.faults.worlds import SCENARIOS, chosen
from tests.gitrepo import Repo, unmeasured_environment

ERRORS: Final = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS, errno.ENOMEM)
SHIM: Final = "TEST_GITMEM_SHIM"
CAN_STARVE: Final = find_spec("_testcapi") is not None
KINDS: Final = ("kill", "kill", "torn", "error", "error", "errors", "short", *(["memory"] if CAN_STARVE else []))
KINDS_BELOW: Final = ("interrupt", "read", "read", "files")
MISTAKEN: Final = re.compile(r"TypeError: .*\bos\.PathLike\b.*, not PosixPath")
"""What Python's calls say, each in its own words, without the memory to look up the method that makes a path a path."""

DONE, REFUSED, UNCLEAN = 0, 10, 11
"""How a trial's process ends: with success, with an error of ours, with any other."""


class Fault(NamedTuple):
    """What goes wrong: `number` is the call at which it does, `error` the number of the error it gives.

    Of the kind `memory` these are the first allocation that fails, and how many do.
    """

    kind: str
    number: int
    error: int = 0

    def __str__(self) -> str:
        if self.kind == "memory":
            return f"no memory for {self.error} allocations at {self.number}"
        name = f" {errno.errorcode[self.error]}" if self.error else ""
        return f"{self.kind}{name} at {self.number}"


class Saboteur(fsio.Disk):
    """A disk with one fault."""

    def __init__(self, fault: Fault) -> None:
        self._fault = fault
        self.calls = 0
        self.writes: list[int] = []

    def _strike(self) -> None:
        kind, number, error = self._fault
        self.calls += 1
        if kind == "kill" and self.calls == number:
            os.kill(os.getpid(), signal.SIGKILL)
        if (kind == "error" and self.calls == number) or (kind == "errors" and self.calls >= number):
            raise OSError(error, os.strerror(error))

    def create(self, path: Path, mode: int) -> int:
        self._strike()
        return super().create(path, mode)

    def write(self, handle: int, data: memoryview) -> int:
        self._strike()
        self.writes.append(self.calls)
        if self._fault.kind == "torn" and self.calls == self._fault.number:
            super().write(handle, data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        if self._fault.kind == "short" and self.calls >= self._fault.number:
            data = data[: max(1, len(data) // 2)]
        return super().write(handle, data)

    def sync(self, handle: int) -> None:
        self._strike()
        super().sync(handle)

    def rename(self, source: Path, target: Path) -> None:
        self._strike()
        super().rename(source, target)

    def link(self, source: Path, target: Path) -> None:
        self._strike()
        super().link(source, target)

    def unlink(self, path: Path) -> None:
        self._strike()
        super().unlink(path)

    def make_folder(self, path: Path, mode: int) -> None:
        self._strike()
        super().make_folder(path, mode)


class NaiveSaboteur(Saboteur, InPlace):
    """The same under a writer that writes in place."""


class Shim:
    """The preloaded library, where it is loaded. Its kinds are numbered as in `shim.c`."""

    kinds: Final = {"kill": 1, "torn": 2, "error": 3, "errors": 4, "short": 5, "interrupt": 6, "read": 7}

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None)

    def arm(self, fault: Fault) -> None:
        """Let it happen in this process."""
        self._library.shim_arm(self.kinds[fault.kind], fault.number, fault.error)

    def count(self) -> tuple[int, int]:
        """Changes and reads since it was armed."""
        return self._library.shim_changes(), self._library.shim_reads()


class Stage(NamedTuple):
    """A world, the working copy that trials happen in, how it stands before each, and how many calls a run makes.

    `tried` are the single faults until now, which are not tried again, and `seen` the states that they left behind,
    which are not looked at again.
    """

    world: World
    own: Repo
    base: State
    changes: int
    writes: list[int]
    changes_below: int
    reads_below: int
    tried: set[tuple[bool, Fault]]
    seen: set[int]


def build_shim(folder: Path) -> Path | None:
    """Compile the library; None where there is no compiler, or no such preloading."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        return None
    target = folder / "shim.so"
    source = Path(__file__).with_name("shim.c")
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", str(target), str(source), "-ldl"], check=True)
    return target


def run(*, long: bool, only: str = "") -> Tally:
    """Five thousand trials, or some tens, in a process with the library preloaded where it can be built."""
    return _run_elsewhere("random faults", 5_000 if long else 24, only)


def run_control() -> Tally:
    """The same with a writer that writes in place."""
    tally = _run_elsewhere("random faults of a writer in place", 40, "--naive")
    tally.control = True
    return tally


def _run_elsewhere(name: str, trials: int, option: str) -> Tally:
    """Run that many trials; `option` is the name of a scenario, or `--naive`."""
    with tempfile.TemporaryDirectory() as place:
        shim = build_shim(Path(place))
        # Without coverage: its tracer fails with the allocations, in lines where nothing else could.
        environment = {**unmeasured_environment(), "PYTHONPATH": str(ROOT)}
        if shim is not None:
            environment |= {"LD_PRELOAD": str(shim), SHIM: "1"}
        command = [sys.executable, "-m", "tests.faults.chaos", str(trials), option]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    cases, *bad = done.stdout.splitlines()
    return Tally(name, cases=int(cases), bad=bad)


def main() -> None:
    """Run trials here; print their number and the bad ones."""
    trials, option = int(sys.argv[1]), sys.argv[2]
    naive = option == "--naive"
    tally = Tally("trials", control=naive)
    shim = Shim() if SHIM in os.environ else None
    scenarios = [scenario for scenario in SCENARIOS if scenario.name != "repair"]
    share = -(-trials // len(scenarios))
    with small_steps(grace=0.0), tempfile.TemporaryDirectory() as place:
        for scenario in chosen(scenarios, "" if naive else option):
            number = scenarios.index(scenario)
            stage = _set_stage(open_world(scenario, Path(place) / str(number)), shim, naive=naive)
            chance = random.Random(number)
            for _ in range(share):
                if not tally.decided:
                    _try(stage, chance, shim, tally, naive=naive)
            tally.show_progress(f"{scenario.name} is done, {len(stage.seen)} different states")
            if tally.decided:
                break
    print(tally.cases)
    for line in tally.bad:
        print(line.replace("\n", " "))


def _set_stage(world: World, shim: Shim | None, *, naive: bool) -> Stage:
    own = Repo(world.repo.path.parent / "own")
    shutil.copytree(world.repo.path, own.path, symlinks=True)
    base = read_base(own)
    counter = (NaiveSaboteur if naive else Saboteur)(Fault("none", 0))
    real, fsio.disk = fsio.disk, counter
    if shim is not None:
        shim.arm(Fault("error", 0))
    try:
        world.scenario.act(own)
    finally:
        fsio.disk = real
    below = shim.count() if shim is not None else (0, 0)
    return Stage(world, own, base, counter.calls, counter.writes, *below, set(), set())


def _try(stage: Stage, chance: random.Random, shim: Shim | None, tally: Tally, *, naive: bool) -> None:
    """One trial: one fault, or two in a row."""
    faults = [_choose_any(stage, chance, shim, naive=naive) for _ in range(2 if chance.random() < 0.3 else 1)]
    if len(faults) == 1 and not naive and faults[0] in stage.tried:
        return
    stage.tried.update(faults[:1] if len(faults) == 1 else [])
    put_state(stage.own, stage.base)
    acknowledged = stage.world.acknowledged
    told, bad = [], []
    for below, fault in faults:
        code, words = run_copy(lambda fault=fault, below=below: _act(stage, fault, shim if below else None, naive))  # type: ignore[misc]
        told.append(f"{'shim' if below else 'seam'}: {fault}")
        if code == UNCLEAN and not (fault.kind == "memory" and MISTAKEN.fullmatch(words)):
            bad.append(words)
        if code == DONE and stage.world.scenario.acknowledges:
            acknowledged = (*acknowledged, stage.own.oid("HEAD^{tree}"))
    state = hash((acknowledged, digest(read_base(stage.own)), trusted_segments(stage.own)))
    if state not in stage.seen:
        stage.seen.add(state)
        bad += look_after(stage.world._replace(acknowledged=acknowledged), stage.own)
    tally.note(f"{stage.world.scenario.name}, {', then '.join(told)}", bad)


def _choose_any(stage: Stage, chance: random.Random, shim: Shim | None, *, naive: bool) -> tuple[bool, Fault]:
    """Choose a fault, and whether it happens below Python."""
    below = shim is not None and not naive and chance.random() < 0.6
    return below, _choose_deadly(stage, chance) if naive else _choose(stage, chance, below=below)


def _choose_deadly(stage: Stage, chance: random.Random) -> Fault:
    """A kill at one of the last writes, that of the manifest among them."""
    return Fault(chance.choice(("kill", "torn")), chance.choice(stage.writes[-4:] or [1]))


def _choose(stage: Stage, chance: random.Random, *, below: bool) -> Fault:
    kind = chance.choice([*KINDS, *KINDS_BELOW] if below else KINDS)
    if kind == "read":
        error = chance.choice((errno.EIO, errno.ENOMEM, errno.EMFILE))
        return Fault(kind, chance.randint(1, max(1, stage.reads_below)), error)
    if kind == "memory":  # so many allocations of Python itself in a row
        return Fault(kind, int(10 ** chance.uniform(1, 6)), chance.choice((1, 1, 3, 50)))
    if kind == "files":
        return Fault(kind, chance.randint(3, 24))
    calls = stage.changes_below if below else stage.changes
    return Fault(kind, chance.randint(1, calls), chance.choice(ERRORS) if kind.startswith("error") else 0)


def _act(stage: Stage, fault: Fault, shim: Shim | None, naive: bool) -> None:
    """Do what the scenario does, with a fault, in a process of its own."""
    harmless = Fault("none", 0)
    fsio.disk = (NaiveSaboteur if naive else Saboteur)(harmless if shim is not None else fault)
    if fault.kind == "files":
        resource.setrlimit(resource.RLIMIT_NOFILE, (fault.number, fault.number))
    elif fault.kind == "memory":
        import_module("_testcapi").set_nomemory(fault.number, fault.number + fault.error)
    elif shim is not None:
        shim.arm(fault)
    stage.world.scenario.act(stage.own)


def run_copy(act: Callable[[], object]) -> tuple[int, str]:
    """Do something in a copy of this process; how it ended (negative: a signal), and the words of an unclean error."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        code = UNCLEAN
        try:
            act()
            code = DONE
        except (GitmemError, MemoryError):  # the command line says so in a line of its own
            code = REFUSED
        except SystemError:  # what Python itself now and then makes of an allocation that failed
            code = REFUSED
        except BaseException as problem:
            os.write(write_end, f"{type(problem).__name__}: {problem}".encode()[:4000])
        finally:
            while True:  # where memory is still refused here, this copy would go on as its parent and tidy up for it
                try:
                    os._exit(code)
                except BaseException:
                    continue
    os.close(write_end)
    with os.fdopen(read_end, "rb") as words:
        told = words.read().decode("utf-8", "replace")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), told


if __name__ == "__main__":
    main()
