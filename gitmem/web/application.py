"""The application: `/health`, `/metrics`, the API, the page, and the MCP server at `/mcp/`.

Requests pass through these, from the outside to the inside:

    http_limits.LimitedConnection     connections, and the time for a request
    activity.ActiveRequests           use of the server
    access.Guard                      host, origin, token or cookie; headers of every response
    routes                            the page, the API (with bounds on bodies), the MCP server
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import escape
from http import HTTPStatus
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from gitmem import __version__
from gitmem.actions.metrics import prometheus_text, read_all_metrics
from gitmem.mcp.tools.descriptions import Tool
from gitmem.mcp.tools.handlers import ToolHandlers
from gitmem.mcp.transport.http import mount_tools
from gitmem.mcp.transport.http_auth import HEALTH_PATH
from gitmem.resident.call import Call, CallCancelled
from gitmem.web.access import LOGIN_PATH, Access, Guard
from gitmem.web.activity import ActiveRequests, Activity
from gitmem.web.api.operation import Arguments
from gitmem.web.api.routes import CLIENT_GONE, OPERATIONS, Runner, make_routes
from gitmem.web.errors import Problem, describe_error, problem_response
from gitmem.web.older_routes import make_older_routes
from gitmem.web.page.routes import make_page_routes
from gitmem.web.service import Service

METRICS_PATH: Final = "/metrics"
"""Default path of Prometheus. Unlike `/health` it needs the token: it has the names of repositories."""

_PROMETHEUS: Final = "text/plain; version=0.0.4; charset=utf-8"
_CODES: Final = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}


def make_application(
    service: Service, handlers: ToolHandlers, tools: dict[str, Tool], access: Access, activity: Activity
) -> ASGIApp:
    """Return the application of `gitmem serve`."""
    # The tools share the open repositories with the API, so each index is open once.
    tool_routes, run_tools = mount_tools(handlers, tools)
    runner = Runner(service)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with run_tools():
            yield

    async def login(request: Request) -> Response:
        return _log_in(access, request)

    async def metrics(request: Request) -> Response:
        return await _metrics(runner, request)

    routes: list[Route | Mount] = [
        Route(HEALTH_PATH, _health),
        Route(LOGIN_PATH, login),
        Route(METRICS_PATH, metrics, methods=["GET"]),
        *make_routes(runner, OPERATIONS),
        *make_older_routes(runner),
        *make_page_routes(runner),
        *tool_routes,
    ]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _refuse, Exception: _fail})
    return ActiveRequests(Guard(app, access), activity)


async def _health(_request: Request) -> Response:
    return JSONResponse({"status": "ok", "version": __version__})


async def _metrics(runner: Runner, request: Request) -> Response:
    try:
        text = await runner.run(request, _metrics_text, {})
    except CallCancelled:
        return Response(status_code=CLIENT_GONE)
    except Exception as error:
        return problem_response(describe_error(error))
    return Response(text, media_type=_PROMETHEUS)


def _metrics_text(service: Service, _arguments: Arguments, _call: Call) -> str:
    return prometheus_text(read_all_metrics(service.environment))


def _log_in(access: Access, request: Request) -> Response:
    """Give the cookie to the browser that opens a one-time link, and lead it to the page."""
    page = access.links.redeem(request.query_params.get("code", ""))
    if page is None:
        return problem_response(
            Problem(403, "invalid_token", "this link was used already, or is too old", hint="gitmem open")
        )
    # No redirect: browsers would not send a strict cookie to it if a file or another program led to the link.
    text = _OPENING.format(page=escape(page, quote=True))
    response = Response(text, media_type="text/html")
    response.set_cookie(access.cookie_name, access.cookie, httponly=True, samesite="strict", path="/")
    return response


_OPENING: Final = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={page}"><title>gitmem</title>
<main><p><a href="{page}">Open gitmem</a></p></main></html>
"""


async def _refuse(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = _CODES.get(error.status_code, "failed")
    message = HTTPStatus(error.status_code).phrase.lower()
    response = problem_response(Problem(error.status_code, code, message))
    response.headers.update(error.headers or {})
    return response


async def _fail(_request: Request, error: Exception) -> Response:
    return problem_response(describe_error(error))
