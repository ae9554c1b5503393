"""`gitmem org status`: the state of a server."""

from collections.abc import Iterator

import click

from gitmem.cli.context import write_json
from gitmem.cli.org_options import dsn_option, org_settings, role_option
from gitmem.cli.style import print_line
from gitmem.cli.text_input import json_option
from gitmem.display import count, visible
from gitmem.errors import ExitCode
from gitmem.org.connection import open_database
from gitmem.org.database_health import DatabaseHealth, read_health


@click.command()
@dsn_option
@role_option
@json_option
@click.pass_context
def status(ctx: click.Context, dsn: str, role: str, as_json: bool) -> ExitCode:
    """Show the state of the server: versions, sizes, last publication, connections and replication.

    Everybody sees the numbers of the own repositories; roles that publish see those of the tables, and members
    of pg_monitor those of the replicas. Problems are named. For Prometheus: `gitmem metrics --org --prometheus`.

    \b
    Examples:
      gitmem org status
      gitmem org status --json
    """
    with open_database(dsn or org_settings(ctx).org, role) as database:
        state = read_health(database)
    if as_json:
        replicas = [replica._asdict() for replica in state.replicas]
        shares = [share._asdict() for share in state.status.shares]
        write_json({**state.values(), "replicas": replicas, "shares": shares, "healthy": not state.problems})
        return ExitCode.OK
    for line in _status_lines(state):
        print_line(line)
    return ExitCode.OK


def _status_lines(state: DatabaseHealth) -> Iterator[str]:
    own = state.status
    kind = f", a replica that is {state.lag_seconds:,.0f} s behind" if state.is_replica else ""
    yield f"schema      {own.schema}, PostgreSQL {own.server}{kind}"
    yield f"role        {visible(own.role)}"
    heads, chunks = count(own.heads, "revision"), count(own.chunks, "chunk")
    yield f"visible     {count(own.repositories, 'repository', 'repositories')}, {heads}, {chunks}"
    if own.blobs is not None:
        yield f"stored      {count(own.blobs, 'blob')}, {own.unused:,} unused, {sum(own.bytes.values()):,} bytes"
    if state.published_seconds is not None:
        yield f"published   {state.published_seconds:,.0f} s ago; {count(state.publishers, 'publisher')} at work"
    yield f"connections {state.connections} of {state.max_connections}"
    for share in state.status.shares:
        size = "no answer" if share.bytes is None else f"{share.bytes:,} bytes"
        yield f"server      {visible(share.server)}: {size}"
    for replica in state.replicas:
        behind = f"{replica.lag_bytes or 0:,} bytes behind"
        yield f"replica     {visible(replica.name)}: {replica.state}, {replica.sync_state}, {behind}"
    for problem in state.problems:
        yield f"problem     {visible(problem)}"
