"""SIGKILL at every system call that changes something while the past is indexed or collected, as in `kill`."""

import tempfile
from pathlib import Path

from gitmem.actions.verify import verify
from tests.faults.kill import World, choose, copy_world, find_points, trace
from tests.faults.oracle import find_faults, small_steps
from tests.faults.past_worlds import SCENARIOS, Life, lives_of
from tests.faults.report import Tally
from tests.faults.worlds import Scenario, chosen, make
from tests.gitrepo import Repo
from tests.indexes import workspace_of
from tests.past_histories import ask, symbols_of


def run(*, long: bool, only: str = "") -> Tally:
    """Every call of every scenario, or two of each."""
    tally = Tally("kills at system calls, in the past")
    for scenario in chosen(SCENARIOS, only):
        _kill(scenario, tally, 0 if long else 2)
        tally.show_progress(f"{scenario.name} is done")
    return tally


def run_control() -> Tally:
    """The same with a writer that writes in place: some of these must be bad."""
    tally = Tally("kills of a writer in place, in the past", control=True)
    _kill(SCENARIOS[1], tally, 12)
    return tally


def _kill(scenario: Scenario, tally: Tally, number: int) -> None:
    """Kill a scenario at some calls, or at all for 0; a control writes in place and ends with the first bad one."""
    with tempfile.TemporaryDirectory() as place, small_steps(grace=0.0):
        folder = Path(place)
        world = World(scenario, make(scenario, folder / "repo"), {}, ())
        before = lives_of(world.repo)
        after = copy_world(world, folder)
        scenario.act(after)
        expected = lives_of(after)
        points = find_points(world, folder)
        if tally.control:
            points = [point for point in points if point.call == "write"]
        for point in choose(points, number) if number else points:
            repo = copy_world(world, folder)
            inject = ["-e", f"inject={point.call}:signal=KILL:when={point.number}", "-o", "/dev/null"]
            done = trace(repo, scenario, inject, naive=tally.control)
            bad = [] if done.returncode < 0 else ["the process was not killed"]
            tally.note(f"{scenario.name}, at {point}", bad + _look_after(scenario, repo, before, expected))
            if tally.decided:
                return


def _look_after(scenario: Scenario, repo: Repo, before: set[Life], expected: set[Life]) -> list[str]:
    """Return what is wrong with an index that was left behind, with the next run, and with the index after it."""
    bad = []
    try:
        paths = workspace_of(repo).paths.past
        bad += find_faults(paths)
        bad += [] if lives_of(repo) in (before, expected) else ["other lives than before and after"]
        bad += [] if not before or "old_wing" in symbols_of(ask(repo, "handle old wing")) else ["no results"]
        scenario.act(repo)
        bad += [] if lives_of(repo) == expected else ["the next run has other lives"]
        bad += verify(workspace_of(repo)).findings.problems
        left = [path.name for folder in (paths.root, paths.segments) for path in folder.glob(".*.tmp")]
        bad += [f"left in the way: {name}" for name in left]
    except Exception as problem:
        bad.append(f"{type(problem).__name__}: {problem}")
    return bad
