"""SIGKILL at every system call that changes something, by strace; one run of the program for each call.

strace counts the calls of the main process, which alone writes files. `--seccomp-bpf` must never be added: with it
strace lets every injection go by unseen and each run passes.
"""

import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from tests.faults.oracle import Ledger, find_faults, find_lies, find_unfinished_faults, read_ledger, small_steps
from tests.faults.report import Tally
from tests.faults.worlds import SCENARIOS, Scenario, chosen, make
from tests.gitrepo import Repo, isolated_environment
from tests.indexes import index, search, workspace_of

CALLS: Final = (
    "write,writev,pwrite64,fsync,fdatasync,rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,"
    "mkdir,mkdirat,rmdir,ftruncate,truncate,utimensat,chmod,fchmod,fchmodat,flock"
)
ROOT: Final = Path(__file__).resolve().parents[2]


class World(NamedTuple):
    """A scenario's repository, to be copied for each run, and what a right index says of its blobs."""

    scenario: Scenario
    repo: Repo
    ledger: Ledger
    acknowledged: tuple[str, ...]


class Point(NamedTuple):
    """A moment in a run: the n-th time that it makes one system call (strace counts each apart)."""

    call: str
    number: int

    def __str__(self) -> str:
        return f"{self.call} {self.number}"


def is_available() -> bool:
    """Whether strace is there and may trace."""
    trial = ["strace", "-o", "/dev/null", "true"]
    return shutil.which("strace") is not None and subprocess.run(trial, capture_output=True).returncode == 0


def open_world(scenario: Scenario, folder: Path) -> World:
    """Make a scenario and its ledger."""
    repo = make(scenario, folder / "repo")
    ledger = read_ledger(repo, folder / "scratch")
    return World(scenario, repo, ledger, tuple(repo.oid(f"{rev}^{{tree}}") for rev in scenario.acknowledged))


def find_points(world: World, folder: Path) -> list[Point]:
    """The calls of the scenario's command that change something, in order."""
    log = folder / "calls"
    done = trace(copy_world(world, folder), world.scenario, ["-e", f"trace={CALLS}", "-o", str(log)])
    assert done.returncode == 0, done.stderr
    made: Counter[str] = Counter()
    points = []
    for line in log.read_text("utf-8", "replace").splitlines():
        name, bracket, _ = line.partition("(")
        if bracket and name.isidentifier():
            made[name] += 1
            points.append(Point(name, made[name]))
    return points


def kill_at(world: World, point: Point, folder: Path, *, naive: bool = False) -> tuple[bool, list[str]]:
    """Kill the command at one call; whether it was killed, and what is wrong afterwards."""
    repo = copy_world(world, folder)
    inject = ["-e", f"inject={point.call}:signal=KILL:when={point.number}", "-o", "/dev/null"]
    done = trace(repo, world.scenario, inject, naive=naive)
    return done.returncode < 0, look_after(world, repo)


def look_after(world: World, repo: Repo) -> list[str]:
    """What is wrong with an index that was left behind, with the next run, and with the index after it."""
    bad = []
    try:
        workspace = workspace_of(repo)
        damaged = world.scenario.name == "repair"
        bad += find_unfinished_faults(workspace.paths)
        bad += [] if damaged else find_faults(workspace.paths) + find_lies(workspace, world.ledger, *world.acknowledged)
        hidden = "/.gitmem/" in read_exclude(repo)
        bad += ["info/exclude does not name the index"] if world.acknowledged and not hidden else []
        # An ordinary run reads only what it needs. A damaged byte is found by a run that reads all of them: after a
        # repair that was killed comes another one.
        made = index(repo, workspace, check=damaged)
        bad += [f"the next run: {problem}" for problem in made.problems]
        tree = workspace.location.head_tree
        assert tree is not None
        bad += find_faults(workspace.paths) + find_lies(workspace, world.ledger, tree, *world.acknowledged)
        bad += [] if search(repo, "base load", workspace, refresh=False).hits else ["the next question finds nothing"]
        bad += [] if made.up_to_date else [f"left in the way: {path.name}" for path in find_leftovers(repo)]
        bad += [f"git sees {line}" for line in repo.git("status", "--porcelain").splitlines()]
        bad += [] if workspace.paths.ignore.read_bytes() == b"*\n" else ["the ignore file of the index is not whole"]
        lines = read_exclude(repo)
        bad += [f"lost from info/exclude: {line}" for line in read_exclude(world.repo) if line not in lines]
    except Exception as problem:
        bad.append(f"{type(problem).__name__}: {problem}")
    return bad


def read_exclude(repo: Repo) -> list[str]:
    """What the person keeps git from seeing."""
    return (repo.path / ".git" / "info" / "exclude").read_text().splitlines()


def find_leftovers(repo: Repo) -> list[Path]:
    """Unfinished files that a run after a crash should have swept."""
    index_folder = repo.path / ".gitmem"
    return [path for folder in (index_folder, index_folder / "segments") for path in folder.glob(".*.tmp")]


def copy_world(world: World, folder: Path) -> Repo:
    """Copy the repository of a world to the place of the last copy."""
    target = folder / "own"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(world.repo.path, target, symlinks=True)
    return Repo(target)


def trace(
    repo: Repo, scenario: Scenario, options: Sequence[str], *, naive: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run the command of a scenario under strace."""
    driver = [sys.executable, "-m", "tests.faults.driver", *(["--naive"] if naive else []), "-C", str(repo.path)]
    home = str(repo.path.parent / "home")
    _compile()
    environment = isolated_environment() | {"PYTHONPATH": str(ROOT), "HOME": home, "PYTHONDONTWRITEBYTECODE": "1"}
    environment = {name: value for name, value in environment.items() if not name.startswith(("XDG_", "GITMEM_"))}
    command = ["strace", *options, *driver, *scenario.command]
    return subprocess.run(command, cwd=repo.path, env=environment, capture_output=True, text=True)


@cache
def _compile() -> None:
    """Have Python's own files there: those that a first run writes, a second does not."""
    subprocess.run([sys.executable, "-m", "compileall", "-q", "gitmem", "tests/faults"], cwd=ROOT, check=True)


def choose(points: Sequence[Point], wanted: int) -> list[Point]:
    """Some points that are spread evenly over all."""
    return [points[round((place + 0.5) * len(points) / wanted)] for place in range(wanted)]


def run(*, long: bool, only: str = "") -> Tally:
    """Every call of every scenario, or one of every other one: an early one of the first, a late one of the last."""
    tally = Tally("kills at system calls")
    for turn, scenario in enumerate(chosen(SCENARIOS, only)):
        if not long and turn % 2:
            continue
        with tempfile.TemporaryDirectory() as place, small_steps(grace=0.0):
            world = open_world(scenario, Path(place))
            points = find_points(world, Path(place))
            for point in points if long else choose(points, len(SCENARIOS))[turn : turn + 1]:
                killed, bad = kill_at(world, point, Path(place))
                if not killed:
                    bad.append("the process was not killed")
                tally.note(f"{scenario.name}, at {point}", bad)
        tally.show_progress(f"{scenario.name} is done")
    return tally


def run_control() -> Tally:
    """The same with a writer that writes in place: some of these must be bad."""
    tally = Tally("kills of a writer in place", control=True)
    with tempfile.TemporaryDirectory() as place, small_steps(grace=0.0):
        world = open_world(SCENARIOS[1], Path(place))
        writes = [point for point in find_points(world, Path(place)) if point.call == "write"]
        for point in choose(writes, 6):
            tally.note(str(point), kill_at(world, point, Path(place), naive=True)[1])
            if tally.decided:
                break
    return tally
