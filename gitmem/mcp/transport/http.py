"""Streamable HTTP at `/mcp/`, for clients that do not start a server themselves, and `/health` for monitoring.

Who may connect is decided by `http_auth`, where the server listens by `listening_socket`, how many and how long by
`http_limits`. Requests pass through these, from the outside to the inside:

    http_limits.LimitedConnection     connections, and the time for a request
    http_auth.RequestGuard            host, origin and token
    RequestBodyLimitMiddleware        size of a body
    http_sessions.SessionTable        state of the session
    StreamableHTTPSessionManager      protocol
"""

import logging
import socket
from collections.abc import AsyncIterator, Callable, Collection, Generator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import RequestBodyLimitMiddleware
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
from gitmem.mcp.transport.http_auth import HEALTH_PATH, TOKEN_VARIABLE, RequestGuard, read_token
from gitmem.mcp.transport.http_limits import BACKLOG, LimitedConnection
from gitmem.mcp.transport.http_log import OneLineHandler
from gitmem.mcp.transport.http_sessions import RETRY_MILLISECONDS, SessionEvents, SessionTable
from gitmem.mcp.transport.listening_socket import listen_on_port, listen_on_socket_file
from gitmem.mcp.transport.shutdown import Shutdown
from gitmem.resident.command_server import ServeCommands

LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")

_HTTP_PORT: Final = 80
"""Port that clients leave out of Host."""

# Bounds of the sessions that the SDK keeps in memory. A client that vanishes does not end its session.
MAX_SESSIONS: Final = 100
"""Open sessions; a further client gets the status 503 until one of them ends or expires."""
SESSION_IDLE_SECONDS: Final = 1800.0
"""Time without a request in progress or an open stream after which a session expires; then its id gets a 404."""

_GRACE_SECONDS: Final = 1
"""Time for requests in progress at the shutdown."""
EXIT_SECONDS: Final = 4.0
"""Time for the whole shutdown; then the process exits, even if a call hangs."""


def serve_http(
    folder: Path,
    environment: Mapping[str, str],
    tools: dict[str, Tool],
    *,
    host: str,
    port: int,
    path: str,
    announce: Callable[[str], None],
    serve_commands: ServeCommands,
) -> ExitCode:
    """Serve on a port, or on a Unix socket if `path` is given, until a signal ends the process.

    `announce` prints the address, and the token unless the user has chosen it, and later the problems. `serve_commands`
    starts to serve the commands of this user as well.

    Raises: UsageError if it cannot listen there, or if the user's token is too short.
    """
    token = "" if path else read_token(environment)
    listening = listen_on_socket_file(Path(path)) if path else listen_on_port(host, port)
    port = 0 if path else listening.getsockname()[1]
    handlers = ToolHandlers(folder, environment)
    app = make_app(handlers, tools, hosts=() if path else hosts_of((*LOOPBACK, host), port), token=token)

    def announce_address() -> None:
        announce(f"gitmem: serving {path or f'http://{_bracketed(host)}:{port}/mcp/'}")
        if token and TOKEN_VARIABLE not in environment:
            announce(f"gitmem: Authorization: Bearer {token}")

    command_server, shutdown = serve_commands(handlers.repositories), Shutdown(EXIT_SECONDS)
    try:
        run_until_signal(app, listening, announce, ready=announce_address, shutdown=shutdown)
    finally:
        command_server.close()
        handlers.close(_GRACE_SECONDS)
        if path:
            Path(path).unlink(missing_ok=True)
        shutdown.finish()
    return ExitCode.OK


def hosts_of(names: Collection[str], port: int) -> list[str]:
    """Return the valid values of Host for a server with some names and addresses that listens on a port."""
    hosts = [f"{_bracketed(name)}:{port}" for name in dict.fromkeys(names)]
    return [*hosts, *map(_bracketed, names)] if port == _HTTP_PORT else hosts


def run_until_signal(
    app: ASGIApp,
    listening: socket.socket,
    log: Callable[[str], None],
    *,
    ready: Callable[[], None],
    shutdown: Shutdown,
) -> None:
    """Serve an application on a socket until a signal asks for the end. Call from the main thread.

    `ready` is called as soon as signals are handled. The caller finishes the shutdown.
    """
    handler = OneLineHandler(log)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    server = _Server(_configuration(app))
    shutdown.add_callback(handler.mute)
    shutdown.add_callback(server.request_exit)
    shutdown.watch_signals()
    ready()
    server.run(sockets=[listening])
    shutdown.request()


def _configuration(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=LimitedConnection,
        backlog=BACKLOG,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        server_header=False,
        ws="none",
    )


class _Server(uvicorn.Server):
    """Server that leaves the signals to `Shutdown`, which ends the process even if the event loop is stuck."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield

    def request_exit(self) -> None:
        """End soon; may be called from any thread. The server looks at this flag ten times a second."""
        self.should_exit = True


def _bracketed(host: str) -> str:
    """Return a host as it is written in a URL."""
    return f"[{host}]" if ":" in host else host


def make_app(
    handlers: ToolHandlers,
    tools: dict[str, Tool],
    *,
    hosts: Collection[str],
    token: str,
    max_sessions: int = MAX_SESSIONS,
    session_seconds: float = SESSION_IDLE_SECONDS,
) -> ASGIApp:
    """Return the application. `hosts` and `token` are those of `RequestGuard`."""
    routes, run = mount_tools(handlers, tools, max_sessions=max_sessions, session_seconds=session_seconds)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with run():
            yield

    return RequestGuard(Starlette(routes=[Route(HEALTH_PATH, _health), *routes], lifespan=lifespan), hosts, token)


def mount_tools(
    handlers: ToolHandlers,
    tools: dict[str, Tool],
    *,
    max_sessions: int = MAX_SESSIONS,
    session_seconds: float = SESSION_IDLE_SECONDS,
) -> tuple[list[Route | Mount], Callable[[], AbstractAsyncContextManager[None]]]:
    """Return the routes of `/mcp/`, and the context in which they work."""
    max_body = max_message_bytes(tools)
    manager = StreamableHTTPSessionManager(
        make_server(handlers, tools),
        event_store=SessionEvents(),
        retry_interval=RETRY_MILLISECONDS,
        session_idle_timeout=session_seconds,
        max_request_body_size=max_body,
        max_sessions=max_sessions,
    )
    serve = RequestBodyLimitMiddleware(SessionTable(StreamableHTTPASGIApp(manager), max_sessions), max_body)
    # The mount serves `/mcp/`. Without the route, `/mcp` would be answered with a redirect.
    return [Route("/mcp", serve), Mount("/mcp", serve)], manager.run


async def _health(_request: Request) -> Response:
    return JSONResponse({"status": "ok", "version": __version__})
