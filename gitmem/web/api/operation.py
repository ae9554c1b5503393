"""One operation of the API: its address, the schemas of its arguments and of its answer, and the function behind it.

The schemas are those of OpenAPI 3.1, which are JSON Schema. Arguments use the keywords that
`gitmem.mcp.tools.arguments` knows, so that the API and the tools for agents check in the same way.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from gitmem.named_tuple import NamedTuple
from gitmem.registry import MAX_NAME
from gitmem.resident.call import Call
from gitmem.web.service import Service

Schema = Mapping[str, Any]
Arguments = Mapping[str, Any]
Handler = Callable[[Service, Arguments, Call], Any]

API: Final = "/api/v1"
GIVEN: Final = "given"
"""Key of the names of the arguments that a request has; all others have their defaults."""


# Short forms of schemas. `nullable` types follow JSON Schema 2020-12: a list of types.
TEXT: Final[Schema] = {"type": "string"}
INTEGER: Final[Schema] = {"type": "integer"}
COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
NUMBER: Final[Schema] = {"type": "number"}
BOOLEAN: Final[Schema] = {"type": "boolean", "default": False}
ANY: Final[Schema] = {}
NAME: Final[Schema] = {"type": "string", "description": "Name of a registered repository.", "maxLength": MAX_NAME}
MAX_TEXT: Final = 4096
"""Characters of an argument that has no limit of its own: paths, revisions, locations."""

MAX_BODY: Final = 1 << 20
"""Bytes of a body, unless the operation takes a longer text."""


class Operation(NamedTuple):
    """Operation of the API. `path` may contain `{repository}`; `query` and `body` are the other arguments by name."""

    method: str
    path: str
    name: str
    summary: str
    handler: Handler
    answer: Schema
    query: Mapping[str, Schema] = {}
    body: Mapping[str, Schema] | None = None
    required: tuple[str, ...] = ()
    status: int = 200
    max_body: int = MAX_BODY

    @property
    def has_repository(self) -> bool:
        """Whether the path names a repository."""
        return "{repository}" in self.path

    @property
    def arguments(self) -> Schema:
        """Schema of all arguments but the repository."""
        properties = {**self.query, **(self.body or {})}
        return {"type": "object", "properties": properties, "required": list(self.required)}


def text(description: str, *, most: int = MAX_TEXT, least: int = 0, default: str | None = None) -> Schema:
    """Return the schema of a string."""
    schema: dict[str, Any] = {"type": "string", "description": description, "maxLength": most}
    if least:
        schema["minLength"] = least
    return schema if default is None else {**schema, "default": default}


def texts(description: str, *, most: int = 100) -> Schema:
    """Return the schema of a list of strings."""
    return {"type": "array", "items": TEXT, "description": description, "maxItems": most}


def choice(description: str, values: tuple[str, ...], default: str = "") -> Schema:
    """Return the schema of one of some strings; an empty string stands for a missing one."""
    names = list(values) if default else ["", *values]
    return {"type": "string", "enum": names, "description": description, "default": default}


def number(description: str, least: int, most: int, default: int) -> Schema:
    """Return the schema of an integer in a range."""
    return {"type": "integer", "minimum": least, "maximum": most, "default": default, "description": description}


def record(**properties: Schema) -> Schema:
    """Return the schema of an object in an answer; all properties are required, others may follow in later versions."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def array(items: Schema) -> Schema:
    """Return the schema of a list in an answer."""
    return {"type": "array", "items": items}


def nullable(schema: Schema) -> Schema:
    """Return a schema that also allows null."""
    return {**schema, "type": [schema["type"], "null"]}
