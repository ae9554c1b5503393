"""Routes of the page: views, forms, and the files of style and script."""

import hashlib
from collections.abc import Awaitable, Callable
from functools import cache
from importlib.resources import files
from typing import Final
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from gitmem.registry import check_name
from gitmem.resident.call import Call, CallCancelled
from gitmem.web.api.request_arguments import read_body
from gitmem.web.api.routes import CLIENT_GONE, OPERATIONS, Runner
from gitmem.web.errors import Problem, describe_error
from gitmem.web.page.file_view import file_page
from gitmem.web.page.memory_view import memory_page, record_page
from gitmem.web.page.report_view import report_page, session_page
from gitmem.web.page.repository_view import configuration_page, repositories_page, repository_page
from gitmem.web.page.search_view import results_fragment, search_page, similar_page
from gitmem.web.page.templates import render
from gitmem.web.page.view import Query, View, first, form_arguments
from gitmem.web.service import Service

_VIEWS: Final[dict[str, View]] = {
    "/": search_page,
    "/results": results_fragment,
    "/similar": similar_page,
    "/file": file_page,
    "/repositories": repositories_page,
    "/repository": repository_page,
    "/configuration": configuration_page,
    "/memory": memory_page,
    "/record": record_page,
    "/session": session_page,
    "/report": report_page,
}
_STATIC: Final = {"style.css": "text/css", "script.js": "text/javascript", "icon.svg": "image/svg+xml"}
_FORM: Final = "application/x-www-form-urlencoded"
_MAX_FIELDS: Final = 200
_SEE_OTHER: Final = 303

Endpoint = Callable[[Request], Awaitable[Response]]


def make_page_routes(runner: Runner) -> list[Route]:
    """Return the routes of the page."""
    views = [Route(path, _show(runner, view), methods=["GET"]) for path, view in _VIEWS.items()]
    forms = Route("/do/{operation}", _submit(runner), methods=["POST"])
    return [*views, forms, Route("/static/{name}", _send_file, methods=["GET"])]


def _show(runner: Runner, view: View) -> Endpoint:
    async def show(request: Request) -> Response:
        query = {name: request.query_params.getlist(name) for name in request.query_params}
        try:
            text, status = await runner.run(request, _rendered(view, query), {})
        except CallCancelled:
            return Response(status_code=CLIENT_GONE)
        except Exception as error:
            return _show_problem(describe_error(error))
        return _html(text, status)

    return show


def _rendered(view: View, query: Query) -> Callable[[Service, object, Call], tuple[str, int]]:
    """Return a function that makes a page as text. It runs in a thread, like the operations."""

    def make(service: Service, _arguments: object, call: Call) -> tuple[str, int]:
        # Rendering is part of the thread's work: highlighting a long file takes tens of milliseconds.
        page = view(service, query, call)
        return render(page.template, **page.values), page.status

    return make


def _submit(runner: Runner) -> Endpoint:
    """Run the operation of a form, and lead back to a page."""
    operations = {one.name: one for one in OPERATIONS if one.method != "GET"}

    async def submit(request: Request) -> Response:
        # The browser shows the page that a redirect leads to, so that reloading it submits nothing again.
        try:
            operation = operations.get(request.path_params["operation"])
            if operation is None:
                raise Problem(404, "not_found", "unknown form")
            query = await _read_form(request, operation.max_body)
            arguments = form_arguments(operation.arguments, query)
            if operation.has_repository:
                check_name(first(query, "repository"))
                arguments["repository"] = first(query, "repository")
            value = await runner.run(request, operation.handler, arguments)
        except CallCancelled:
            return Response(status_code=CLIENT_GONE)
        except Exception as error:
            return _show_problem(describe_error(error))
        target = first(query, "to", "/").replace("{id}", str(value.get("id", "")))
        return RedirectResponse(target if _is_own_path(target) else "/", _SEE_OTHER)

    return submit


async def _read_form(request: Request, most: int) -> Query:
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != _FORM:
        raise Problem(415, "invalid_argument", "the body must be a form")
    data = await read_body(request, most)
    try:
        form = parse_qs(data.decode("utf-8"), keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    except ValueError:
        raise Problem(400, "invalid_argument", "the form is not valid") from None
    # Browsers send the line ends of text fields as carriage return and line feed.
    return {name: [value.replace("\r\n", "\n") for value in values] for name, values in form.items()}


def _is_own_path(target: str) -> bool:
    # Browsers take `//host` and `/\host` for other servers, and ignore tabs and line feeds in an address.
    return target.startswith("/") and target[1:2] not in ("/", "\\") and target.isprintable()


def _show_problem(problem: Problem) -> Response:
    return _html(render("problem", problem=problem), problem.status)


def _html(text: str, status: int) -> Response:
    return Response(text.encode("utf-8", "replace"), status, media_type="text/html")


async def _send_file(request: Request) -> Response:
    # Only names of the table are served, so no path leads out of the folder.
    name = request.path_params["name"]
    if name not in _STATIC:
        return _show_problem(Problem(404, "not_found", "unknown file"))
    content, tag = _read_static(name)
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=_STATIC[name], headers=headers)


@cache
def _read_static(name: str) -> tuple[bytes, str]:
    content = (files("gitmem.web.page") / "static" / name).read_bytes()
    return content, f'"{hashlib.sha256(content).hexdigest()[:32]}"'
