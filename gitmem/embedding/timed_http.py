"""HTTP requests that end in time, and that never follow a redirect.

The timeout of a socket is for each read: a server that drips bytes, in the header or in the body, would never exceed
it. Here it is for the whole answer.
"""

import http.client
import io
import socket
import time
import urllib.request
from typing import Any


def build_opener(*, uses_proxy: bool) -> urllib.request.OpenerDirector:
    """Return an opener for http and https. A redirect is an error of it, because it would carry the request along."""
    # A proxy for the web must not get what is meant for a program on this machine.
    proxies = [] if uses_proxy else [urllib.request.ProxyHandler({})]
    return urllib.request.build_opener(_Http, _Https, _NoRedirects, *proxies)


class _TimedReader(io.RawIOBase):
    """Reader of a socket that raises TimeoutError at the end of the time that the socket had for one read."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket) -> None:
        self._raw, self._socket = raw, sock
        self._end = time.monotonic() + (sock.gettimeout() or 0.0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._socket.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _TimedResponse(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp = io.BufferedReader(_TimedReader(self.fp.detach(), sock))


class _Connection(http.client.HTTPConnection):
    response_class = _TimedResponse


class _SecureConnection(http.client.HTTPSConnection):
    response_class = _TimedResponse


class _Http(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Connection, req)


class _Https(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_SecureConnection, req)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Turns every redirect into an error."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None
