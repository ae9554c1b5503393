"""Access control of the HTTP server: the Host and Origin headers, and the bearer token.

A port of this machine is open to every web page in its browser and to every user. Three checks keep them out:
  - Host must name this machine: a page whose name resolves to 127.0.0.1 (DNS rebinding) sends another name.
  - Origin, which browsers send, must be this machine: other sites are refused.
  - Authorization must carry the token: other users of this machine do not know it.
"""

import hmac
import secrets
from collections.abc import Mapping
from typing import Final

from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gitmem.errors import UsageError

TOKEN_VARIABLE: Final = "GITMEM_MCP_TOKEN"  # noqa: S105 (its name, not its value)
_MIN_TOKEN: Final = 16
_RANDOM_BYTES: Final = 24


class RequestGuard:
    """Refuses requests with a wrong host, origin or token before they reach the application.

    Without `hosts` neither host nor origin is checked, without a token nobody needs one. Both are empty for a socket
    file, which only its owner can open. `/health` needs no token.
    """

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...], token: str) -> None:
        self._app = app
        self._token = token.encode()
        names = [name for host in dict.fromkeys(hosts) for name in (host, f"{host}:*")]
        origins = [f"{scheme}://{name}" for scheme in ("http", "https") for name in names]
        settings = TransportSecuritySettings(
            enable_dns_rebinding_protection=bool(hosts), allowed_hosts=names, allowed_origins=origins
        )
        self._security = TransportSecurityMiddleware(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        refusal = await self._security.validate_request(request)
        if refusal is None and scope["path"] != "/health" and not self._has_token(request):
            refusal = Response("Unauthorized", 401, {"WWW-Authenticate": "Bearer"})
        await (self._app if refusal is None else refusal)(scope, receive, send)

    def _has_token(self, request: Request) -> bool:
        if not self._token:
            return True
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        # Compared in constant time: otherwise the time of an answer would reveal how many characters are right.
        return scheme.lower() == "bearer" and hmac.compare_digest(token.strip().encode(), self._token)


def read_token(environment: Mapping[str, str]) -> str:
    """Return the user's token, or a random one. Raises UsageError if the user's is too short."""
    token = environment.get(TOKEN_VARIABLE)
    if token is None:
        return secrets.token_urlsafe(_RANDOM_BYTES)
    if len(token.strip()) < _MIN_TOKEN:
        raise UsageError(
            f"`{TOKEN_VARIABLE}` is shorter than {_MIN_TOKEN} characters",
            hint=f"{TOKEN_VARIABLE}=$(openssl rand -hex 16)",
        )
    return token.strip()
