"""Start to answer commands of this user in a process that stays: `gitmem mcp`, `gitmem serve` and `gitmem watch`."""

import os
from collections.abc import Callable

from gitmem.resident.command_server import CommandServer, ServeCommands
from gitmem.resident.exchange import Exchange
from gitmem.resident.repositories import OpenRepositories
from gitmem.resident.request import Request


def serve_commands(name: str, on_command: Callable[[], None] = lambda: None) -> ServeCommands:
    """Return the function that starts to serve commands; `name` is the command line of this process.

    `on_command` is called for each command that is answered.
    """

    def run(request: Request, repositories: OpenRepositories, exchange: Exchange) -> None:
        on_command()
        _run(request, repositories, exchange)

    def start(repositories: OpenRepositories) -> CommandServer:
        server = CommandServer(name, repositories, dict(os.environ), run)
        server.start()
        return server

    return start


def _run(request: Request, repositories: OpenRepositories, exchange: Exchange) -> None:
    from gitmem.cli.serve_command import run_command  # the modules of the commands, for the first client only

    run_command(request, repositories, exchange)
