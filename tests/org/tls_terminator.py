"""TLS before a PostgreSQL server, as a pooler provides it: the server of the package is built without TLS.

It takes libpq's request for encryption, shows a certificate, and passes on what it decrypts.
"""

import socket
import ssl
import struct
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

_SSL_REQUEST: Final = struct.pack("!II", 8, 80877103)
_GSS_REQUEST: Final = struct.pack("!II", 8, 80877104)


class TlsTerminator:
    """Listener for a `with` block; `port` is where clients connect to."""

    def __init__(self, target: int, certificate: Path, key: Path) -> None:
        self._target = target
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate, key)
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]

    def __enter__(self) -> "TlsTerminator":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._server.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            request = client.recv(8, socket.MSG_WAITALL)
            while request == _GSS_REQUEST:
                client.sendall(b"N")
                request = client.recv(8, socket.MSG_WAITALL)
            if request != _SSL_REQUEST:
                return  # no session without encryption
            client.sendall(b"S")
            with (
                self._context.wrap_socket(client, server_side=True) as encrypted,
                socket.create_connection(("127.0.0.1", self._target)) as server,
            ):
                threading.Thread(target=_pass_on, args=(server, encrypted), daemon=True).start()
                _pass_on(encrypted, server)


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
