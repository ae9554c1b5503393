"""State of the server in the text format of Prometheus, version 0.0.4."""

from collections.abc import Iterator
from typing import Final

from gitmem.display import visible
from gitmem.org.database_health import DatabaseHealth

_GAUGES: Final = {
    "schema": ("schema_version", "Version of the schema."),
    "repositories": ("repositories", "Repositories that the role may read."),
    "heads": ("heads", "Published revisions."),
    "chunks": ("chunks", "Chunks of all published revisions."),
    "blobs": ("blobs", "Stored blobs."),
    "unused": ("unused_blobs", "Stored blobs that no revision has."),
    "database_bytes": ("database_bytes", "Size of the database."),
    "is_replica": ("replica", "1 if the server is a replica."),
    "lag_seconds": ("replay_lag_seconds", "Time that this replica is behind."),
    "connections": ("connections", "Connections of clients."),
    "max_connections": ("max_connections", "Limit of connections."),
    "publishers": ("publishers", "Publications at work."),
    "last_published": ("last_published_timestamp_seconds", "Time of the last publication."),
    "published_seconds": ("since_publication_seconds", "Time since the last publication by the server's clock."),
}
"""Names and meanings of gauges by the field."""


def health_text(health: DatabaseHealth) -> str:
    """Return all gauges."""
    return "\n".join([*_gauge("up", "1 if the server answers.", 1), *_lines(health)]) + "\n"


def down_text() -> str:
    """Return the one gauge of a server that does not answer."""
    return "\n".join(_gauge("up", "1 if the server answers.", 0)) + "\n"


def _lines(health: DatabaseHealth) -> Iterator[str]:
    values = health.values()
    for field, (name, meaning) in _GAUGES.items():
        if values[field] is not None:
            yield from _gauge(name, meaning, values[field])
    for name, meaning, sizes in (
        ("table_bytes", "Size of a table with its indexes.", health.status.bytes),
        ("table_rows", "Estimated rows of a table.", health.rows),
    ):
        yield from _heading(name, meaning)
        yield from (f'gitmem_org_{name}{{table="{table}"}} {value}' for table, value in sizes.items())
    yield from _heading("replica_lag_bytes", "Bytes of the log that a replica has not applied.")
    for number, replica in enumerate(health.replicas):
        label = visible(replica.name).replace("\\", "\\\\").replace('"', '\\"')
        yield f'gitmem_org_replica_lag_bytes{{replica="{label}",number="{number}"}} {replica.lag_bytes or 0}'
    yield from _gauge("problems", "Problems that `gitmem org status` names.", len(health.problems))


def _heading(name: str, meaning: str) -> list[str]:
    return [f"# HELP gitmem_org_{name} {meaning}", f"# TYPE gitmem_org_{name} gauge"]


def _gauge(name: str, meaning: str, value: float) -> list[str]:
    # A time has more digits than the shortest form of a float would show.
    number = f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(int(value))
    return [*_heading(name, meaning), f"gitmem_org_{name} {number}"]
