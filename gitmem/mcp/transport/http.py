"""Streamable HTTP at `/mcp/`, for clients that do not start a server themselves, and `/health` for monitoring.

Who may connect is decided by `http_auth`, where the server listens by `listening_socket`.
"""

import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from gitmem import __version__
from gitmem.errors import ExitCode
from gitmem.mcp.server import make_server
from gitmem.mcp.tools.descriptions import Tool
from gitmem.mcp.tools.handlers import ToolHandlers
from gitmem.mcp.tools.toolsets import max_message_bytes
from gitmem.mcp.transport.http_auth import TOKEN_VARIABLE, RequestGuard, read_token
from gitmem.mcp.transport.listening_socket import listen_on_port, listen_on_socket_file

LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")

# Bounds of the sessions that the SDK keeps in memory. A client that vanishes does not end its session.
MAX_SESSIONS: Final = 100
"""Open sessions; a further client gets the status 503 until one of them ends or expires."""
SESSION_IDLE_SECONDS: Final = 1800.0
"""Time without a request in progress or an open stream after which a session expires; then its id gets a 404."""

_GRACE_SECONDS: Final = 1
"""Time for requests in progress at the shutdown."""


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
    """Serve on a port, or on a Unix socket if `path` is given, until a signal ends the process.

    `announce` prints the address, and the token unless the user has chosen it.

    Raises: UsageError if it cannot listen there, or if the user's token is too short.
    """
    token = "" if path else read_token(environment)
    listening = listen_on_socket_file(Path(path)) if path else listen_on_port(host, port)
    handlers = ToolHandlers(folder, environment)
    app = make_app(handlers, tools, hosts=() if path else (*LOOPBACK, host), token=token)
    config = uvicorn.Config(
        app, log_config=None, access_log=False, timeout_graceful_shutdown=_GRACE_SECONDS, server_header=False, ws="none"
    )
    address = path or f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}/mcp/"
    try:
        with suppress(KeyboardInterrupt):
            # uvicorn raises the signal that stopped it again after its shutdown; as an exception it ends the `with`.
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            announce(f"gitmem: serving {address}")
            if token and TOKEN_VARIABLE not in environment:
                announce(f"gitmem: Authorization: Bearer {token}")
            uvicorn.Server(config).run(sockets=[listening])
    finally:
        handlers.close(_GRACE_SECONDS)
        if path:
            Path(path).unlink(missing_ok=True)
    return ExitCode.OK


def make_app(handlers: ToolHandlers, tools: dict[str, Tool], *, hosts: tuple[str, ...], token: str) -> ASGIApp:
    """Return the application. `hosts` and `token` are those of `RequestGuard`."""
    manager = StreamableHTTPSessionManager(
        make_server(handlers, tools),
        session_idle_timeout=SESSION_IDLE_SECONDS,
        max_request_body_size=max_message_bytes(tools),
        max_sessions=MAX_SESSIONS,
    )
    serve = StreamableHTTPASGIApp(manager)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    # The mount serves `/mcp/`. Without the route, `/mcp` would be answered with a redirect.
    routes = [Route("/health", _health), Route("/mcp", serve), Mount("/mcp", serve)]
    return RequestGuard(Starlette(routes=routes, lifespan=lifespan), hosts, token)


async def _health(_request: Request) -> Response:
    return JSONResponse({"status": "ok", "version": __version__})
