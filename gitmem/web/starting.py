"""Start and stop the server from a command, get a one-time link, and show it in a browser."""

import fcntl
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Final

from gitmem.errors import Busy, GitmemError, UsageError
from gitmem.fsio import FILE_MODE, write_atomic
from gitmem.named_tuple import NamedTuple
from gitmem.resident.socket_owner import make_private_folder
from gitmem.resident.socket_path import socket_folders, socket_paths
from gitmem.web.control import LINK, SOCKET_NAME, STOP, RunningServer, ask_server, find_server

_START_SECONDS: Final = 20.0
_STOP_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.05
_MAX_ERROR: Final = 4000
_CLAIM: Final = "serve.starting"
"""File in the folder of the sockets that the process locks which a query has started as server."""

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
            _serve_command(folder),
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
                raise _describe_failure(log.read(_MAX_ERROR))
            time.sleep(_POLL_SECONDS)
    raise Busy("the server does not answer", hint="gitmem serve list")


def _serve_command(folder: Path) -> list[str]:
    return [sys.executable, "-P", "-m", "gitmem", "-C", str(folder), "serve"]


def launch_server(environment: Mapping[str, str]) -> bool:
    """Start a server that outlives this process, and do not wait for it; return whether this process started one.

    Nothing is started if a server listens, or if another process is just starting one. Raises: OSError.
    """
    places = [Path(path) for path in socket_paths(environment, SOCKET_NAME)]
    if any(map(_is_listened_to, places)):
        return False
    claim = _claim_start(places)
    if claim is None:
        return False
    try:
        _detach(_serve_command(Path("/")), environment, claim)
    finally:
        os.close(claim)
    return True


def _detach(command: Sequence[str], environment: Mapping[str, str], *kept: int) -> None:
    """Start a command that outlives this process, with some open files of it, and do not wait for it."""
    null = subprocess.DEVNULL
    # The shell exits at once, so the command is adopted by init: this process need not wait for it. The command runs in
    # the root folder, since any other would keep a file system in use.
    shell = ["/bin/sh", "-c", '"$@" &', "sh", *command]
    subprocess.run(
        shell, env=dict(environment), cwd="/", stdin=null, stdout=null, stderr=null, start_new_session=True,
        pass_fds=kept, check=False,
    )  # fmt: skip


def _is_listened_to(path: Path) -> bool:
    """Return whether a process listens on a socket. Nothing is sent, so one that hangs costs no time."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.setblocking(False)
        try:
            probe.connect(os.fspath(path))
        except BlockingIOError:  # its queue is full
            return True
        except OSError:
            return False
    return True


def _claim_start(places: Sequence[Path]) -> int | None:
    """Return a locked descriptor, None if another process is starting a server. Raises: OSError.

    Between its start and its socket a server takes a few hundred milliseconds, in which other queries end. The started
    process inherits this lock and keeps it as long as it lives. The system frees it, so no claim can be stale.
    """
    # The first folder that this user can have to themselves, as for the socket itself.
    problem = OSError("no folder for the socket of the server")
    for place in places:
        try:
            make_private_folder(place.parent)
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            claim = os.open(place.with_name(_CLAIM), flags, FILE_MODE)
        except OSError as error:
            problem = error
            continue
        try:
            # Not a record lock as that of the sockets: a child inherits only locks of `flock`.
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(claim)
            return None
        return claim
    raise problem


def _describe_failure(log: bytes) -> GitmemError:
    """Return the error and the hint that a server has printed before it ended."""
    printed = dict(line.partition(": ")[::2] for line in log.decode("utf-8", "replace").splitlines())
    problem = f": {printed['error']}" if "error" in printed else ""
    return GitmemError(f"the server did not start{problem}", hint=printed.get("hint", "gitmem serve"))


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
    _detach([*command, page.as_uri()], os.environ)
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
