"""State of the server for people and for monitoring: sizes, rows, last publication, connections and replication."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from gitmem.named_tuple import NamedTuple
from gitmem.org.published_repositories import DatabaseStatus, read_status
from gitmem.org.publisher_lock import BLOB_LOCK

if TYPE_CHECKING:
    from gitmem.org.connection import Database

LAG_SECONDS: Final = 60.0
"""Replicas that are further behind are a problem."""

_BUSY_SHARE: Final = 0.9

_SERVER: Final = """
SELECT pg_is_in_recovery(),
  CASE WHEN NOT pg_is_in_recovery() OR pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0
    ELSE extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) END::float8,
  (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
  current_setting('max_connections')::int,
  (SELECT extract(epoch FROM max((head).published))::float8 FROM gitmem.visible_heads()),
  extract(epoch FROM clock_timestamp())::float8,
  current_setting('fsync')::bool, pg_is_in_recovery() AND NOT EXISTS (SELECT FROM pg_stat_wal_receiver),
  pg_database_size(current_database()),
  (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 0 AND objid = %s AND mode = 'ShareLock')
"""
_REPLICAS: Final = """
SELECT application_name, state, sync_state, extract(epoch FROM replay_lag)::float8,
  pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::bigint FROM pg_stat_replication
WHERE state IS NOT NULL ORDER BY application_name, pid
"""
_ROWS: Final = """
SELECT relname, greatest(reltuples, 0)::bigint FROM pg_class
WHERE relnamespace = 'gitmem'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname
"""


class Replica(NamedTuple):
    """Replica that follows this server: how far it is behind, in seconds and in bytes."""

    name: str
    state: str
    sync_state: str
    lag_seconds: float | None
    lag_bytes: int | None


class DatabaseHealth(NamedTuple):
    """State of the server as far as the role may see it.

    `rows` are estimates of all tables, for roles that publish.
    `last_published` is a Unix time; `published_seconds` is its age by the clock of the server, 0 if that clock was set
    back. `publishers` are at work.
    A replica has `lag_seconds`; a server lists its `replicas`, for roles of `pg_monitor`. `problems` are in words.
    """

    status: DatabaseStatus
    rows: Mapping[str, int]
    database_bytes: int
    is_replica: bool
    lag_seconds: float
    replicas: list[Replica]
    connections: int
    max_connections: int
    publishers: int
    last_published: float | None
    published_seconds: float | None
    problems: list[str]

    def values(self) -> dict[str, Any]:
        """Return all fields by name, those of the status first."""
        fields = self._asdict()
        return {**fields.pop("status")._asdict(), **fields}


def read_health(database: "Database") -> DatabaseHealth:
    """Return the state of the server. Raises GitmemError if the schema is not that of this version."""
    status = read_status(database)
    row: Any = database.execute(_SERVER, (BLOB_LOCK,)).fetchone()
    is_replica, lag, connections, most, last, now, has_sync, is_cut_off, size, publishers = row
    replicas = [] if is_replica else [Replica(*each) for each in database.execute(_REPLICAS).fetchall()]  # type: ignore[arg-type]
    rows: Any = database.execute(_ROWS).fetchall() if status.bytes else []  # as their sizes, for roles that publish
    database.commit()
    health = DatabaseHealth(
        status=status, rows=dict(rows), database_bytes=size, is_replica=is_replica, lag_seconds=lag or 0.0,
        replicas=replicas, connections=connections, max_connections=most, publishers=publishers, last_published=last,
        published_seconds=None if last is None else max(0.0, now - last), problems=[],
    )  # fmt: skip
    return health._replace(problems=_find_problems(health, has_sync=has_sync, is_cut_off=is_cut_off))


def _find_problems(health: DatabaseHealth, *, has_sync: bool, is_cut_off: bool) -> list[str]:
    problems = [f"server {share.server}: {share.problem}" for share in health.status.shares if share.problem]
    if not has_sync:
        problems.append("fsync is off: a power cut can destroy the database")
    if is_cut_off:
        # All that it has received is applied, so it seems to be up to date.
        problems.append("this replica receives nothing from its server")
    if health.lag_seconds > LAG_SECONDS:
        problems.append(f"this replica is {health.lag_seconds:,.0f} s behind")
    for replica in health.replicas:
        if (replica.lag_seconds or 0) > LAG_SECONDS:
            problems.append(f"replica {replica.name} is {replica.lag_seconds:,.0f} s behind")
    if health.connections >= _BUSY_SHARE * health.max_connections:
        problems.append(f"{health.connections} of {health.max_connections} connections are in use")
    return problems
