"""Who may use the server: the programs that know its token, and the browser that opened a one-time link.

`gitmem.mcp.transport.http_auth` explains why Host and Origin are checked. A page adds a cookie, which browsers send
without being asked, also for other programs' pages on other ports of this machine: ports do not separate sites. So a
request with the cookie alone must come from this page: browsers say so in `Sec-Fetch-Site`, and in the Origin of
every request that changes something.
"""

import hmac
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Collection
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gitmem.mcp.transport.http_auth import HEALTH_PATH, are_in, has_token, origins_of
from gitmem.web.errors import Problem, problem_response

LOGIN_PATH: Final = "/login"
LINK_SECONDS: Final = 300.0
"""Time in which a one-time link must be opened."""

_MAX_LINKS: Final = 16
_RANDOM_BYTES: Final = 24
_SAFE_METHODS: Final = frozenset({"GET", "HEAD"})
_OWN_SITE: Final = frozenset({"same-origin", "none"})
"""Values of `Sec-Fetch-Site` of this page, and of an address that the user typed."""

_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not `no-referrer`: with that, browsers send `Origin: null` for the page's own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}

_NO_TOKEN: Final = Problem(
    401,
    "invalid_token",
    "this server answers only to its user",
    hint="open the page with `gitmem open`; programs send the header `Authorization: Bearer TOKEN`",
)


class OneTimeLinks:
    """Codes that each open the page once, with the page that they lead to. May be used from any thread."""

    def __init__(self) -> None:
        self._links: OrderedDict[str, tuple[float, str]] = OrderedDict()
        self._lock = threading.Lock()

    def create(self, page: str) -> str:
        """Return a new code. Of many unused ones, the oldest is forgotten."""
        code = secrets.token_urlsafe(_RANDOM_BYTES)
        with self._lock:
            self._links[code] = (time.monotonic() + LINK_SECONDS, page)
            if len(self._links) > _MAX_LINKS:
                self._links.popitem(last=False)
        return code

    def redeem(self, code: str) -> str | None:
        """Return the page of a code and forget it; None if it is unknown, used or too old."""
        # Removed first: of two requests with the same code, one gets the page.
        with self._lock:
            deadline, page = self._links.pop(code, (0.0, ""))
        return page if time.monotonic() < deadline else None


class Access:
    """Secrets of one server, made at its start. Without a token nobody needs one: for a socket file of the user."""

    def __init__(self, hosts: Collection[str], token: str, port: int = 0) -> None:
        self.hosts = frozenset(host.lower() for host in hosts)
        self.origins = origins_of(self.hosts)
        self.token = token
        self.links = OneTimeLinks()
        # Cookies are shared by all ports of a host, so the name tells the servers of several users apart.
        self.cookie_name = f"gitmem-{port}"
        self.cookie = secrets.token_urlsafe(_RANDOM_BYTES)

    def find_refusal(self, method: str, path: str, headers: Headers) -> Problem | None:
        """Return why a request is refused, None if it is not."""
        if self.hosts and not are_in(headers.getlist("host") or [""], self.hosts):
            return Problem(421, "invalid_host", f"Host must be one of: {', '.join(sorted(self.hosts))}")
        if self.hosts and not are_in(headers.getlist("origin"), self.origins):
            return Problem(403, "invalid_origin", "requests of other web sites are refused")
        if path in (HEALTH_PATH, LOGIN_PATH) or has_token(headers, self.token):
            return None
        if not self._has_cookie(headers):
            return _NO_TOKEN
        return self._find_foreign_page(method, headers)

    def _has_cookie(self, headers: Headers) -> bool:
        value = cookie_parser("; ".join(headers.getlist("cookie"))).get(self.cookie_name, "")
        # Compared in constant time, like the token.
        return hmac.compare_digest(value.encode("utf-8", "replace"), self.cookie.encode())

    def _find_foreign_page(self, method: str, headers: Headers) -> Problem | None:
        """Return the refusal of a request that has the cookie, but comes from another page."""
        # Programs and old browsers send no such header; for them the cookie's SameSite and the Origin remain.
        site = headers.get("sec-fetch-site", "none")
        is_navigation = method in _SAFE_METHODS and headers.get("sec-fetch-mode") == "navigate"
        if site not in _OWN_SITE and not is_navigation:
            return Problem(403, "invalid_origin", "requests of other web sites are refused")
        if method not in _SAFE_METHODS and "origin" not in headers:
            return Problem(403, "invalid_origin", "a request with the cookie that changes something needs an Origin")
        return None


class Guard:
    """Application around another one that refuses requests, and adds the headers that protect a page."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def protect(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        refusal = self._access.find_refusal(scope["method"], scope["path"], headers)
        response = self._respond(refusal, headers) if refusal else None
        await (response or self._app)(scope, receive, protect)

    def _respond(self, refusal: Problem, headers: Headers) -> Response:
        if refusal.status == _NO_TOKEN.status and "text/html" in headers.get("accept", ""):
            return Response(_UNKNOWN_BROWSER, refusal.status, media_type="text/html")
        response = problem_response(refusal)
        if refusal.status == _NO_TOKEN.status:
            # The form that RFC 6750 asks for, which clients of `/mcp/` read.
            response.headers["WWW-Authenticate"] = 'Bearer realm="gitmem", error="invalid_token"'
        return response


_UNKNOWN_BROWSER: Final = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>gitmem: open this page from your shell</title>
<main><h1>Open this page from your shell</h1>
<p>This server answers only to the user who started it. Run <code>gitmem open</code>: it prints a link that works once,
and opens it.</p></main></html>
"""
