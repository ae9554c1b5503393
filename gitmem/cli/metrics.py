"""`gitmem metrics`."""

import click

from gitmem.actions.metrics import metrics_json, metrics_lines, own_metrics, prometheus_text, reset_counts
from gitmem.cli.console import environment, put
from gitmem.cli.context import open_here, open_here_if_any, write_json
from gitmem.cli.style import print_line
from gitmem.display import visible
from gitmem.errors import DatabaseFailed, ExitCode, UsageError
from gitmem.workspace import read_user_settings


@click.command()
@click.option("--prometheus", is_flag=True, help="Print the text format of Prometheus.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--reset", is_flag=True, help="Begin to count anew, and print nothing.")
@click.option("--org", is_flag=True, help="Show the server of the organisation instead.")
@click.pass_context
def command(ctx: click.Context, prometheus: bool, as_json: bool, reset: bool, org: bool) -> ExitCode:
    """Show how often operations ran in this repository, and how long they took.

    Counts commands, queries, index runs, requests to providers and calls of tools, over all processes since the index
    was made or `--reset` was given. Nothing is sent anywhere, and no query is kept.

    With `--org`, shows the state of the database that the setting gitmem.org names; see `gitmem org status`.

    \b
    Examples:
      gitmem metrics
      gitmem metrics --prometheus
      gitmem metrics --reset
      gitmem metrics --org --prometheus
    """
    if prometheus and as_json:
        raise UsageError("`--prometheus` and `--json` exclude each other", hint="gitmem metrics --prometheus")
    if org:
        if reset:
            raise UsageError("`--reset` applies to this repository", hint="gitmem metrics --reset")
        return _show_server(ctx, prometheus=prometheus, as_json=as_json)
    if reset:
        if prometheus or as_json:
            raise UsageError("`--reset` prints nothing, so it takes no format", hint="gitmem metrics --reset")
        reset_counts(open_here(ctx.obj))
        return ExitCode.OK
    own = own_metrics(open_here(ctx.obj), environment())
    if as_json:
        write_json(metrics_json(own.metrics, own.store))
    elif prometheus:
        put(prometheus_text([own]).rstrip())
    else:
        for line in metrics_lines(own.metrics, own.store):
            print_line(visible(line))
    return ExitCode.OK


def _show_server(ctx: click.Context, *, prometheus: bool, as_json: bool) -> ExitCode:
    """Print the state of the server. For Prometheus, one that does not answer has a value as well."""
    from gitmem.cli.org_status import status
    from gitmem.org.connection import open_database
    from gitmem.org.database_health import read_health
    from gitmem.org.database_metrics import down_text, health_text

    if not prometheus:
        code: ExitCode = ctx.invoke(status, as_json=as_json)
        return code
    workspace = open_here_if_any(ctx.obj)
    settings = workspace.settings if workspace else read_user_settings(environment())
    try:
        with open_database(settings.org) as database:
            text = health_text(read_health(database))
    except DatabaseFailed:
        put(down_text().rstrip())
        raise
    put(text.rstrip())
    return ExitCode.OK
