"""Calls of the tools of a server, in any order and with any arguments."""

import hashlib
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import MCPError
from mcp.client.client import Client

from gitmem.mcp.tools.arguments import check_arguments
from gitmem.mcp.tools.handlers import ToolHandlers
from gitmem.mcp.tools.tool_call import ToolCall
from gitmem.mcp.tools.toolsets import TOOLSETS, parse_toolsets
from gitmem.paths import bundled
from tests.gitrepo import Repo
from tests.mcp.clients import refused, talk

ALL: Final = ",".join(TOOLSETS)
TOOLS: Final = parse_toolsets(ALL)
GOOD: Final[dict[str, dict[str, Any]]] = {
    "search": {"query": "sign the cookie"},
    "related": {"location": "src/cookies.py:7"},
    "usages": {"name": "sign"},
    "map": {},
    "impact": {},
    "get": {"ids": ["src/cookies.py"]},
    "when": {"location": "src/cookies.py:7"},
    "changes": {"range": "HEAD~1..HEAD"},
    "search_history": {"query": "sign the cookie"},
    "bisect_hint": {"symptom": "the cookie is not signed", "range": "HEAD~1..HEAD"},
    "status": {},
    "list": {},
    "memory_store": {"content": "Keys rotate weekly."},
    "conversation_append": {"conversation": "plan", "role": "user", "content": "why"},
    "delete": {"ids": ["mem_00000000"]},
    "document_ingest": {"content": "A page."},
    "index_update": {},
    "index_cancel": {},
    "config_reload": {},
    "manager": {},
    "report_create": {"variables": {"query": "why", "overall_summary": "because", "sections": []}},
}
"""Arguments of each tool that its schema allows."""

WRONG: Final = {"integer": -7, "boolean": True, "object": {"a": 1}, "array": [1, {}], "string": "nul\0"}
"""A value of each type of JSON; those of the last two are wrong for arguments of these types too."""

many = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


class BadCall(NamedTuple):
    """Call of a tool with arguments that its schema does not allow."""

    tool: str
    arguments: dict[str, Any]


@st.composite
def bad_calls(draw: st.DrawFn) -> BadCall:
    """Spoil the arguments of one tool: one unknown, one missing, or one with a value that is not allowed."""
    name = draw(st.sampled_from(sorted(TOOLS)))
    schema, good = TOOLS[name].schema, GOOD[name]
    faults: list[dict[str, Any]] = [{**good, "unknown": "value"}]
    faults += [{key: value for key, value in good.items() if key != missing} for missing in schema.get("required", ())]
    for key, about in schema["properties"].items():
        faults += [{**good, key: value} for value in wrong_values(about)]
    return BadCall(name, draw(st.sampled_from(faults)))


def wrong_values(about: dict[str, Any]) -> Iterator[Any]:
    """Yield values that the schema of an argument does not allow."""
    if "enum" in about:
        yield from ("", "unknown", 7, ["text"])
        return
    allowed = {about["type"], "integer"} if about["type"] == "number" else {about["type"]}
    yield from (value for kind, value in WRONG.items() if kind not in allowed - {"array", "string"})
    if "maximum" in about:
        yield about["maximum"] + 1
        yield about["minimum"] - 1
    if "maxItems" in about:
        yield ["x"] * (about["maxItems"] + 1)
    if "maxLength" in about:
        yield "x" * (about["maxLength"] + 1)
    if about.get("minLength"):
        yield " \n"


def state_of(repo: Repo) -> str:
    """Return a hash of the index and of all references."""
    state = hashlib.sha256(repo.git("for-each-ref").encode())
    for file in sorted((repo.path / ".gitmem").rglob("*")):
        state.update(str(file).encode() + (file.read_bytes() if file.is_file() else b""))
    return state.hexdigest()


@many
@given(call=bad_calls())
def test_arguments_outside_the_schema_are_refused_and_change_nothing(own: Repo, call: BadCall) -> None:
    """Property 25: MCP input."""
    before = state_of(own)

    async def action(client: Client) -> None:
        assert await refused(client, call.tool, **call.arguments)

    talk(own.path, action, ALL)
    assert state_of(own) == before


FAILING: Final[tuple[tuple[str, dict[str, Any], str], ...]] = (
    ("search", {"query": "x", "rev": "unknown"}, "unknown_revision"),
    ("search", {"query": "x", "language": ["klingon"]}, "invalid_argument"),
    ("search", {"query": "x", "limit": 50_000}, "invalid_argument"),
    ("get", {"ids": ["mem_000000000000"]}, "unknown_record"),
    ("get", {"ids": ["src/missing.py"]}, "invalid_argument"),
    ("changes", {"range": "v1..unknown"}, "unknown_revision"),
    ("delete", {"ids": ["mem_000000000000"]}, "unknown_record"),
    ("report_create", {"variables": {}, "session_ids": ["search_00000000"]}, "unknown_record"),
    ("report_create", {"variables": {}, "template": "unknown"}, "invalid_argument"),
    ("related", {"location": "src/missing.py:1"}, "invalid_argument"),
)
"""Calls that their schemas allow and that fail, with the code of the error."""

failing = st.one_of(
    bad_calls().map(lambda call: (call.tool, call.arguments, "invalid_argument")),
    st.sampled_from(FAILING),
    st.from_regex(r"[a-z_]{1,12}", fullmatch=True).map(lambda name: (f"no_{name}", {}, "")),
)


@many
@given(call=failing)
def test_a_failing_call_says_what_failed_and_the_next_one_works(own: Repo, call: tuple[str, Any, str]) -> None:
    """Property 37: MCP error form."""
    tool, arguments, code = call

    async def action(client: Client) -> None:
        if code:
            result = await client.call_tool(tool, arguments)
            assert result.is_error
            assert result.structured_content is not None
            error = result.structured_content["error"]
            assert (error["code"], error["retryable"]) == (code, False)
            assert error["message"]
            assert str(result.content[0].text).startswith(error["message"])  # type: ignore[union-attr]
        else:
            with pytest.raises(MCPError) as caught:
                await client.call_tool(tool, arguments)
            assert isinstance(caught.value.error.code, int)
            assert tool in caught.value.error.message
        assert not (await client.call_tool("status", {})).is_error

    talk(own.path, action, ALL)


opened: list[str] = []
"""Files of the model that this process has opened, while a test records them."""


def record_opened(event: str, arguments: Any) -> None:
    """Record the files of the model that are opened; an audit hook of Python."""
    if event == "open" and str(arguments[0]).startswith(str(bundled("models"))):
        opened.append(str(arguments[0]).rpartition("/")[2])


sys.addaudithook(record_opened)

calls = st.lists(st.sampled_from(["search", "related", "get", "status"]), min_size=1, max_size=6)


@many
@given(rounds=st.lists(calls, min_size=1, max_size=2))
def test_a_server_loads_the_model_once_however_many_calls_come_at_once(indexed: Repo, rounds: list[list[str]]) -> None:
    """Property 27: Model once."""
    handlers = ToolHandlers(indexed.path, {})
    opened.clear()

    def serve(name: str) -> str:
        return handlers.handle(name, check_arguments(TOOLS[name].schema, GOOD[name]), ToolCall(lambda *_: None))

    with ThreadPoolExecutor(max_workers=6) as threads:
        for names in rounds:
            assert all(threads.map(serve, names))
    handlers.close(5)
    assert opened.count("model.onnx") == any("search" in names for names in rounds)
