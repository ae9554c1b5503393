"""A page as a template with its values, and the arguments that views read from an address."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from gitmem.mcp.tools.arguments import check_arguments
from gitmem.named_tuple import NamedTuple
from gitmem.resident.call import Call
from gitmem.web.api.operation import GIVEN, Schema
from gitmem.web.service import Service

Query = Mapping[str, Sequence[str]]
"""Values of an address or a form by name."""

_BOOLEANS: Final = {"true": True, "on": True, "false": False}


class Page(NamedTuple):
    """Template and its values. A fragment is a part of a page, which the script replaces."""

    template: str
    values: Mapping[str, Any]
    status: int = 200


View = Callable[[Service, Query, Call], Page]


def first(query: Query, name: str, default: str = "") -> str:
    """Return the first value of a name."""
    values = query.get(name, ())
    return values[0] if values else default


def form_arguments(schema: Schema, query: Query) -> dict[str, Any]:
    """Return the checked arguments of a form. Empty fields count as missing, lists may be separated by commas or lines.

    Raises: UsageError.
    """
    fields: dict[str, Any] = {}
    for name, about in schema["properties"].items():
        values = [value for value in query.get(name, ()) if value.strip()]
        # The fields of an object have their names behind its own one.
        if about["type"] == "object":
            prefix = f"{name}."
            parts = {field.removeprefix(prefix): first(query, field) for field in query if field.startswith(prefix)}
            fields |= {name: {part: value for part, value in parts.items() if value.strip()}} if parts else {}
            continue
        # A form has one text field for a list; an empty one is an empty list, for example of the paths of a note.
        if about["type"] == "array":
            items = [item.strip() for value in values for item in value.replace("\n", ",").split(",")]
            fields |= {name: [item for item in items if item]} if name in query else {}
        elif values:
            fields[name] = _BOOLEANS.get(values[0], values[0]) if about["type"] == "boolean" else values[0]
    return {**check_arguments(schema, fields), GIVEN: frozenset(fields)}
