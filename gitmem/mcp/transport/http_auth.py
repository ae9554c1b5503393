"""Access control of the HTTP server: the Host and Origin headers, and the bearer token.

A port of this machine is open to every web page in its browser and to every user. Three checks keep them out:
  - Host must be this server: a page whose name resolves to 127.0.0.1 (DNS rebinding) sends another name.
  - Origin, which browsers send, must be this server: other sites are refused.
  - Authorization must carry the token: other users of this machine do not know it.

All three are compared as a whole. The SDK's own check accepts anything after the colon of a host, for example
`localhost:8008.example.org`.
"""

import hmac
import secrets
from collections.abc import Collection, Mapping
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gitmem.errors import UsageError

TOKEN_VARIABLE: Final = "GITMEM_MCP_TOKEN"  # noqa: S105 (its name, not its value)
HEALTH_PATH: Final = "/health"

_MIN_TOKEN: Final = 16
_RANDOM_BYTES: Final = 24

_TOKEN_NEEDED: Final = (
    "send the header `Authorization: Bearer TOKEN`; TOKEN is the one that `gitmem mcp --http` printed at its start, or "
    f"the value of {TOKEN_VARIABLE} in its environment"
)


class RequestGuard:
    """Refuses requests with a wrong host, origin or token before they reach the application.

    `hosts` are all valid values of Host. Without them neither host nor origin is checked, without a token nobody needs
    one. Both are empty for a socket file, which only its owner can open. Exactly `/health` needs no token.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str], token: str) -> None:
        self._app = app
        self._token = token
        self._hosts = frozenset(host.lower() for host in hosts)
        self._origins = origins_of(self._hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._find_refusal(Headers(scope=scope), scope["path"]) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _find_refusal(self, headers: Headers, path: str) -> Response | None:
        if self._hosts and not are_in(headers.getlist("host") or [""], self._hosts):
            return _refuse(421, "invalid_host", f"Host must be one of: {', '.join(sorted(self._hosts))}")
        if self._hosts and not are_in(headers.getlist("origin"), self._origins):
            return _refuse(403, "invalid_origin", "requests of other web sites are refused")
        if path != HEALTH_PATH and not has_token(headers, self._token):
            challenge = f'Bearer realm="gitmem", error="invalid_token", error_description="{_TOKEN_NEEDED}"'
            return _refuse(401, "invalid_token", _TOKEN_NEEDED, {"WWW-Authenticate": challenge})
        return None


def origins_of(hosts: Collection[str]) -> frozenset[str]:
    """Return the values of Origin of pages that a server with these values of Host has sent."""
    return frozenset(f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts)


def has_token(headers: Headers, expected: str) -> bool:
    """Return whether a request carries the token, or none is needed."""
    if not expected:
        return True
    scheme, _, token = headers.get("authorization", "").partition(" ")
    # Compared in constant time: otherwise the time of an answer would reveal how many characters are right.
    return scheme.lower() == "bearer" and hmac.compare_digest(token.strip().encode(), expected.encode())


def are_in(values: Collection[str], allowed: Collection[str]) -> bool:
    """Return whether all values of a header are allowed; case does not matter."""
    return all(value.lower() in allowed for value in values)


def _refuse(status: int, error: str, description: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return a refusal in the form of OAuth, which clients show to their users."""
    return JSONResponse({"error": error, "error_description": description}, status, headers)


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
