"""`gitmem serve`: one server for all registered repositories of a user, until it is stopped or idle."""

import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from gitmem import __version__
from gitmem.errors import ExitCode, GitmemError
from gitmem.git.locate import locate
from gitmem.mcp.tools.descriptions import Tool
from gitmem.mcp.tools.handlers import ToolHandlers
from gitmem.mcp.transport.http import EXIT_SECONDS, LOOPBACK, hosts_of, run_until_signal
from gitmem.mcp.transport.http_auth import TOKEN_VARIABLE, read_token
from gitmem.mcp.transport.listening_socket import listen_on_first_free, listen_on_port, listen_on_socket_file
from gitmem.mcp.transport.shutdown import Shutdown
from gitmem.named_tuple import NamedTuple
from gitmem.registry import read_registry
from gitmem.resident.command_server import CommandServer, ServeCommands
from gitmem.resident.socket_owner import OwnedSocket
from gitmem.web.access import LOGIN_PATH, Access
from gitmem.web.activity import Activity, end_when_idle
from gitmem.web.application import make_application
from gitmem.web.control import LINK, STATE, STOP, ControlSocket, own_control_socket
from gitmem.web.service import Service

DEFAULT_PORT: Final = 8008
_PORTS: Final = 100
"""Ports that are tried, from the default one on, if the user did not choose one."""

_CLOSE_SECONDS: Final = 1.0


class Place(NamedTuple):
    """Where to listen: a host and a port, None for the first free one; or a socket file.

    `names` are further values of the header Host, as of a proxy or a service in front of this server.
    """

    host: str
    port: int | None
    socket: str = ""
    names: tuple[str, ...] = ()


class Server:
    """State of the server that the control socket answers with."""

    def __init__(self, access: Access, url: str, socket_file: str, stop: Callable[[], None]) -> None:
        self._access = access
        self._stop = stop
        self._url = url
        self._state = {
            "pid": os.getpid(),
            "version": __version__,
            "url": url,
            "socket": socket_file,
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }

    def answer(self, word: bytes, argument: str) -> Mapping[str, Any]:
        """Answer a word of the control socket."""
        if word == STATE:
            return self._state
        if word == LINK and self._url:
            # The page comes from this user, but a browser follows it: only a path of this server is accepted.
            page = argument if argument.startswith("/") and not argument.startswith(("//", "/\\")) else "/"
            code = self._access.links.create(page)
            return {**self._state, "link": f"{self._url}{LOGIN_PATH[1:]}?code={code}", "token": self._access.token}
        if word == STOP:
            # After the answer, which the process would not send otherwise.
            threading.Timer(0.05, self._stop).start()
            return self._state
        return {"problem": "unknown request"}


def serve(
    folder: Path,
    environment: Mapping[str, str],
    tools: dict[str, Tool],
    place: Place,
    *,
    idle_seconds: int,
    announce: Callable[[str], None],
    serve_commands: Callable[[Callable[[], None]], ServeCommands],
) -> ExitCode:
    """Serve until a signal, `gitmem serve stop`, or so many seconds without a request; 0 seconds are never.

    `serve_commands` makes the function that starts to serve the commands of this user; it gets a callback for each.

    Raises: Busy if a server of this user runs, UsageError if it cannot listen there, StorageFailed.
    """
    # First of all: a second server must not even take a port.
    owned = own_control_socket(environment)
    with owned:
        run = _Run(folder, environment, tools, place, announce)
        return run.run(owned_socket=owned, idle_seconds=idle_seconds, serve_commands=serve_commands)


class _Run:
    """One run of the server."""

    def __init__(
        self,
        folder: Path,
        environment: Mapping[str, str],
        tools: dict[str, Tool],
        place: Place,
        announce: Callable[[str], None],
    ) -> None:
        self._environment = environment
        self._announce = announce
        self._place = place
        self._token = "" if place.socket else read_token(environment)
        self._listening = _listen(place)
        port = 0 if place.socket else int(self._listening.getsockname()[1])
        self._url = "" if place.socket else f"http://{_bracketed(place.host)}:{port}/"
        hosts = () if place.socket else (*hosts_of((*LOOPBACK, place.host), port), *place.names)
        self._access = Access(hosts, self._token, port)
        self._handlers = ToolHandlers(folder, environment)
        self._service = Service(self._handlers.repositories)
        self._activity = Activity()
        self._app = make_application(self._service, self._handlers, tools, self._access, self._activity)

    def run(
        self,
        *,
        owned_socket: OwnedSocket,
        idle_seconds: int,
        serve_commands: Callable[[Callable[[], None]], ServeCommands],
    ) -> ExitCode:
        shutdown = Shutdown(EXIT_SECONDS)
        server = Server(self._access, self._url, self._place.socket, shutdown.request)
        control = ControlSocket(owned_socket, server.answer, shutdown.request)
        command_server = serve_commands(self._activity.touch)(self._handlers.repositories)
        threading.Thread(target=self._serve_registered, args=(command_server,), name="sockets", daemon=True).start()
        if idle_seconds:
            arguments = (self._activity, float(idle_seconds), self._is_busy, shutdown.requested, shutdown.request)
            threading.Thread(target=end_when_idle, args=arguments, name="idle", daemon=True).start()

        def ready() -> None:
            control.start()
            self._announce_address()

        # Each step of the end is bounded; `Shutdown` ends the process if one hangs.
        try:
            run_until_signal(self._app, self._listening, self._announce, ready=ready, shutdown=shutdown)
        finally:
            control.close()
            command_server.close()
            self._service.jobs.stop_all(_CLOSE_SECONDS)
            self._handlers.close(_CLOSE_SECONDS)
            if self._place.socket:
                Path(self._place.socket).unlink(missing_ok=True)
            shutdown.finish()
        return ExitCode.OK

    def _serve_registered(self, command_server: CommandServer) -> None:
        """Answer the commands of this user in each registered repository; others follow when they are opened."""
        for known in read_registry(self._environment):
            with suppress(GitmemError):
                command_server.serve(locate(known.path))

    def _is_busy(self) -> bool:
        return bool(self._service.jobs.running())

    def _announce_address(self) -> None:
        self._announce(f"gitmem: serving {self._url or self._place.socket}")
        if self._token and TOKEN_VARIABLE not in self._environment:
            self._announce(f"gitmem: Authorization: Bearer {self._token}")
        if self._url:
            self._announce("gitmem: `gitmem open` opens the page")
            if self._place.host not in LOOPBACK:
                self._announce("gitmem: the token and all answers cross the network without encryption")


def _listen(place: Place) -> socket.socket:
    if place.socket:
        return listen_on_socket_file(Path(place.socket))
    if place.port is not None:
        return listen_on_port(place.host, place.port)
    return listen_on_first_free(place.host, range(DEFAULT_PORT, DEFAULT_PORT + _PORTS))


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
