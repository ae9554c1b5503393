"""Publications that lose the server or the connection, or meet another publisher, at each statement.

In every case the head is one of two commits, whole; a publication that was acknowledged stays; and the next one needs
no help. Killing the server stands for a crash of its machine as far as the processes go; PostgreSQL's own promise is
that a commit survives a power cut.
"""

import random
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple
from unittest import mock

from gitmem.org import head_publication
from tests.faults.org_worlds import DATABASE, World, world_of_faults
from tests.faults.report import Tally
from tests.org.loopback_proxy import Fault, Proxy

SHORT_CASES: Final = 3
"""Cases of each kind in the short form, spread over a publication."""

LONG_CUTS: Final = 100
_LINES: Final = 300
"""Functions of a file, so that a copy has many messages."""

_STEP_SECONDS: Final = 1.0
"""Time that a second publisher gets until the first one goes on; it may wait for a lock of the first one."""


class Course(NamedTuple):
    """Numbers of statements and of copied bytes of one undisturbed publication."""

    statements: int
    copied: int


def run(*, long: bool) -> Tally:
    """All statements, or some of each kind."""
    tally = Tally("publications with faults")
    with world_of_faults(_LINES if long else 2) as world:
        _try_all(world, tally, measure(world), long=long)
    return tally


def run_control() -> Tally:
    """The same with a publisher that commits its head before the paths."""
    tally = Tally("publications that commit twice", control=True)
    with world_of_faults() as world, committing_twice():
        course = measure(world)
        # The head is written near the end.
        for number in range(course.statements, 0, -1):
            _kill(world, tally, number, after=True)
            if tally.decided:
                break
    return tally


def measure(world: World) -> Course:
    """Publish each commit once without a fault; return the smaller numbers."""
    courses = []
    for _ in range(2):
        with Proxy(world.cluster.port) as proxy:
            world.publish(proxy.dsn(DATABASE), world.other)
        world.current = world.other
        courses.append(Course(proxy.statements, proxy.copied))
    return Course(*map(min, *courses))


def _try_all(world: World, tally: Tally, course: Course, *, long: bool) -> None:
    statements = range(1, course.statements + 1)
    chance = random.Random(5)
    for number in statements if long else spread(statements):
        for after in (False, True):
            _kill(world, tally, number, after=after)
    cuts = [chance.randrange(course.copied) for _ in range(LONG_CUTS)] if long else spread(range(course.copied))
    for copied in cuts:
        _cut(world, tally, copied)
    for number in statements if long else spread(statements)[1:]:
        _meet(world, tally, number)
    _turn_back_clock(world, tally)


def spread(numbers: Sequence[int]) -> list[int]:
    """Return some numbers from the first half, the middle and near the end."""
    return [numbers[len(numbers) * (2 * part + 1) // (2 * SHORT_CASES)] for part in range(SHORT_CASES)]


def _kill(world: World, tally: Tally, number: int, *, after: bool) -> None:
    """Kill the server before a statement, or after it and before the client knows."""
    target = world.other
    with Proxy(world.cluster.port, Fault(world.cluster.kill, statement=number, after=after)) as proxy:
        acknowledged = world.try_publish(proxy.dsn(DATABASE), target)
    if not world.cluster.is_running:
        world.cluster.start()
    faults = world.faults(world.cluster.dsn(DATABASE), acknowledged=acknowledged, target=target)
    tally.note(f"killed {'after' if after else 'before'} statement {number}", faults)


def _cut(world: World, tally: Tally, copied: int) -> None:
    """Cut the connection while a copy is under way."""
    target = world.other
    with Proxy(world.cluster.port, Fault(lambda: None, copied=copied)) as proxy:
        acknowledged = world.try_publish(proxy.dsn(DATABASE), target)
    faults = ["a cut was not noticed"] if acknowledged else []
    faults += world.faults(world.cluster.dsn(DATABASE), acknowledged=acknowledged, target=target)
    tally.note(f"cut after {copied:,} bytes", faults)


def _meet(world: World, tally: Tally, number: int) -> None:
    """Let another publisher publish another commit between two statements of the first one."""
    target, present = world.other, world.current
    results: dict[str, bool] = {}

    def publish_other() -> None:
        results["second"] = world.try_publish(world.cluster.dsn(DATABASE), present)

    second = threading.Thread(target=publish_other)

    def let_go_first() -> None:
        second.start()
        second.join(_STEP_SECONDS)

    with Proxy(world.cluster.port, Fault(let_go_first, statement=number, ends=False)) as proxy:
        results["first"] = world.try_publish(proxy.dsn(DATABASE), target)
    if not second.ident:
        second.start()
    second.join()
    faults = [f"the {name} publisher failed: {world.problem}" for name, passed in results.items() if not passed]
    # Either may be the later one.
    faults += world.faults(world.cluster.dsn(DATABASE), acknowledged=False, target=target)
    tally.note(f"two publishers, the second one before statement {number}", faults)


def _turn_back_clock(world: World, tally: Tally) -> None:
    """Publish after the clock of the server was two days ahead. That of the client is part of nothing."""
    target = world.other
    with world.cluster.connect(DATABASE) as database:
        database.execute("UPDATE gitmem.heads SET published = now() + interval '2 days'")
    acknowledged = world.try_publish(world.cluster.dsn(DATABASE), target)
    faults = [] if acknowledged else ["a publication after a clock was set back fails"]
    faults += world.faults(world.cluster.dsn(DATABASE), acknowledged=acknowledged, target=target)
    tally.note("a clock that was set back", faults)


@contextmanager
def committing_twice() -> Iterator[None]:
    """Make publishers commit the row of a head before its entries."""
    enter_head = head_publication.enter_head

    def enter_and_commit(database: Any, *args: Any, **options: Any) -> tuple[int, bool]:
        result = enter_head(database, *args, **options)
        database.commit()
        return result

    with mock.patch.object(head_publication, "enter_head", enter_and_commit):
        yield
