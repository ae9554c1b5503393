"""Streamable HTTP at `/mcp/`, for clients that do not start servers themselves, and `/health` for who looks after it.

Whoever asks must name this host, come from no other site, and carry the token; on a socket that only its owner can open
none of this is asked.
"""

import hmac
import os
import secrets
import signal
import socket
import stat
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from gitmem import __version__
from gitmem.errors import ExitCode, UsageError
from gitmem.mcp.server import make_server
from gitmem.mcp.tools.descriptions import Tool
from gitmem.mcp.tools.handlers import ToolHandlers
from gitmem.mcp.tools.toolsets import max_message_bytes

TOKEN_VARIABLE: Final = "GITMEM_MCP_TOKEN"  # noqa: S105 (its name, not its value)
LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
MOST_SESSIONS: Final = 100
IDLE_SECONDS: Final = 1800.0
_GRACE_SECONDS: Final = 1
_LEAST_TOKEN: Final = 16


def serve_http(
    folder: Path,
    environment: Mapping[str, str],
    tools: dict[str, Tool],
    *,
    host: str,
    port: int,
    path: str,
    announce: Callable[[str], None],
) -> ExitCode:
    """Serve until a signal asks to end; on a Unix socket where `path` names one. Returns the exit code.

    `announce` is told where, and with which token if the user has not chosen one.
    Raises UsageError where it cannot listen there.
    """
    token = "" if path else _read_token(environment)
    listening = _listen_locally(Path(path)) if path else _listen(host, port)
    desk = ToolHandlers(folder, environment)
    app = make_app(desk, tools, hosts=() if path else (*LOOPBACK, host), token=token)
    config = uvicorn.Config(
        app, log_config=None, access_log=False, timeout_graceful_shutdown=_GRACE_SECONDS, server_header=False, ws="none"
    )
    place = path or f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}/mcp/"
    try:
        with suppress(KeyboardInterrupt):
            signal.signal(signal.SIGTERM, signal.default_int_handler)  # raised again by uvicorn once it has ended
            announce(f"gitmem: serving {place}")
            if token and TOKEN_VARIABLE not in environment:
                announce(f"gitmem: Authorization: Bearer {token}")
            uvicorn.Server(config).run(sockets=[listening])
    finally:
        desk.close(_GRACE_SECONDS)
        if path:
            Path(path).unlink(missing_ok=True)
    return ExitCode.OK


def make_app(desk: ToolHandlers, tools: dict[str, Tool], *, hosts: tuple[str, ...], token: str) -> ASGIApp:
    """The application. Without `hosts` any name of this host is good, without a token nobody needs one."""
    manager = StreamableHTTPSessionManager(
        make_server(desk, tools),
        session_idle_timeout=IDLE_SECONDS,
        max_request_body_size=max_message_bytes(tools),
        max_sessions=MOST_SESSIONS,
    )
    serve = StreamableHTTPASGIApp(manager)

    @asynccontextmanager
    async def live(_app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    routes = [Route("/health", _health), Route("/mcp", serve), Mount("/mcp", serve)]
    return RequestGuard(Starlette(routes=routes, lifespan=live), hosts, token)


async def _health(_request: Request) -> Response:
    return JSONResponse({"status": "ok", "version": __version__})


class RequestGuard:
    """Lets requests through that name this host, come from no other site and carry the token."""

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
        refused = await self._security.validate_request(request)
        if refused is None and scope["path"] != "/health" and not self._has_token(request):
            refused = Response("Unauthorized", 401, {"WWW-Authenticate": "Bearer"})
        await (self._app if refused is None else refused)(scope, receive, send)

    def _has_token(self, request: Request) -> bool:
        if not self._token:
            return True
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self._token)


def _read_token(environment: Mapping[str, str]) -> str:
    """The token asked for: the user's own, or a new one. Raises UsageError."""
    token = environment.get(TOKEN_VARIABLE)
    if token is None:
        return secrets.token_urlsafe(24)
    if len(token.strip()) < _LEAST_TOKEN:
        raise UsageError(
            f"`{TOKEN_VARIABLE}` is shorter than {_LEAST_TOKEN} characters",
            hint=f"{TOKEN_VARIABLE}=$(openssl rand -hex 16)",
        )
    return token.strip()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as problem:
        raise UsageError(
            f"cannot listen on {host} port {port}: {problem}", hint="gitmem mcp --http --port 0"
        ) from problem


def _listen_locally(path: Path) -> socket.socket:
    """A socket file that nobody but this user can open. One that is left over from a dead server is replaced."""
    listening = socket.socket(socket.AF_UNIX)
    try:
        if _is_left_over(path):
            path.unlink()
        before = os.umask(0o177)
        try:
            listening.bind(str(path))
        finally:
            os.umask(before)
        listening.listen()
    except OSError as problem:
        listening.close()
        raise UsageError(f"cannot listen on {path}: {problem.strerror or problem}") from problem
    return listening


def _is_left_over(path: Path) -> bool:
    """Whether a socket of this user stands there that nobody listens on."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.geteuid():
        return False
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) != 0
