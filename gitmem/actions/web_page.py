"""Open the web page from a process that does not serve it: through the command, which starts a server if none runs."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gitmem.errors import GitmemError
from gitmem.named_tuple import NamedTuple

_SECONDS: Final = 60.0
_MAX_MESSAGE: Final = 500


def open_page(folder: Path, environment: Mapping[str, str], *, browser: bool = True) -> str:
    """Return a link that works once, and show it in a browser if there is one. Raises: GitmemError."""
    return _run(folder, environment, "open", *(() if browser else ("--print",)))


class RunningPage(NamedTuple):
    """Server of the page. `url` is empty if it listens on a socket file."""

    pid: int
    url: str
    started: str


def find_page(folder: Path, environment: Mapping[str, str]) -> RunningPage | None:
    """Return the server of the page, None if none runs. Raises: GitmemError."""
    servers = json.loads(_run(folder, environment, "serve", "list", "--json"))["servers"]
    return RunningPage(servers[0]["pid"], servers[0]["url"], servers[0]["started"]) if servers else None


def stop_page(folder: Path, environment: Mapping[str, str]) -> str:
    """Stop the server of the page; return the message of the command. Raises: GitmemError."""
    return _run(folder, environment, "serve", "stop")


def _run(folder: Path, environment: Mapping[str, str], *arguments: str) -> str:
    """Run a command of gitmem and return its output."""
    # The page imports the tools for agents, so these cannot import it; nor should they load what only the page needs.
    command = [sys.executable, "-P", "-m", "gitmem", "-C", str(folder), *arguments]
    try:
        result = subprocess.run(
            command, env=dict(environment), stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as expired:
        raise GitmemError("the server of the page did not answer in time", hint="gitmem serve list") from expired
    if result.returncode:
        lines = result.stderr.decode("utf-8", "replace").strip().splitlines()
        message = lines[0].removeprefix("error: ")[:_MAX_MESSAGE] if lines else "the page cannot be opened"
        raise GitmemError(message, hint="gitmem open")
    return result.stdout.decode("utf-8", "replace").strip()
