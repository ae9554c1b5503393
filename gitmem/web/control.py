"""The server of this user: one at a time, found, told to end, and asked for a link, over a private socket.

The socket is in the private folder of the sockets that answer commands (`resident.socket_path`), and its owner is
decided by a lock, which the system frees when the owner dies. So no entry can be stale, and no process id is trusted.
The messages are those of `resident.wire`: a HELLO, a REQUEST with a word and an argument, an EXIT with JSON.
"""

import json
import logging
import os
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from gitmem import __version__
from gitmem.closeable import Closeable
from gitmem.errors import Busy, StorageFailed
from gitmem.named_tuple import NamedTuple
from gitmem.resident.client import Greeting, connect
from gitmem.resident.socket_owner import OwnedSocket, own_socket
from gitmem.resident.socket_path import socket_paths
from gitmem.resident.wire import EXIT, HELLO, PROTOCOL, REQUEST, Channel, pack, peer, unpack

SOCKET_NAME: Final = "serve"
STATE: Final = b"state"
LINK: Final = b"link"
STOP: Final = b"stop"

_CHECK_SECONDS: Final = 5.0
_HELLO_SECONDS: Final = 2.0
_ANSWER_SECONDS: Final = 10.0
_WORDS: Final = 2

_log = logging.getLogger(__name__)

Answer = Callable[[bytes, str], Mapping[str, Any]]
"""Answers a word with its argument."""


class RunningServer(NamedTuple):
    """Server of this user. `url` is its address, `socket` the file of a server without a port."""

    pid: int
    version: str
    url: str
    socket: str
    started: str


class ControlSocket(Closeable):
    """The private socket of this process. `answer` runs in a thread for each client."""

    def __init__(self, owned: OwnedSocket, answer: Answer, lost: Callable[[], None]) -> None:
        self._owned = owned
        self._answer = answer
        self._lost = lost
        self._closed = threading.Event()

    def start(self) -> None:
        """Answer from now on. `lost` is called if the socket was removed, so that nobody can find this process."""
        threading.Thread(target=self._accept, name="control", daemon=True).start()

    def close(self) -> None:
        """Remove the socket; from then on another server may start."""
        self._closed.set()
        self._owned.close()

    def _accept(self) -> None:
        self._owned.listening.settimeout(_CHECK_SECONDS)
        while not self._closed.is_set():
            try:
                connection, _ = self._owned.listening.accept()
            except TimeoutError:
                if not self._owned.is_in_place():
                    self._lost()
                    return
                continue
            except OSError:  # closed, or too many open files, which may pass
                self._closed.wait(1)
                continue
            threading.Thread(target=self._greet, args=(connection,), name="control client", daemon=True).start()

    def _greet(self, connection: socket.socket) -> None:
        channel = Channel(connection)
        try:
            client = peer(connection)
            if client is None or client[0] != os.geteuid():
                return
            channel.set_timeout(_ANSWER_SECONDS)
            channel.send(HELLO, b"\0".join([PROTOCOL, __version__.encode(), b"gitmem serve"]))
            kind, data = channel.receive()
            words = unpack(data)
            if kind == REQUEST and len(words) == _WORDS:
                answer = self._answer(words[0], words[1].decode("utf-8", "replace"))
                channel.send(EXIT, json.dumps(answer).encode())
        except (OSError, EOFError, ValueError):
            return  # the client is gone, or is none
        except Exception:
            _log.exception("a request on the control socket failed")
        finally:
            channel.close()


def own_control_socket(environment: Mapping[str, str]) -> OwnedSocket:
    """Become the server of this user. Raises: Busy if there is one already, StorageFailed without a private folder."""
    running = find_server(environment)
    if running is not None:
        raise _busy(running)
    # The first folder that this user can have to themselves, as with the sockets that answer commands.
    problem: OSError | None = None
    for path in socket_paths(environment, SOCKET_NAME):
        try:
            owned = own_socket(Path(path))
        except OSError as error:
            problem = error
            continue
        if owned is None:
            # Another one is just starting, or hangs.
            raise _busy(find_server(environment))
        return owned
    raise StorageFailed(
        f"no folder for the socket of the server: {problem}", hint="set GITMEM_RUNTIME_DIR to a short path"
    )


def _busy(running: RunningServer | None) -> Busy:
    if running is None:
        return Busy("another server of this user is starting", hint="gitmem serve list")
    place = running.url or running.socket
    return Busy(f"a server of this user runs already: {place} (process {running.pid})", hint="gitmem open")


def find_server(environment: Mapping[str, str]) -> RunningServer | None:
    """Return the server of this user, None if none runs."""
    answer = ask_server(environment, STATE)
    return None if answer is None else RunningServer(**{name: answer[name] for name in RunningServer._fields})


def ask_server(environment: Mapping[str, str], word: bytes, argument: str = "") -> dict[str, Any] | None:
    """Return the answer of the server of this user to a word, None if none runs."""
    for path in socket_paths(environment, SOCKET_NAME):
        try:
            greeting = connect(path, _HELLO_SECONDS)
        except (OSError, EOFError, ValueError):  # a server that hangs, or another program
            continue
        if greeting is not None:
            with suppress(OSError, EOFError, ValueError):
                return _converse(greeting, word, argument)
    return None


def _converse(greeting: Greeting, word: bytes, argument: str) -> dict[str, Any]:
    channel = greeting.channel
    try:
        channel.set_timeout(_ANSWER_SECONDS)
        channel.send(REQUEST, pack([word, argument.encode()]))
        _, data = channel.receive()
        value = json.loads(data)
        if not isinstance(value, dict):
            raise ValueError("expected an object")
        return value
    finally:
        channel.close()
