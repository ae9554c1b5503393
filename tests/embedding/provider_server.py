"""Loopback server that speaks the embedding formats of OpenAI and Ollama, from their published API descriptions.

Each request is answered by the next of `script`, then normally. An answer is made from the request's own texts.
"""

import json
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Received(NamedTuple):
    """Request as the server got it."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class Reply(NamedTuple):
    """Answer of the server. `length` is the announced length, if it differs from that of the body."""

    status: int = 200
    body: bytes = b"{}"
    headers: tuple[tuple[str, str], ...] = ()
    length: int | None = None


Script = Callable[[Received, "ProviderServer"], Reply]


class ProviderServer:
    """Server with the requests it got. `texts` are all embedded texts, in order."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.script: list[Script] = []
        self.always: Script | None = None
        self.received: list[Received] = []
        self.url = ""

    @property
    def texts(self) -> list[str]:
        return [text for request in self.received for text in request.body["input"]]

    def reply(self, request: Received) -> Reply:
        self.received.append(request)
        if self.script:
            return self.script.pop(0)(request, self)
        return self.always(request, self) if self.always else normal(request, self)


def vector_of(text: str, dimensions: int) -> list[float]:
    """Return the sum of a random vector for each word: texts that share words are similar."""
    words = "".join(letter if letter.isalnum() else " " for letter in text.lower()).split() or ["empty"]
    return [float(number) for number in np.sum([_vector_of_word(word, dimensions) for word in words], axis=0)]


@lru_cache(1 << 14)
def _vector_of_word(word: str, dimensions: int) -> NDArray[np.float64]:
    return np.random.default_rng(zlib.crc32(word.encode())).standard_normal(dimensions)


def normal(request: Received, server: ProviderServer) -> Reply:
    """Answer as the API of the path does; OpenAI's list comes in reverse, since each item has its index."""
    vectors = [vector_of(text, request.body.get("dimensions", server.dimensions)) for text in request.body["input"]]
    if request.path.endswith("/api/embed"):
        return Reply(body=json.dumps({"model": request.body["model"], "embeddings": vectors}).encode())
    data = [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(vectors)]
    answer = {"object": "list", "data": data[::-1], "model": request.body["model"], "usage": {"total_tokens": 1}}
    return Reply(body=json.dumps(answer).encode())


def error(status: int, message: str = "no", *headers: tuple[str, str], code: str | None = None) -> Script:
    """Return an answer with an error in OpenAI's format."""
    body = json.dumps({"error": {"message": message, "type": "error", "param": None, "code": code}}).encode()
    return lambda _request, _server: Reply(status, body, headers)


def cut(request: Received, server: ProviderServer) -> Reply:
    """Announce the whole answer, and send half of it."""
    whole = normal(request, server).body
    return Reply(body=whole[: len(whole) // 2], length=len(whole))


def raw(body: bytes) -> Script:
    """Return an answer with any body."""
    return lambda _request, _server: Reply(body=body)


@contextmanager
def provider_server(dimensions: int = 48) -> Iterator[ProviderServer]:
    """Serve on a free port of the loopback."""
    server = ProviderServer(dimensions)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply = server.reply(Received(self.path, dict(self.headers), body))
            self.send_response(reply.status)
            for name, value in reply.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body) if reply.length is None else reply.length))
            self.end_headers()
            with suppress(BrokenPipeError, ConnectionResetError):  # a client that did not wait has gone
                self.wfile.write(reply.body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    server.url = f"http://127.0.0.1:{web.server_address[1]}"
    try:
        yield server
    finally:
        web.shutdown()
        web.server_close()
        thread.join()


@contextmanager
def dripping_server(part: str) -> Iterator[str]:
    """Serve an answer whose header or body comes byte by byte and never ends; yield its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection, suppress(OSError):  # the client does not wait for the end
                start = b"HTTP/1.1 200 OK\r\nX-Long: "
                connection.sendall(start if part == "header" else start + b"1\r\nContent-Length: 1000000\r\n\r\n")
                while True:
                    connection.sendall(b"1")
                    time.sleep(0.01)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
