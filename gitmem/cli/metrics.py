"""`gitmem metrics`."""

import click

from gitmem.actions.metrics import metrics_json, metrics_lines, own_metrics, prometheus_text, reset_counts
from gitmem.cli.console import environment, put
from gitmem.cli.context import open_here, write_json
from gitmem.cli.style import print_line
from gitmem.display import visible
from gitmem.errors import ExitCode, UsageError


@click.command()
@click.option("--prometheus", is_flag=True, help="Print the text format of Prometheus.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--reset", is_flag=True, help="Begin to count anew, and print nothing.")
@click.pass_context
def command(ctx: click.Context, prometheus: bool, as_json: bool, reset: bool) -> ExitCode:
    """Show how often operations ran in this repository, and how long they took.

    Counts commands, queries, index runs, requests to providers and calls of tools, over all processes since the index
    was made or `--reset` was given. Nothing is sent anywhere, and no query is kept.

    \b
    Examples:
      gitmem metrics
      gitmem metrics --prometheus
      gitmem metrics --reset
    """
    if prometheus and as_json:
        raise UsageError("`--prometheus` and `--json` exclude each other", hint="gitmem metrics --prometheus")
    if reset:
        if prometheus or as_json:
            raise UsageError("`--reset` prints nothing, so it takes no format", hint="gitmem metrics --reset")
        reset_counts(open_here(ctx))
        return ExitCode.OK
    own = own_metrics(open_here(ctx), environment())
    if as_json:
        write_json(metrics_json(own.metrics, own.store))
    elif prometheus:
        put(prometheus_text([own]).rstrip())
    else:
        for line in metrics_lines(own.metrics, own.store):
            print_line(visible(line))
    return ExitCode.OK
