"""Publications to several servers, of which some are killed at each statement.

The head is one of two commits, whole, as in `org_publish`, and the next publication needs no help. What a server has
committed for a publication that failed is invisible, and the removal of unused blobs removes it, too.

Statements are those that the publisher sends to the first server, or those that the first server sends to the other
one. The others commit before the first one does, so only the latter come between these two.
"""

import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple
from unittest import mock

from gitmem.org import head_publication
from gitmem.org.connection import open_database
from gitmem.org.partitions import LostContents, divide_among, find_lost
from tests.faults.org_publish import committing_twice, measure, spread
from tests.faults.org_worlds import DATABASE, World, make_world
from tests.faults.report import Tally
from tests.org.clusters import Cluster, running
from tests.org.loopback_proxy import Fault, Proxy

_LINES: Final = 300
_MOST_SECONDS: Final = 60.0


class Scenario(NamedTuple):
    """Servers that are killed, and whether at the statements between the servers instead of those of the publisher."""

    name: str
    kills_first: bool
    kills_other: bool
    between: bool = False


SCENARIOS: Final = (
    Scenario("other", kills_first=False, kills_other=True),
    Scenario("first", kills_first=True, kills_other=False),
    Scenario("both", kills_first=True, kills_other=True),
    Scenario("other-between", kills_first=False, kills_other=True, between=True),
    Scenario("first-between", kills_first=True, kills_other=False, between=True),
    Scenario("both-between", kills_first=True, kills_other=True, between=True),
)
_OTHER, _FIRST, _FIRST_BETWEEN = SCENARIOS[0], SCENARIOS[1], SCENARIOS[4]


class Shared(NamedTuple):
    """World whose contents lie on another server, which the first one reaches through a proxy."""

    world: World
    share: Cluster
    link: Proxy


def run(*, long: bool, only: str = "") -> Tally:
    """All statements, before and after them, or some of them."""
    tally = Tally("publications to servers that are killed")
    with _shared(_LINES if long else 2) as shared:
        for scenario in SCENARIOS:
            if only not in {"", scenario.name}:
                continue
            statements = range(1, _count(shared, scenario) + 1)
            for number in statements if long else spread(statements):
                for after in (False, True) if long else (number % 2 == 0,):
                    _kill(shared, tally, scenario, number, after=after)
    return tally


def run_control() -> Tally:
    """A server that loses what it has committed, and publishers that lack a precaution: each must be noticed."""
    tally = Tally("a server or a publisher without a precaution", control=True)
    controls: dict[str, Callable[[Tally], None]] = {
        "a server that loses contents": _lose_contents,
        "a publisher that commits twice": _commit_twice,
        "a removal that overlooks what a publication has left": _overlook,
    }
    for name, control in controls.items():
        own = Tally(name, control=True)
        control(own)
        tally.note(name, own.bad)
        tally.missed += [] if own.bad else [name]
    return tally


def _lose_contents(tally: Tally) -> None:
    with _shared() as shared:
        target = shared.world.other
        acknowledged = shared.world.try_publish(shared.world.cluster.dsn(DATABASE), target)
        with shared.share.connect() as database:
            database.execute("DELETE FROM gitmem_shard.signatures")
        tally.note("lost sign bits", _faults(shared, acknowledged=acknowledged, target=target))


def _commit_twice(tally: Tally) -> None:
    with _shared() as shared, committing_twice():
        # The head is written near the end.
        for number in range(_count(shared, _FIRST), 0, -1):
            _kill(shared, tally, _FIRST, number, after=True)
            if tally.decided:
                return


def _overlook(tally: Tally) -> None:
    """A first server that is killed after the other one has committed leaves rows there."""
    with _shared() as shared, mock.patch.object(head_publication, "find_lost", return_value=LostContents([], [])):
        for number in range(_count(shared, _FIRST_BETWEEN), 0, -1):
            _kill(shared, tally, _FIRST_BETWEEN, number, after=True)
            if tally.decided:
                return


def _count(shared: Shared, scenario: Scenario) -> int:
    """Return the number of statements of an undisturbed publication, the smaller one of both commits."""
    if not scenario.between:
        return measure(shared.world).statements
    counts = []
    for _ in range(2):
        shared.link.set_fault(None)
        shared.world.publish(shared.world.cluster.dsn(DATABASE), shared.world.other)
        shared.world.current = shared.world.other
        counts.append(shared.link.statements)
    return min(counts)


def _kill(shared: Shared, tally: Tally, scenario: Scenario, number: int, *, after: bool) -> None:
    """Kill servers before a statement, or after it and before its sender knows the result."""
    world, target = shared.world, shared.world.other
    killed = [world.cluster] * scenario.kills_first + [shared.share] * scenario.kills_other

    is_done = threading.Event()

    def kill() -> None:
        for server in killed:
            server.kill()
        is_done.set()

    fault = Fault(kill, statement=number, after=after, ends=scenario.between or scenario.kills_first)
    if scenario.between:
        shared.link.set_fault(fault)
        acknowledged = world.try_publish(world.cluster.dsn(DATABASE), target)
        # The publisher learns of the death of one server before the last process of all of them is gone.
        if not is_done.wait(_MOST_SECONDS):
            raise AssertionError(f"statement {number} never came")
        shared.link.set_fault(None)
    else:
        with Proxy(world.cluster.port, fault) as proxy:
            acknowledged = world.try_publish(proxy.dsn(DATABASE), target)
    for server in (shared.share, world.cluster):
        if not server.is_running:
            server.start()
    faults = _faults(shared, acknowledged=acknowledged, target=target)
    tally.note(f"{scenario.name}: killed {'after' if after else 'before'} statement {number}", faults)


def _faults(shared: Shared, *, acknowledged: bool, target: str) -> list[str]:
    dsn = shared.world.cluster.dsn(DATABASE)
    faults = shared.world.faults(dsn, acknowledged=acknowledged, target=target)
    with open_database(dsn) as database:
        lost = find_lost(database)
    return faults + ([f"rows that nobody has: {lost}"] if lost != ([], []) else [])


@contextmanager
def _shared(lines: int = 2) -> Iterator[Shared]:
    with running() as cluster, running() as share, tempfile.TemporaryDirectory() as folder, Proxy(share.port) as link:
        world = make_world(cluster, Path(folder), lines)
        with open_database(cluster.dsn(DATABASE)) as database:
            divide_among(database, [link.dsn("postgres")])
        yield Shared(world, share, link)
