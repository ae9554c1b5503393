"""Servers that fail while a replica follows them: the replica becomes the server that publishers use.

A replica that is behind has an older head, whole; the next publication needs no help. A publication that was
acknowledged is lost only if the server was allowed to answer before the replica had it. A synchronous replica has all.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.org.connection import open_database
from tests.faults.org_worlds import DATABASE, NAME, World, make_world
from tests.faults.report import Tally
from tests.org.clusters import Cluster, cluster_folder, running

SHORT: Final = 1
LONG: Final = 20


class Pair(NamedTuple):
    """Repository on a server, and the replica of that server."""

    world: World
    replica: Cluster


def run(*, long: bool) -> Tally:
    """Fail over to a replica that is behind, and to a synchronous one."""
    tally = Tally("servers that fail before a replica")
    for number in range(LONG if long else SHORT):
        _fail_behind(tally, number)
        _fail_synchronous(tally, number)
    return tally


def run_control() -> Tally:
    """The replica that is behind, as if it had to have all that was acknowledged."""
    tally = Tally("a replica that is behind, taken for a synchronous one", control=True)
    with replicated() as pair:
        target = _publish_unseen(pair)
        _promote(pair)
        tally.note("an acknowledged publication", _faults(pair, acknowledged=True, target=target))
    return tally


def _fail_behind(tally: Tally, number: int) -> None:
    with replicated() as pair:
        target = _publish_unseen(pair)
        faults = [] if _commit(pair.replica) == pair.world.current else ["the replica is not behind"]
        if pair.world.try_publish(pair.replica.dsn(DATABASE), target):
            faults.append("a replica takes a publication")
        _promote(pair)
        tally.note(f"a replica that is behind, {number}", faults + _faults(pair, acknowledged=False, target=target))


def _fail_synchronous(tally: Tally, number: int) -> None:
    with replicated() as pair:
        with pair.world.cluster.connect() as database:
            database.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            database.execute("SELECT pg_reload_conf()")
        target = pair.world.other
        acknowledged = pair.world.try_publish(pair.world.cluster.dsn(DATABASE), target)
        _promote(pair)
        faults = [] if acknowledged else ["a publication with a synchronous replica fails"]
        tally.note(f"a synchronous replica, {number}", faults + _faults(pair, acknowledged=True, target=target))


@contextmanager
def replicated() -> Iterator[Pair]:
    """Run a server with a published repository, and a replica of it."""
    settings = {
        "wal_level": "replica",
        "max_wal_senders": "4",
        "hot_standby": "on",
        "wal_retrieve_retry_interval": "100ms",
    }
    with (
        running(settings) as server,
        tempfile.TemporaryDirectory() as folder,
        cluster_folder() as place,
    ):
        world = make_world(server, Path(folder))
        replica = Cluster(place, settings).copy_from(server)
        replica.start()
        try:
            _await_replica(server)
            yield Pair(world, replica)
        finally:
            replica.kill()


def _await_replica(server: Cluster) -> None:
    """Wait until the replica streams and has applied all."""
    with server.connect() as database:
        while True:
            row = database.execute(
                "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"
                " AND replay_lsn >= pg_current_wal_lsn()"
            ).fetchone()
            if row[0]:
                return
            database.execute("SELECT pg_sleep(0.02)")


def _publish_unseen(pair: Pair) -> str:
    """Publish what the replica does not receive, as if the network between both were cut."""
    target = pair.world.other
    with pair.replica.connect() as database:
        database.execute("ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 port=1'")
        database.execute("SELECT pg_reload_conf()")
    with pair.world.cluster.connect() as database:
        while database.execute("SELECT count(*) FROM pg_stat_replication").fetchone()[0]:
            database.execute("SELECT pg_sleep(0.02)")
    assert pair.world.try_publish(pair.world.cluster.dsn(DATABASE), target), pair.world.problem
    return target


def _promote(pair: Pair) -> None:
    """Kill the server, and let the replica take its place."""
    pair.world.cluster.kill()
    with pair.replica.connect() as database:
        database.execute("SELECT pg_promote()")
        database.execute("ALTER SYSTEM RESET synchronous_standby_names")
        database.execute("SELECT pg_reload_conf()")


def _faults(pair: Pair, *, acknowledged: bool, target: str) -> list[str]:
    return pair.world.faults(pair.replica.dsn(DATABASE), acknowledged=acknowledged, target=target)


def _commit(cluster: Cluster) -> str:
    """Return the commit that a query of this server searches."""
    with open_database(cluster.dsn(DATABASE)) as database:
        rows = database.execute("SELECT (head).commit FROM gitmem.visible_heads(ARRAY[%s])", (NAME,)).fetchall()
    return str(rows[0][0])
