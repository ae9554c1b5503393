"""`gitmem mcp`."""

import os
from pathlib import Path

import click

from gitmem.mcp.toolsets import DEFAULT, parse_toolsets


@click.command()
@click.option(
    "--toolsets", metavar="NAMES", default=DEFAULT, help="Tools to offer, with commas between.", show_default=True
)
@click.pass_context
def command(ctx: click.Context, toolsets: str) -> int:
    """Serve agents, over standard input and output.

    Clients start it: `gitmem install` enters it into their configuration. It ends with its client.

    \b
    Examples:
      gitmem mcp
    """
    from gitmem.mcp.stdio import serve_stdio

    return serve_stdio(Path(ctx.obj["folder"]).absolute(), os.environ, parse_toolsets(toolsets))
