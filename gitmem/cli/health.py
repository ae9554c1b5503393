"""`gitmem health`."""

import click

from gitmem.actions.health import UNHEALTHY, examine_health, health_json, health_lines, overall
from gitmem.cli.context import open_here, write_json
from gitmem.cli.style import print_line
from gitmem.display import visible
from gitmem.errors import ExitCode


@click.command()
@click.option("--embedding", "embedding_only", is_flag=True, help="Report the provider of embeddings alone.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, embedding_only: bool, as_json: bool) -> ExitCode:
    """Report whether this repository can be searched now.

    Each component is healthy, degraded or unhealthy; the exit code is 5 if one is unhealthy. One word is embedded to
    try the provider: a remote one gets it.

    \b
    Examples:
      gitmem health
      gitmem health --embedding --json
    """
    components = examine_health(open_here(ctx.obj), probe=True, embedding_only=embedding_only)
    if as_json:
        write_json(health_json(components))
    else:
        for line in health_lines(components):
            print_line(visible(line))
    return ExitCode.FAILED if overall(components) == UNHEALTHY else ExitCode.OK
