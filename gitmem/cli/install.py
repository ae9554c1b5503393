"""`gitmem install`."""

import os
from typing import Final

import click

from gitmem.actions.install import install_client, offer_local, show_client
from gitmem.cli.context import is_quiet, open_here
from gitmem.cli.error_output import say
from gitmem.display import visible
from gitmem.errors import ExitCode
from gitmem.install.clients import CLIENTS

_OFFER: Final = "`gitmem` is not on the PATH that clients search; to register it for yourself only: "


@click.command()
@click.argument("clients", nargs=-1, required=True, type=click.Choice(list(CLIENTS)))
@click.option("--print", "only_print", is_flag=True, help="Print the entries instead of writing them.")
@click.option("--guide", is_flag=True, help="Add a short block to CLAUDE.md or AGENTS.md as well.")
@click.pass_context
def command(ctx: click.Context, clients: tuple[str, ...], only_print: bool, guide: bool) -> ExitCode:
    """Register the MCP server with agents' clients in this repository.

    Adds the server to the project's file of each client (`.mcp.json` for Claude Code) and changes nothing else in it.
    The entry can be committed. `gitmem uninstall` removes it.

    \b
    Examples:
      gitmem install claude
      gitmem install cursor vscode --guide
      gitmem install codex --print
    """
    if only_print:
        print("\n".join(show_client(name, guide=guide) for name in clients), end="")
        return ExitCode.OK
    workspace = open_here(ctx)
    for name in clients:
        results = install_client(workspace, name, guide=guide)
        lines = [line for result in results if (line := result.describe())]
        if not is_quiet(ctx):
            print(f"{CLIENTS[name].title}: {visible(', '.join(lines)) or 'already registered'}")
    offer = offer_local(os.environ)
    if offer and "claude" in clients:
        say(f"note: {_OFFER}{offer}")
    return ExitCode.OK
