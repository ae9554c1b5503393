"""`gitmem mcp`."""

import os
from contextlib import suppress
from pathlib import Path

import click

from gitmem.cli.command_service import serve_commands
from gitmem.cli.completer import complete
from gitmem.cli.error_output import say
from gitmem.errors import ExitCode, NotARepository, UsageError
from gitmem.mcp.tools.toolsets import DEFAULT, parse_toolsets

_ON_COMMAND_LINE = click.core.ParameterSource.COMMANDLINE


@click.command()
@click.option(
    "--toolsets",
    metavar="NAMES",
    default=DEFAULT,
    show_default=True,
    help="Sets of tools: search, memory, documents, history, structure, repositories, admin, reports; compat-sN.",
)
@click.option("--http", is_flag=True, help="Serve clients over HTTP, instead of the one that started the server.")
@click.option("--host", metavar="NAME", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8008, show_default=True, help="Port to listen on; 0 for any."
)
@click.option(
    "--socket",
    metavar="FILE",
    shell_complete=complete("files"),
    default="",
    help="Listen on a socket file of this user instead of a port.",
)
@click.pass_context
def command(ctx: click.Context, toolsets: str, http: bool, host: str, port: int, socket: str) -> ExitCode:
    """Serve agents: search this repository for Claude Code and others.

    Over standard input and output the server serves the client that started it, and ends with it. `gitmem install`
    adds it to the configuration of a client. With `--http` it listens at `/mcp/` until it is interrupted. Clients must
    send the token that it prints, or the one in `GITMEM_MCP_TOKEN`; a socket file needs no token. Either
    way the server also answers `gitmem query` and other reading commands of this user, which are faster then.

    \b
    Examples:
      gitmem mcp
      gitmem mcp --http --port 8008
      gitmem mcp --http --socket ~/.gitmem.sock
    """
    folder, tools = Path(ctx.obj.folder).absolute(), parse_toolsets(toolsets)
    # Only the transport that serves is imported: HTTP loads the SDK, which would delay the handshake over stdio.
    if not http:
        options = [name for name in ("host", "port", "socket") if ctx.get_parameter_source(name) is _ON_COMMAND_LINE]
        if options:
            raise UsageError(f"`--{options[0]}` needs `--http`", hint=f"gitmem mcp --http --{options[0]} ...")
        from gitmem.mcp.transport.stdio import serve_stdio

        return serve_stdio(folder, os.environ, tools, serve_commands("gitmem mcp"))
    from gitmem.cli.context import open_here  # the server of one client greets it before this is loaded

    with suppress(NotARepository):  # the requests may name other repositories
        open_here(ctx.obj)  # an invalid configuration ends the command before it listens
    from gitmem.mcp.transport.http import serve_http

    return serve_http(
        folder,
        os.environ,
        tools,
        host=host,
        port=port,
        path=socket,
        announce=say,
        serve_commands=serve_commands("gitmem mcp --http"),
    )
