"""`gitmem metrics`."""

import click

from gitmem.actions.metrics import metrics_json, metrics_lines, own_metrics, prometheus_text
from gitmem.cli.console import environment, put
from gitmem.cli.context import open_here, write_json
from gitmem.cli.style import print_line
from gitmem.display import visible
from gitmem.errors import ExitCode, UsageError


@click.command()
@click.option("--prometheus", is_flag=True, help="Print the text format of Prometheus.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, prometheus: bool, as_json: bool) -> ExitCode:
    """Show how often operations ran in this repository, and how long they took.

    Counts commands, queries, index runs, requests to providers and calls of tools, over all processes since the index
    was made. Nothing is sent anywhere, and no query is kept.

    \b
    Examples:
      gitmem metrics
      gitmem metrics --prometheus
    """
    if prometheus and as_json:
        raise UsageError("`--prometheus` and `--json` exclude each other", hint="gitmem metrics --prometheus")
    own = own_metrics(open_here(ctx), environment())
    if as_json:
        write_json(metrics_json(own.metrics, own.store))
    elif prometheus:
        put(prometheus_text([own]).rstrip())
    else:
        for line in metrics_lines(own.metrics, own.store):
            print_line(visible(line))
    return ExitCode.OK
