"""Publications to several servers, of which one is killed at each statement.

The head is one of two commits, whole, as in `org_publish`, and the next publication needs no help. What a server has
committed for a publication that failed is invisible, and the removal of unused blobs removes it, too.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.org.connection import open_database
from gitmem.org.partitions import divide_among, find_lost
from tests.faults.org_publish import measure, spread
from tests.faults.org_worlds import DATABASE, World, make_world
from tests.faults.report import Tally
from tests.org.clusters import Cluster, running
from tests.org.loopback_proxy import Fault, Proxy

_LINES: Final = 300


class Shared(NamedTuple):
    """World whose contents lie on another server."""

    world: World
    share: Cluster


def run(*, long: bool) -> Tally:
    """All statements, before and after them, or some of them."""
    tally = Tally("publications to a server that is killed")
    with _shared(_LINES if long else 2) as shared:
        statements = range(1, measure(shared.world).statements + 1)
        for number in statements if long else spread(statements):
            for after in (False, True) if long else (number % 2 == 0,):
                _kill(shared, tally, number, after=after)
    return tally


def run_control() -> Tally:
    """A server that loses what it has committed."""
    tally = Tally("a server that loses contents", control=True)
    with _shared() as shared:
        target = shared.world.other
        acknowledged = shared.world.try_publish(shared.world.cluster.dsn(DATABASE), target)
        with shared.share.connect() as database:
            database.execute("DELETE FROM gitmem_shard.signatures")
        tally.note("lost sign bits", _faults(shared, acknowledged=acknowledged, target=target))
    return tally


def _kill(shared: Shared, tally: Tally, number: int, *, after: bool) -> None:
    """Kill the other server before a statement, or after it and before the client knows its result."""
    world, target = shared.world, shared.world.other
    with Proxy(world.cluster.port, Fault(shared.share.kill, statement=number, after=after, ends=False)) as proxy:
        acknowledged = world.try_publish(proxy.dsn(DATABASE), target)
    if not shared.share.is_running:
        shared.share.start()
    faults = _faults(shared, acknowledged=acknowledged, target=target)
    tally.note(f"killed {'after' if after else 'before'} statement {number}", faults)


def _faults(shared: Shared, *, acknowledged: bool, target: str) -> list[str]:
    dsn = shared.world.cluster.dsn(DATABASE)
    faults = shared.world.faults(dsn, acknowledged=acknowledged, target=target)
    with open_database(dsn) as database:
        lost = find_lost(database)
    return faults + ([f"rows that nobody has: {lost}"] if lost != ([], []) else [])


@contextmanager
def _shared(lines: int = 2) -> Iterator[Shared]:
    with running() as cluster, running() as share, tempfile.TemporaryDirectory() as folder:
        world = make_world(cluster, Path(folder), lines)
        with open_database(cluster.dsn(DATABASE)) as database:
            divide_among(database, [share.dsn("postgres")])
        yield Shared(world, share)
