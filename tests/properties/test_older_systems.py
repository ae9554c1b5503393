"""Calls of the tools of older systems with any arguments."""

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import validate

from gitmem.mcp.tools.descriptions import Tool
from gitmem.mcp.tools.handlers import ToolHandlers
from gitmem.mcp.tools.tool_answer import ProtocolError, ToolAnswer
from gitmem.mcp.tools.tool_call import ToolCall
from gitmem.mcp.tools.toolsets import COMPAT, parse_toolsets
from tests.gitrepo import Repo
from tests.properties.test_server import state_of, wrong_values

TOOLS: Final = {f"{tool.system} {name}": tool for one in COMPAT for name, tool in parse_toolsets(one).items()}
GOOD: Final[dict[str, dict[str, Any]]] = {
    "s0 semantic_search": {"query": "sign the cookie"},
    "s0 list_indexed_repositories": {},
    "s1 search_knowledge": {"query": "cookie"},
    "s1 get_search_results": {"session_id": "search_00000000"},
    "s1 create_rag_report": {"variables": {"query": "why", "overall_summary": "because", "sections": []}},
    "s1 generate_report": {"session_id": "search_00000000", "overall_summary": "because"},
    "s1 list_search_results": {},
    "s1 get_template_schema": {},
    "s1 rebuild_index": {},
    "s1 cancel_index_generation": {},
    "s1 index_status": {},
    "s1 reinitialize_schema": {},
    "s1 reload_config": {},
    "s1 open_index_manager": {},
    "s1 list_index_managers": {},
    "s1 stop_index_manager": {"workspace_id": "0123456789abcdef"},
    "s2 memory_store": {"content": "x", "type": "fact", "confidence": 1},
    "s2 memory_search": {"query": "cookie"},
    "s2 memory_list": {},
    "s2 memory_delete": {"memory_id": "mem_000000000000"},
    "s2 history_append": {"conversation_id": "c", "role": "user", "content": "x", "turn_index": 0},
    "s2 history_get": {"conversation_id": "c"},
    "s2 artifact_ingest": {"artifact_type": "doc", "source_system": "drive", "content": "x"},
    "s2 artifact_search": {"query": "cookie"},
    "s2 artifact_get": {"artifact_id": "art_00000000"},
    "s2 artifact_delete": {"artifact_id": "art_00000000"},
    "s2 hybrid_search": {"query": "cookie"},
    "s2 embedding_health": {},
    "s3 list_knowledgebases": {},
    "s3 search_knowledgebases": {"query": "cookie"},
    "s3 get_knowledgebase_stats": {"name": "own"},
    "s3 open_knowledgebase_manager": {},
    "s4 ks_search": {"query": "cookie"},
    "s4 ks_get": {"doc_id": "src/cookies.py:0"},
    "s4 ks_index": {"doc_id": "x", "content": "x"},
    "s4 ks_health": {},
    "s4 ks_ingest_repo": {"repo_path": "."},
}
"""Arguments of each tool that its schema allows."""

many = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))


class Call(NamedTuple):
    """Call of a tool of an older system."""

    tool: Tool
    arguments: dict[str, Any]


def spoiled(name: str) -> list[Call]:
    """Return calls of a tool with one argument that is unknown, missing, or has a value that is not allowed."""
    tool, good = TOOLS[name], GOOD[name]
    calls = [Call(tool, {**good, "unknown": "value"})]
    calls += [Call(tool, {key: value for key, value in good.items() if key != missing}) for missing in good]
    for key, about in tool.schema["properties"].items():
        calls += [Call(tool, {**good, key: value}) for value in wrong_values(about)]
    return calls


@pytest.fixture
def handlers(own: Repo) -> Iterator[ToolHandlers]:
    handlers = ToolHandlers(own.path, {"GITMEM_NO_REGISTRY": "1"})
    yield handlers
    handlers.close(5)


def answer(handlers: ToolHandlers, call: Call) -> ToolAnswer | ProtocolError:
    """Return the answer to a call, or the error of the protocol that it ends with."""
    try:
        return handlers.answer(call.tool, call.arguments, ToolCall())
    except ProtocolError as error:
        return error


@many
@given(call=st.sampled_from(sorted(GOOD)).flatmap(lambda name: st.sampled_from(spoiled(name))))
def test_arguments_outside_an_old_schema_are_refused(own: Repo, handlers: ToolHandlers, call: Call) -> None:
    """Property 25: MCP input."""
    before = state_of(own)
    result = answer(handlers, call)
    assert state_of(own) == before
    if isinstance(result, ProtocolError):
        assert (call.tool.system, result.code) == ("s0", -32602)
        return
    assert result.is_error
    assert result.text
    if call.tool.system == "s3":
        assert json.loads(result.text)["error"]["code"] == "INVALID_PARAMETERS"
    if call.tool.system == "s4":
        assert json.loads(result.text)["success"] is False


failing: dict[str, dict[str, Any]] = {
    "s0 semantic_search": {"query": "x", "repository": "unknown"},
    "s1 get_search_results": {"session_id": "search_00000000"},
    "s1 get_template_schema": {"template": "unknown"},
    "s1 create_rag_report": {"variables": {"query": "x"}},
    "s1 stop_index_manager": {"workspace_id": "unknown"},
    "s2 memory_delete": {"memory_id": "mem_000000000000"},
    "s2 artifact_get": {"artifact_id": "art_00000000"},
    "s3 get_knowledgebase_stats": {"name": "unknown"},
    "s4 ks_get": {"doc_id": "unknown:0"},
}
"""Arguments that the schema of a tool allows and that name something that does not exist."""


@many
@given(data=st.data(), name=st.sampled_from(sorted(GOOD)))
def test_a_failing_call_has_a_message_and_the_next_one_works(
    handlers: ToolHandlers, name: str, data: st.DataObject
) -> None:
    """Property 37: MCP error form."""
    calls = spoiled(name) + ([Call(TOOLS[name], failing[name])] if name in failing else [])
    result = answer(handlers, data.draw(st.sampled_from(calls)))
    if isinstance(result, ProtocolError):
        assert isinstance(result.code, int)
        assert str(result)
    else:
        assert result.is_error
        assert result.text
        assert result.values is None
    following = answer(handlers, Call(TOOLS["s1 list_search_results"], {}))
    assert isinstance(following, ToolAnswer)
    assert not following.is_error


reading = [name for name in GOOD if TOOLS[name].annotations.get("readOnlyHint")]
words = st.sampled_from(["cookie", "route of a request", "backup", "x", "release plan"])


@many
@given(name=st.sampled_from(reading), query=words, limit=st.integers(1, 20))
def test_values_fit_the_schema_and_the_text(handlers: ToolHandlers, name: str, query: str, limit: int) -> None:
    """Property 36: MCP success form."""
    tool, arguments = TOOLS[name], dict(GOOD[name])
    properties = tool.schema["properties"]
    arguments |= {key: query for key in ("query",) if key in properties}
    arguments |= {key: limit for key in ("limit", "maxResults", "top_k") if key in properties}
    result = answer(handlers, Call(tool, arguments))
    assert isinstance(result, ToolAnswer)
    if result.is_error or not tool.output_schema:
        assert result.values is None
        return
    assert json.loads(result.text) == result.values
    validate(result.values, dict(tool.output_schema))
