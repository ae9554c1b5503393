"""Schemas of the tools: every provider of models accepts them, and they cost few tokens.

The providers' packages define some thousand classes, which take longer to load than all other modules of the suite.
So they are imported in the one test that needs them.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import TypeAdapter

from gitmem.mcp.tools.descriptions import Tool
from gitmem.mcp.tools.toolsets import DEFAULT, TOOLSETS, parse_toolsets
from tests.bench.token_cost import load_counter

ALL = parse_toolsets(",".join(TOOLSETS))
MAX_LISTING = 1800
"""Tokens of the default tools."""

PLAIN = {"type", "description", "enum", "default", "items", "properties", "required"}
BOUNDS = {f"{bound}{of}" for bound in ("min", "max") for of in ("imum", "Length", "Items", "Properties")}


def parts_of(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a schema and all schemas in it."""
    yield schema
    for part in [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]:
        yield from parts_of(part)


every_tool = pytest.mark.parametrize("tool", ALL.values(), ids=list(ALL))


@every_tool
def test_a_schema_is_plain(tool: Tool) -> None:
    for part in parts_of(tool.schema):
        assert part["type"] in {"object", "array", "string", "integer", "number", "boolean"}  # one type, no list
        assert part.keys() <= PLAIN | BOUNDS
        assert "items" in part or part["type"] != "array"


def test_geminis_client_accepts_every_tool() -> None:
    from google.genai.types import FunctionDeclaration, Type

    for tool in ALL.values():
        made = FunctionDeclaration(name=tool.name, description=tool.description, parameters=tool.schema)  # type: ignore[arg-type]
        assert made.parameters is not None
        assert made.parameters.properties is not None
        assert made.parameters.required == tool.schema.get("required")
        for name, about in tool.schema["properties"].items():
            assert made.parameters.properties[name].type == Type(about["type"].upper())
            assert made.parameters.properties[name].enum == about.get("enum")


def test_openais_client_accepts_every_tool() -> None:
    from openai.types.shared import FunctionDefinition

    for tool in ALL.values():
        made = FunctionDefinition(name=tool.name, description=tool.description, parameters=tool.schema)
        assert made.parameters == tool.schema


def test_anthropics_client_accepts_every_tool() -> None:
    from anthropic.types import ToolParam

    for tool in ALL.values():
        entry = {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
        assert TypeAdapter(ToolParam).validate_python(entry)["input_schema"] == tool.schema


@every_tool
def test_a_tool_has_a_title_of_its_own(tool: Tool) -> None:
    assert tool.to_json()["title"] == tool.title
    assert tool.title
    assert sum(other.title == tool.title for other in ALL.values()) == 1


def test_the_default_tools_cost_few_tokens() -> None:
    listing = json.dumps([tool.to_json() for tool in parse_toolsets(DEFAULT).values()], separators=(",", ":"))
    assert load_counter()(listing) <= MAX_LISTING
