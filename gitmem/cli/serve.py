"""`gitmem serve`."""

import os
from pathlib import Path

import click

from gitmem.cli.command_group import CommandGroup
from gitmem.cli.command_service import serve_commands
from gitmem.cli.completer import complete
from gitmem.cli.context import write_json
from gitmem.cli.error_output import say
from gitmem.display import visible
from gitmem.errors import ExitCode, UsageError
from gitmem.mcp.tools.toolsets import DEFAULT, parse_toolsets

_ON_COMMAND_LINE = click.core.ParameterSource.COMMANDLINE


@click.group(cls=CommandGroup, invoke_without_command=True)
@click.option("--host", metavar="NAME", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=None,
    help="Port to listen on; by default 8008 or the next free one.",
)
@click.option(
    "--socket",
    metavar="FILE",
    shell_complete=complete("files"),
    default="",
    help="Listen on a socket file of this user instead of a port.",
)
@click.option("--toolsets", metavar="NAMES", default=DEFAULT, show_default=True, help="Sets of tools of `/mcp/`.")
@click.pass_context
def command(ctx: click.Context, host: str, port: int | None, socket: str, toolsets: str) -> ExitCode:
    """Serve the web page and the HTTP API for all repositories of this user.

    The page is at `/`, the API at `/api/v1`, the server for agents at `/mcp/`. There is one server for each user; it
    also answers `gitmem query` and other reading commands, which are faster then. It ends when it is stopped, or after
    `gitmem.serveIdle` seconds without a request. `gitmem open` opens the page, and starts the server if none runs.
    Programs must send the token that it prints, or the one in `GITMEM_MCP_TOKEN`; a socket file needs no token.

    \b
    Examples:
      gitmem serve
      gitmem serve --port 9000
      gitmem serve list
      gitmem serve stop
    """
    if ctx.invoked_subcommand is not None:
        return ExitCode.OK
    if socket and (port is not None or ctx.get_parameter_source("host") is _ON_COMMAND_LINE):
        raise UsageError("`--socket` excludes `--host` and `--port`", hint="gitmem serve --socket FILE")
    tools = parse_toolsets(toolsets)
    from gitmem.web.server import Place, serve
    from gitmem.workspace import read_user_settings

    settings = read_user_settings(os.environ)
    return serve(
        Path(ctx.obj.folder).absolute(),
        os.environ,
        tools,
        Place(host, port, socket and str(Path(socket).absolute()), settings.serve_hosts),
        idle_seconds=settings.serve_idle,
        announce=say,
        serve_commands=lambda on_command: serve_commands("gitmem serve", on_command),
    )


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_command(as_json: bool) -> ExitCode:
    """Show the server of this user, if one runs.

    \b
    Examples:
      gitmem serve list
      gitmem serve list --json
    """
    from gitmem.web.control import find_server

    running = find_server(os.environ)
    if as_json:
        write_json({"servers": [running._asdict()] if running else []})
    elif running is None:
        print("no server runs; `gitmem serve` starts one")
    else:
        place = visible(running.url or running.socket)
        print(f"{place}  process {running.pid}, since {running.started}, gitmem {visible(running.version)}")
    return ExitCode.OK


@command.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def stop(as_json: bool) -> ExitCode:
    """Stop the server of this user, if one runs.

    \b
    Examples:
      gitmem serve stop
    """
    from gitmem.web.starting import stop_server

    server = stop_server(os.environ)
    if as_json:
        write_json({"stopped": [server._asdict()] if server else []})
    else:
        print(f"stopped the server at {visible(server.url or server.socket)}" if server else "no server runs")
    return ExitCode.OK
