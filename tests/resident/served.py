"""A server of commands inside the test's process, and a client that waits as long as a loaded machine needs."""

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gitmem.cli.command_service import serve_commands
from gitmem.git.locate import locate
from gitmem.resident.client import Answer, Client
from gitmem.resident.command_server import CommandServer
from gitmem.resident.repositories import OpenRepositories
from gitmem.resident.running_server import ANSWERS, find_server
from gitmem.resident.socket_path import socket_name, socket_paths
from gitmem.resident.wire import ERR, OUT
from tests.sample import Outcome

PATIENCE: Final = 120.0
"""Seconds; much longer than any answer takes, so that only a defect is noticed."""

_TIMES: Final = re.compile(r"\d+ ms|search_[0-9a-f]{8}|(?<=\"query_time_ms\": )[\d.]+|(?<=\"query_time_ms\":)[\d.]+")


@contextmanager
def serving(folder: Path) -> Iterator[OpenRepositories]:
    """Serve the commands of a repository, and yield the open repositories."""
    repositories = OpenRepositories(folder, dict(os.environ))
    with serve_commands("test")(repositories) as server:
        wait_for_server(folder)
        yield repositories
    release(server, repositories)


def release(server: CommandServer, repositories: OpenRepositories) -> None:
    """Wait until a closed server has given up its sockets."""
    server.close()
    repositories.close(PATIENCE)
    for thread in threading.enumerate():
        if thread.name.startswith(("socket ", "client", "own socket")):
            thread.join(PATIENCE)


def wait_for_server(folder: Path) -> None:
    """Wait until some process answers commands for a repository."""
    while (server := find_server(locate(folder), os.environ, PATIENCE)) is None or server.state != ANSWERS:
        threading.Event().wait(0.01)


def socket_file(folder: Path) -> Path:
    """Return the path of the socket of a repository."""
    return Path(socket_paths(os.environ, socket_name(os.fspath(locate(folder).common_dir)))[0])


def ask(*args: str, folder: str = "") -> Outcome | None:
    """Ask the server about the current folder; None if it refuses."""
    answer = Client(PATIENCE, PATIENCE).ask(list(args), folder)
    return None if answer is None else outcome(answer)


def outcome(answer: Answer) -> Outcome:
    """Return an answer as the outcome of a command line."""
    out, err = (b"".join(data for kind, data in answer if kind == wanted).decode() for wanted in (OUT, ERR))
    return Outcome(answer[-1][1][0], out, err)


def without_times(result: Outcome | None) -> Outcome | None:
    """Return an outcome without the times that it reports."""
    if result is None:
        return None
    return Outcome(result.code, _TIMES.sub("TIME", result.out), _TIMES.sub("TIME", result.err))
