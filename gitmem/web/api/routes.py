"""Routes of the API: read the arguments, run the operation in a thread, send its value or its error."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from gitmem import __version__
from gitmem.registry import read_registry
from gitmem.resident.call import Call, CallCancelled
from gitmem.web.api import memory, reports, repositories, searching, structure
from gitmem.web.api.description import describe
from gitmem.web.api.operation import API, COUNT, TEXT, Arguments, Handler, Operation, array, record
from gitmem.web.api.request_arguments import read_arguments
from gitmem.web.errors import Problem, describe_error, problem_response
from gitmem.web.service import Service

Endpoint = Callable[[Request], Awaitable[Response]]
Describe = Callable[[Exception], Problem]
"""Returns an error in the form that clients expect."""

EVENT_STREAM: Final = "text/event-stream"
_STEP_SECONDS: Final = 0.25
"""Interval between two looks at a run; an event is sent only if something changed."""

_QUIET_STEPS: Final = 40
"""Looks without a change after which a comment is sent: a client that is gone is noticed by it."""

CLIENT_GONE: Final = 499
"""Status for the log; nobody reads it."""

MAX_THREADS: Final = 16
"""Operations that run at the same time; further ones wait."""


def server_status(service: Service, _arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Return version, number of repositories and the index runs of the server."""
    return {
        "status": "ok",
        "version": __version__,
        "repositories": len(read_registry(service.environment)),
        "runs": [job.as_json() for job in service.jobs.running()],
    }


def _describe_api(_service: Service, _arguments: Arguments, _call: Call) -> dict[str, Any]:
    return DESCRIPTION


def _no_handler(_service: Service, _arguments: Arguments, _call: Call) -> None:
    raise AssertionError("events are streamed")


EVENTS: Final = Operation(
    "GET", "/repositories/{repository}/events", "watchRepository",
    "Stream the progress of the index run as server-sent events, until the run ends.", _no_handler,
    {
        "type": "object", "x-media": EVENT_STREAM, "description": "Each event; `data` is a run as JSON, or null.",
        "properties": {
            "event": {"type": "string", "enum": ["progress", "end"]},
            "data": {"type": "string", "contentMediaType": "application/json"},
        },
    },
)  # fmt: skip
OPERATIONS: Final = (
    Operation(
        "GET", "/status", "serverStatus", "Show version and index runs of the server.", server_status,
        record(status=TEXT, version=TEXT, repositories=COUNT, runs=array(repositories.JOB)),
    ),
    Operation("GET", "/openapi.json", "describe", "Describe this API.", _describe_api, {"type": "object"}),
    *repositories.OPERATIONS,
    EVENTS,
    *searching.OPERATIONS,
    *structure.OPERATIONS,
    *memory.OPERATIONS,
    *reports.OPERATIONS,
)  # fmt: skip
DESCRIPTION: Final = describe([one._replace(path=API + one.path) for one in OPERATIONS])


class Runner:
    """Runs operations in threads."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._threads = anyio.CapacityLimiter(MAX_THREADS)

    async def run(self, request: Request, handler: Handler, arguments: Arguments) -> Any:
        """Return the value of an operation. It is cancelled if the client goes. Raises: as the handler."""
        call = Call(builds_index=False)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_cancel_without_client, request, call)
                # A cancelled request abandons the thread, which ends by itself at its next check of the call.
                value = await anyio.to_thread.run_sync(
                    handler, self.service, arguments, call, abandon_on_cancel=True, limiter=self._threads
                )
                tasks.cancel_scope.cancel()
        except BaseExceptionGroup as group:  # task groups raise even a single error in a group
            raise _first_error(group) from None
        finally:
            call.cancel()
        return value


async def _cancel_without_client(request: Request, call: Call) -> None:
    # The body has been read, so the next message that arrives is the end of the connection.
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            call.cancel()
            return


def make_routes(
    runner: Runner, operations: Sequence[Operation], prefix: str = API, describe_problem: Describe = describe_error
) -> list[Route]:
    """Return the routes of operations, one for each path: the answer to a wrong method names the right ones.

    `describe_problem` gives their errors a form.
    """
    endpoints: dict[str, dict[str, Endpoint]] = {}
    for operation in operations:
        endpoint = _stream(runner) if operation is EVENTS else _endpoint(runner, operation, describe_problem)
        endpoints.setdefault(prefix + operation.path, {})[operation.method] = endpoint
    return [Route(path, _by_method(methods), methods=list(methods)) for path, methods in endpoints.items()]


def _by_method(endpoints: Mapping[str, Endpoint]) -> Endpoint:
    """Return an endpoint that answers each method with its own."""
    if len(endpoints) == 1:
        return next(iter(endpoints.values()))

    async def answer(request: Request) -> Response:
        # HEAD is a GET whose body the server leaves out.
        return await endpoints["GET" if request.method == "HEAD" else request.method](request)

    return answer


def _endpoint(runner: Runner, operation: Operation, describe_problem: Describe) -> Endpoint:
    async def answer(request: Request) -> Response:
        try:
            arguments = await read_arguments(operation, request)
            value = await runner.run(request, operation.handler, arguments)
        except CallCancelled:
            return Response(status_code=CLIENT_GONE)
        except Exception as error:
            return problem_response(describe_problem(error))
        return JSONResponse(value, operation.status)

    return answer


def _first_error(error: BaseException) -> BaseException:
    """Return the error itself of a group of errors, as task groups raise them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _stream(runner: Runner) -> Endpoint:
    async def answer(request: Request) -> Response:
        try:
            arguments = await read_arguments(EVENTS, request)
            name = arguments["repository"]
            await runner.run(request, lambda service, _arguments, _call: service.known(name), arguments)
        except CallCancelled:
            return Response(status_code=CLIENT_GONE)
        except Exception as error:
            return problem_response(describe_error(error))
        return StreamingResponse(_events(runner.service, name), media_type=EVENT_STREAM)

    return answer


async def _events(service: Service, name: str) -> AsyncIterator[str]:
    """Yield an event for each change of a run, and `end` after the last one."""
    sent, quiet = "", 0
    while True:
        job = service.jobs.find(name)
        values = job.as_json() if job else None
        # The time passes without a change, which would make each look an event.
        progress = json.dumps(values and {key: value for key, value in values.items() if key != "seconds"})
        if progress != sent:
            sent, quiet = progress, 0
            yield f"event: progress\ndata: {json.dumps(values)}\n\n"
        if job is None or job.state != "running":
            yield f"event: end\ndata: {json.dumps(values)}\n\n"
            return
        quiet += 1
        if quiet % _QUIET_STEPS == 0:
            yield ": still running\n\n"
        await anyio.sleep(_STEP_SECONDS)
