"""Start and stop the server from a command, get a one-time link, and show it in a browser."""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.errors import Busy, GitmemError, UsageError
from gitmem.fsio import write_atomic
from gitmem.resident.socket_path import socket_folders
from gitmem.web.control import LINK, STOP, RunningServer, ask_server, find_server

_START_SECONDS: Final = 20.0
_STOP_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.05
_MAX_ERROR: Final = 4000

_REMOTE: Final = ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY")
"""Variables of a session over SSH: a browser would open on the wrong machine."""

_LEADING_PAGE: Final = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={link}"><title>gitmem</title><p><a href="{link}">Open gitmem</a></p></html>
"""


class Link(NamedTuple):
    """One-time link to the page, and address and token for programs."""

    link: str
    url: str
    token: str


def start_server(folder: Path, environment: Mapping[str, str]) -> bool:
    """Start a server that outlives this process, unless one runs; return whether it was started.

    Raises: GitmemError with the reason if it does not start.
    """
    if find_server(environment) is not None:
        return False
    # Its log is a file without a name: a pipe would break when this process ends.
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "gitmem", "-C", str(folder), "serve"],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
        )
        # Polled: the server has nothing to notify this process with before it listens.
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if find_server(environment) is not None:
                return True
            if process.poll() is not None and find_server(environment) is None:
                log.seek(0)
                raise GitmemError("the server did not start", hint=_last_line(log.read(_MAX_ERROR)) or "gitmem serve")
            time.sleep(_POLL_SECONDS)
    raise Busy("the server does not answer", hint="gitmem serve list")


def _last_line(log: bytes) -> str:
    lines = log.decode("utf-8", "replace").splitlines()
    return lines[-1] if lines else ""


def stop_server(environment: Mapping[str, str]) -> RunningServer | None:
    """End the server of this user and wait for its end; return None if none runs. Raises: Busy."""
    running = find_server(environment)
    if running is None:
        return None
    # Asked, not killed: runs in progress keep their work, and the process id might be another's by now.
    ask_server(environment, STOP)
    deadline = time.monotonic() + _STOP_SECONDS
    while find_server(environment) is not None:
        if time.monotonic() > deadline:
            raise Busy("the server did not end", hint=f"kill {running.pid}")
        time.sleep(_POLL_SECONDS)
    return running


def request_link(environment: Mapping[str, str], page: str) -> Link:
    """Return a new one-time link to a page of the server of this user. Raises: UsageError, Busy."""
    answer = ask_server(environment, LINK, page)
    if answer is None:
        raise Busy("no server answers", hint="gitmem serve list")
    if "link" not in answer:
        raise UsageError("the server listens on a socket file, which a browser cannot open", hint="gitmem serve stop")
    return Link(answer["link"], answer["url"], answer["token"])


def show_in_browser(link: str, environment: Mapping[str, str], platform: str) -> bool:
    """Open a link in the user's browser; return False over SSH, or if there is none.

    The browser gets a private file that leads to the link: other users can see the arguments of its process.
    """
    command = _browser_command(environment, platform)
    if not command or any(environment.get(name) for name in _REMOTE):
        return False
    folder = next((Path(place) for place in socket_folders(environment) if Path(place).is_dir()), None)
    if folder is None:
        return False
    page = folder / "open.html"
    write_atomic(page, [_LEADING_PAGE.format(link=escape(link, quote=True)).encode()], durable=False)
    null = subprocess.DEVNULL
    # The shell exits at once, so the browser is adopted by init: this process need not wait for it.
    shell = ["/bin/sh", "-c", '"$@" &', "sh", *command, page.as_uri()]
    subprocess.run(shell, stdin=null, stdout=null, stderr=null, start_new_session=True, check=False)
    return True


def _browser_command(environment: Mapping[str, str], platform: str) -> list[str]:
    """Return the command that opens an address, empty without one or without a display."""
    own = environment.get("BROWSER", "")
    if own and "%" not in own:
        return [own.split(":")[0]]
    if platform == "darwin":
        return ["open"]
    has_display = environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
    return ["xdg-open"] if has_display and shutil.which("xdg-open", path=environment.get("PATH")) else []
