"""The description of the API as an OpenAPI 3.1 document. Pure."""

from collections.abc import Sequence
from typing import Any, Final

from gitmem import __version__
from gitmem.registry import NAME_PATTERN
from gitmem.web.api.operation import NAME, TEXT, Operation, Schema, record
from gitmem.web.errors import CODES

_ERROR: Final = {
    **record(error=record(code={"type": "string", "enum": sorted(CODES)}, message=TEXT, details={"type": "object"})),
    "description": "What went wrong. `details.hint` names the remedy.",
}
_ERRORS: Final = {
    "400": "An argument is invalid.",
    "401": "The token is missing or wrong.",
    "403": "The request comes from another web site.",
    "404": "The repository, revision or record does not exist.",
    "409": "The state of the repository does not allow this: no index, or another run.",
    "413": "The body is too large.",
    "415": "The body is not JSON.",
    "421": "Host is not this server.",
    "500": "The operation failed.",
    "503": "Too many connections.",
}


def describe(operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the description of some operations."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _describe_operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "gitmem",
            "version": __version__,
            "description": "Search the repositories of one user, and read and write their memory.",
        },
        "paths": paths,
        "components": {
            "schemas": {"Error": _ERROR},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _describe_operation(operation: Operation) -> dict[str, Any]:
    # Lists are given by repeating the name, which is the default of OpenAPI (`form`, exploded).
    parameters = [
        {
            "name": name,
            "in": "query",
            "required": name in operation.required,
            "description": schema.get("description", ""),
            "schema": _without_description(schema),
        }
        for name, schema in operation.query.items()
    ]
    if operation.has_repository:
        name = {**NAME, "pattern": f"^{NAME_PATTERN}$"}
        parameters.insert(0, {"name": "repository", "in": "path", "required": True, "schema": name})
    media = operation.answer.get("x-media", "application/json")
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": parameters,
        "responses": {
            str(operation.status): {
                "description": "Success.",
                "content": {media: {"schema": {k: v for k, v in operation.answer.items() if k != "x-media"}}},
            },
            **{code: _describe_error(text) for code, text in _ERRORS.items()},
        },
    }
    if operation.body is not None:
        described["requestBody"] = _describe_body(operation)
    return described


def _describe_body(operation: Operation) -> dict[str, Any]:
    assert operation.body is not None
    required = [name for name in operation.required if name in operation.body]
    schema = {
        "type": "object",
        "properties": operation.body,
        "required": required,
        "additionalProperties": False,
    }
    # Unknown names are refused, so the schema says so.
    return {"required": bool(required), "content": {"application/json": {"schema": schema}}}


def _describe_error(text: str) -> dict[str, Any]:
    return {
        "description": text,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }


def _without_description(schema: Schema) -> Schema:
    return {name: value for name, value in schema.items() if name != "description"}
