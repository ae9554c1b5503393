"""Read the arguments of a request strictly: every name must be known, every value of its type and within its bounds."""

import json
from collections.abc import Mapping
from typing import Any, Final

from starlette.requests import Request

from gitmem.mcp.tools.arguments import check_arguments
from gitmem.registry import check_name
from gitmem.web.api.operation import GIVEN, Arguments, Operation, Schema
from gitmem.web.errors import Problem

JSON_TYPE: Final = "application/json"
_BOOLEANS: Final = {"true": True, "false": False}


async def read_arguments(operation: Operation, request: Request) -> Arguments:
    """Return the checked arguments of a request, `repository` of the path among them.

    Raises: Problem, UsageError.
    """
    values = _read_query(operation.query, request)
    if operation.body is not None:
        values |= await _read_body(operation, request)
    arguments = {**check_arguments(operation.arguments, values), GIVEN: frozenset(values)}
    arguments |= request.path_params
    if operation.has_repository:
        # The name is checked here, as a path parameter may hold anything: slashes, dots, control characters.
        name = request.path_params["repository"]
        check_name(name)
    return arguments


def _read_query(schemas: Mapping[str, Schema], request: Request) -> dict[str, Any]:
    values_by_name: dict[str, Any] = {}
    for name in request.query_params:
        values = request.query_params.getlist(name)
        schema = schemas.get(name)
        # An unknown name is refused later, with a suggestion. Names of the body do not belong into the address.
        if schema is not None and schema["type"] == "array":
            values_by_name[name] = values
        elif len(values) > 1:
            raise Problem(400, "invalid_argument", f"`{name[:80]}` is given {len(values)} times")
        elif schema is None:
            raise Problem(400, "invalid_argument", f"unknown argument `{name[:80]}`", hint=_list(schemas))
        else:
            values_by_name[name] = _BOOLEANS.get(values[0], values[0]) if schema["type"] == "boolean" else values[0]
    return values_by_name


async def read_body(request: Request, most: int) -> bytes:
    """Return the body of a request; of a larger one only the start is read. Raises: Problem."""
    # Read part by part: the length that a client announces need not be true, and may be missing.
    parts, size = [], 0
    async for part in request.stream():
        parts.append(part)
        size += len(part)
        if size > most:
            raise Problem(413, "too_large", f"the body has more than {most:,} bytes", details={"most": most})
    return b"".join(parts)


async def _read_body(operation: Operation, request: Request) -> dict[str, Any]:
    assert operation.body is not None
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    data = await read_body(request, operation.max_body)
    if not data and not operation.required:
        return {}
    if content_type != JSON_TYPE:
        raise Problem(415, "invalid_argument", f"the body must be `{JSON_TYPE}`")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise Problem(400, "invalid_argument", "the body is not valid JSON") from None
    if not isinstance(value, dict):
        raise Problem(400, "invalid_argument", "the body must be a JSON object")
    unknown = next((name for name in value if name not in operation.body), None)
    if unknown is not None:
        raise Problem(400, "invalid_argument", f"unknown argument `{unknown[:80]!a}`", hint=_list(operation.body))
    return value


def _list(schemas: Mapping[str, Schema]) -> str:
    return "arguments: " + ", ".join(schemas) if schemas else "this operation has no arguments"
