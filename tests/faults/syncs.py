"""Each single sync of a run, left out alone: a power cut must be able to show that it was needed.

What tells is `power`: the calls are recorded once, one of them is taken out, and the states that a power cut may leave
from there on are looked at. A sync is not missed where nothing was waiting to be made durable, or where a later one of
the same file or folder makes up for it before anything counts on it; any other that is not missed is useless.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from gitmem.freshness.refresh import refresh
from tests.faults.disk_states import State
from tests.faults.power import (
    File,
    Machine,
    Operation,
    Recording,
    breaks_a_promise,
    iter_states,
    recordings,
    zeros,
)
from tests.faults.report import Tally
from tests.faults.worlds import SCENARIOS, Scenario, chosen
from tests.gitrepo import Repo
from tests.indexes import index, workspace_of

CAUGHT: Final = "caught"
IDLE: Final = "nothing was waiting"
COVERED: Final = "covered by a later one"
USELESS: Final = "missed by nobody"

NOTHING: Final = Operation("nothing")


def run(*, long: bool, only: str = "") -> Tally:
    """Each sync of every scenario, or some of the first two."""
    tally, told = Tally("syncs left out, one at a time"), Counter[str]()
    for made in recordings(map(followed, chosen(SCENARIOS if long else SCENARIOS[:2], only)), long=False):
        if not made.killed:
            _judge_all(made, tally, told, step=1 if long else 12)
            tally.show_progress(f"{made.world.scenario.name} is done: {dict(told)}")
    tally.name += f" ({', '.join(f'{count} {verdict}' for verdict, count in told.most_common())})"
    return tally


def followed(scenario: Scenario) -> Scenario:
    """A question promises nothing; what it leaves counts once a run names it, so runs follow."""
    if scenario.command[0] != "query":
        return scenario
    name = scenario.command[2] if scenario.command[1] == "--rev" else "HEAD"

    def act(repo: Repo) -> None:
        scenario.act(repo)
        refresh(workspace_of(repo), repo.oid(f"{name}^{{tree}}"))
        index(repo)

    return scenario._replace(act=act, command=("index",))


def run_control() -> Tally:
    """A writer that syncs a file which nobody reads."""
    tally = Tally("a sync for nothing", control=True)
    for made in recordings(SCENARIOS[:1], long=False):
        if not made.killed:
            name, inode = ".gitmem/state/idle", len(made.log)
            useless = [
                Operation("create", name, inode=inode),
                Operation("write", name, inode=inode, data=b"idle"),
                Operation("sync", name, inode=inode),
            ]
            made = replace(made, log=[*made.log, *useless])
            last = len(made.log) - 1
            tally.note(made.log[last].label, [USELESS] if judge(made, last) == USELESS else [])
    return tally


def _judge_all(made: Recording, tally: Tally, told: Counter[str], *, step: int) -> None:
    """The last sync of a recording and every so many before it."""
    places = [place for place, call in enumerate(made.log) if call.kind.startswith("sync")]
    for place in places[::-step]:
        verdict = judge(made, place)
        told[verdict] += 1
        case = f"{made.world.scenario.name}, call {place + 1} of {len(made.log)}, {made.log[place].label}"
        tally.note(case, [verdict] if verdict == USELESS else [])


def judge(made: Recording, place: int) -> str:
    """What becomes of a recording without one sync."""
    call = made.log[place]
    if not _is_waiting(made, place):
        return IDLE
    later = next((at for at in range(place + 1, len(made.log)) if _is_same(made.log[at], call)), None)
    log = [*made.log[:place], NOTHING, *made.log[place + 1 :]]
    if _is_noticed(replace(made, log=log), call.inode, place + 1, len(log) if later is None else later):
        return CAUGHT
    return USELESS if later is None else COVERED


def _is_waiting(made: Recording, place: int) -> bool:
    """Whether the call had anything to make durable."""
    machine = Machine(made.base)
    for call in made.log[:place]:
        machine.play(call)
    return machine.is_waiting(made.log[place])


def _is_same(call: Operation, other: Operation) -> bool:
    """Whether both make the same file or folder durable."""
    if call.kind != other.kind:
        return False
    return call.inode == other.inode if call.kind == "sync" else call.path == other.path


def _is_noticed(broken: Recording, inode: int, first: int, last: int) -> bool:
    """Whether a power cut after one of these calls breaks a promise: any cut, or one that costs only a file's bytes."""
    states = [*iter_states(broken, random.Random(1), 2), *_states_without(broken, inode)]
    return breaks_a_promise(broken, (state for state in states if first <= state[0] <= last))


def _states_without(broken: Recording, inode: int) -> Iterator[tuple[int, State]]:
    """After each call the state in which all came to be but the bytes of one file that no sync has made durable."""
    machine = Machine(broken.base)
    for calls, call in enumerate(broken.log, 1):
        machine.play(call)
        if (file := machine.file(inode)) is not None:
            yield calls, machine.state(lambda: True, lose(file))


def lose(lost: File) -> Callable[[File], bytes]:
    """All bytes of every file, but zeros for those of one that are not durable."""
    return lambda file: zeros(file) if file is lost else file.written
