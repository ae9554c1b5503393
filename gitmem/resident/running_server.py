"""Find the process that answers commands for a repository, for reports to the user."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gitmem import __version__
from gitmem.git.locate import RepositoryLocation
from gitmem.named_tuple import NamedTuple
from gitmem.resident.client import HELLO_SECONDS, Greeting, connect
from gitmem.resident.socket_path import socket_name, socket_paths
from gitmem.resident.wire import PROTOCOL

ANSWERS: Final = "answers"
OTHER_VERSION: Final = "other version"
SILENT: Final = "silent"


class RunningServer(NamedTuple):
    """Process that owns the socket of a repository: ANSWERS, OTHER_VERSION or SILENT.

    `command` is its command line, "" if it is silent. `pid` is 0 on systems that do not tell it.
    """

    state: str
    command: str
    pid: int
    version: str
    path: Path


def find_server(
    location: RepositoryLocation, environment: Mapping[str, str], hello_seconds: float = HELLO_SECONDS
) -> RunningServer | None:
    """Return the process that owns the socket of a repository, None if there is none of this user."""
    for path in map(Path, socket_paths(environment, socket_name(os.fspath(location.common_dir)))):
        try:
            greeting = connect(os.fspath(path), hello_seconds)
        except (OSError, EOFError, ValueError):
            return RunningServer(SILENT, "", 0, "", path)
        if greeting is not None:
            greeting.channel.close()
            return _describe(greeting, path)
    return None


def _describe(greeting: Greeting, path: Path) -> RunningServer:
    protocol, version, command = (*greeting.fields, b"", b"", b"")[:3]
    same = protocol == PROTOCOL and version == __version__.encode()
    return RunningServer(
        ANSWERS if same else OTHER_VERSION,
        command.decode("utf-8", "replace"),
        greeting.pid,
        version.decode("utf-8", "replace"),
        path,
    )
