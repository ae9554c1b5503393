"""`gitmem mcp`."""

import os
from pathlib import Path

import click

from gitmem.cli.error_output import say
from gitmem.errors import ExitCode, UsageError
from gitmem.mcp.tools.toolsets import DEFAULT, parse_toolsets

_GIVEN = click.core.ParameterSource.COMMANDLINE


@click.command()
@click.option(
    "--toolsets", metavar="NAMES", default=DEFAULT, show_default=True, help="Sets of tools: search, memory, documents."
)
@click.option("--http", is_flag=True, help="Listen for clients instead of serving the one that started it.")
@click.option("--host", metavar="NAME", default="127.0.0.1", show_default=True, help="Listen there.")
@click.option("--port", type=click.IntRange(0, 65535), default=8008, show_default=True, help="Listen on it; 0 is any.")
@click.option("--socket", metavar="FILE", default="", help="Listen on a socket of this user's instead, without token.")
@click.pass_context
def command(ctx: click.Context, toolsets: str, http: bool, host: str, port: int, socket: str) -> ExitCode:
    """Serve agents: search this repository for Claude Code and others.

    Over standard input and output it serves the client that starts it, and ends with it; `gitmem install` enters it
    into a client's configuration. With `--http` it listens at `/mcp/` until it is interrupted. Clients must send the
    token that it prints, or the one in `GITMEM_MCP_TOKEN`.

    \b
    Examples:
      gitmem mcp
      gitmem mcp --http --port 8008
      gitmem mcp --http --socket ~/.gitmem.sock
    """
    folder, tools = Path(ctx.obj["folder"]).absolute(), parse_toolsets(toolsets)
    if not http:
        given = [name for name in ("host", "port", "socket") if ctx.get_parameter_source(name) is _GIVEN]
        if given:
            raise UsageError(f"--{given[0]} is for a server that listens", hint=f"gitmem mcp --http --{given[0]} ...")
        from gitmem.mcp.transport.stdio import serve_stdio

        return serve_stdio(folder, os.environ, tools)
    from gitmem.mcp.transport.http import serve_http

    return serve_http(folder, os.environ, tools, host=host, port=port, path=socket, announce=say)
