"""Start to answer commands of this user in a process that stays: `gitmem mcp` and `gitmem watch`."""

import os

from gitmem.resident.command_server import CommandServer, ServeCommands
from gitmem.resident.exchange import Exchange
from gitmem.resident.repositories import OpenRepositories
from gitmem.resident.request import Request


def serve_commands(name: str) -> ServeCommands:
    """Return the function that starts to serve commands; `name` is the command line of this process."""

    def start(repositories: OpenRepositories) -> CommandServer:
        server = CommandServer(name, repositories, dict(os.environ), _run)
        server.start()
        return server

    return start


def _run(request: Request, repositories: OpenRepositories, exchange: Exchange) -> None:
    from gitmem.cli.serve_command import run_command  # the modules of the commands, for the first client only

    run_command(request, repositories, exchange)
