"""Answer commands of this user on the sockets of the open repositories; see `wire` for the messages.

Threads:

    sockets      one for each repository: owns its socket, or waits until the owner is gone; accepts clients
    client       one for each connection: greets, reads the request, runs the command, sends the answer
    connection   one for each running command: sends beats, receives input, notices that the client is gone

The commands themselves are those of the command line, which passes a function that runs one.
"""

import logging
import os
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem import __version__
from gitmem.closeable import Closeable
from gitmem.errors import GitmemError
from gitmem.git.locate import RepositoryLocation, locate
from gitmem.resident.call import CallCancelled
from gitmem.resident.code_signature import read_code_signature
from gitmem.resident.exchange import Exchange
from gitmem.resident.repositories import OpenRepositories
from gitmem.resident.request import Request, find_difference, parse_request
from gitmem.resident.socket_owner import OwnedSocket, own_socket
from gitmem.resident.socket_path import find_repository, socket_name, socket_paths
from gitmem.resident.wire import HELLO, PROTOCOL, REQUEST, Channel, peer

RETRY_SECONDS: Final = 1.0
"""Interval at which a process tries to own a socket that another one owns."""

_CHECK_SECONDS: Final = 5.0
"""Interval at which the owner of a socket checks that nobody removed it."""

_REQUEST_SECONDS: Final = 1.0
"""Longest wait for the request of a client that was greeted."""

MAX_RUNNING: Final = 4
"""Commands that run at the same time; further ones wait, so that other calls of this process stay responsive."""

MAX_CLIENTS: Final = 32
"""Connections at the same time; further ones are closed, and these clients answer themselves."""

_log = logging.getLogger(__name__)

RunCommand = Callable[[Request, OpenRepositories, Exchange], None]
"""Runs a command and sends its answer to the exchange, or raises CallCancelled if it cannot answer."""


ServeCommands = Callable[[OpenRepositories], "CommandServer"]
"""Starts to serve commands from some open repositories."""


class CommandServer(Closeable):
    """Sockets of all repositories that a process serves. `name` is what the process calls itself in reports."""

    def __init__(self, name: str, repositories: OpenRepositories, environment: Mapping[str, str], run: RunCommand):
        self._hello = b"\0".join([PROTOCOL, __version__.encode(), name.encode()])
        self._repositories = repositories
        self._environment = environment
        self._run = run
        self._code = read_code_signature()
        self._names: set[str] = set()
        self._lock = threading.Lock()
        """Guards the names of the sockets."""
        self._closed = threading.Event()
        self._exchanges: set[Exchange] = set()
        self._running = threading.BoundedSemaphore(MAX_RUNNING)
        self._clients = threading.BoundedSemaphore(MAX_CLIENTS)

    def start(self) -> None:
        """Serve the process's own repository, and each other one from the moment at which it is opened."""
        self._repositories.on_open = lambda repository: self.serve(repository.workspace.location)
        threading.Thread(target=self._serve_own, name="own socket", daemon=True).start()

    def close(self) -> None:
        """Stop serving and cancel the running commands; their clients answer themselves."""
        self._closed.set()
        for exchange in list(self._exchanges):
            exchange.abort()

    def _serve_own(self) -> None:
        with suppress(GitmemError):  # outside a repository there is nothing to serve yet
            self.serve(locate(self._repositories.own))

    def serve(self, location: RepositoryLocation) -> None:
        """Serve a repository from now on, if it is not served already."""
        try:
            name = socket_name(os.fspath(location.common_dir))
        except OSError:
            return
        with self._lock:
            if name in self._names:
                return
            self._names.add(name)
        threading.Thread(target=self._hold_socket, args=(name,), name=f"socket {name}", daemon=True).start()

    def _hold_socket(self, name: str) -> None:
        """Own the socket of a repository whenever no other process does."""
        while not self._closed.is_set():
            owned = self._own_first(name)
            if owned is not None:
                with owned:
                    self._accept(owned, name)
            self._closed.wait(RETRY_SECONDS)

    def _own_first(self, name: str) -> OwnedSocket | None:
        """Own the socket at the first possible place; None if another process owns it there, or none is possible."""
        for path in socket_paths(self._environment, name):
            try:
                return own_socket(Path(path))
            except OSError as error:
                _log.debug("no socket at %s: %s", path, error)
        return None

    def _accept(self, owned: OwnedSocket, name: str) -> None:
        owned.listening.settimeout(_CHECK_SECONDS)
        while not self._closed.is_set():
            try:
                connection, _ = owned.listening.accept()
            except TimeoutError:
                if not owned.is_in_place():
                    return
                continue
            except OSError:  # too many open files, or no memory: both may pass
                self._closed.wait(RETRY_SECONDS)
                continue
            if not self._clients.acquire(blocking=False):
                connection.close()
                continue
            threading.Thread(target=self._greet, args=(connection, name), name="client", daemon=True).start()

    def _greet(self, connection: socket.socket, name: str) -> None:
        """Serve one client, if it is of this user."""
        channel = Channel(connection)
        try:
            client = peer(connection)
            if client is None or client[0] != os.geteuid():
                return
            channel.set_timeout(_REQUEST_SECONDS)
            channel.send(HELLO, self._hello)
            kind, data = channel.receive()
            if kind == REQUEST:
                self._answer(Exchange(channel), parse_request(data), name)
        except (OSError, EOFError, ValueError):
            return  # the client is gone, or is none
        except Exception:
            _log.exception("a command of a client failed")
        finally:
            channel.close()
            self._clients.release()

    def _answer(self, exchange: Exchange, request: Request, name: str) -> None:
        """Run a command between beats, or refuse it."""
        self._exchanges.add(exchange)
        try:
            with exchange:
                try:
                    if not self._closed.is_set() and not self._refuses(request, name):
                        with self._running:
                            self._run(request, self._repositories, exchange)
                        return
                except (GitmemError, CallCancelled) as reason:  # the client meets the same error, and prints it
                    _log.debug("a command is left to its client: %r", reason)
                with suppress(CallCancelled):
                    exchange.refuse()
        finally:
            self._exchanges.discard(exchange)

    def _refuses(self, request: Request, name: str) -> bool:
        """Return whether this process might answer otherwise than a new one."""
        difference = find_difference(request, self._environment)
        if not difference and read_code_signature() != self._code:
            difference = "newer code on the disk"
        if not difference and not _belongs(request, name):
            difference = "another repository"
        if difference:
            _log.debug("a command is left to its client: %s", difference)
        return bool(difference)


def _belongs(request: Request, name: str) -> bool:
    """Return whether a request is about the repository of a socket."""
    found = find_repository(os.fspath(request.root))
    return found is not None and socket_name(found[1]) == name and request.root.samefile(found[0])
