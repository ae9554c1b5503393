"""The smoke test and the examples of S1, as a recorded session."""

import json
import os
from pathlib import Path

import pytest
from mcp.client.client import Client

from gitmem.actions.web_page import find_page, stop_page
from gitmem.mcp.tools.handlers import ToolHandlers
from gitmem.mcp.tools.tool_answer import ToolAnswer
from gitmem.mcp.tools.tool_call import ToolCall
from gitmem.mcp.tools.toolsets import parse_toolsets
from tests.gitrepo import Repo
from tests.mcp.clients import talk_to_process
from tests.mcp.compat.recording import Step, replay

TIME = r"\d{4}-\d\d-\d\dT[\d:.]+Z"
SECTION = {"file_name": "cookies.py", "section_summary": "Signs with HMAC.", "section_quote": "def sign_cookie"}

SESSION = [
    Step("index_status", {},
         r'\{"isInitialized":true,"state":"Up to Date","totalFiles":(?P<files>\d+),"indexedFiles":(?P=files),'
         rf'"lastUpdated":"{TIME}","embeddingModel":"[^"]+","stats":\{{"rowCount":(?P<rows>\d+),"dataSize":\d+\}}\}}'),
    # Search, and the results of one and of several sessions
    Step("search_knowledge", {"query": "sign the cookie with the secret key"},
         r'\{"session_id":"(?P<first>search_[0-9a-f]{8})","result_count":\d+,"results":\[\{"file_path":"[^"]+",'
         r'"file_uri":"file:///[^"]+","start_line":\d+,"end_line":\d+,"similarity":0\.\d+,"preview":".*'),
    Step("search_knowledge", {"query": "database", "min_similarity": 0, "scope": {"folders": ["/docs"]}},
         r'\{"session_id":"(?P<second>search_[0-9a-f]{8})","result_count":[1-9]\d*,'
         r'"results":\[\{"file_path":"docs/guide\.md"(?!.*"file_path":"src).*'),
    Step("search_knowledge", {"query": "cookie", "scope": {"files": ["docs/guide.md"], "folders": ["src"]}},
         r'\{"session_id":"search_[0-9a-f]{8}","result_count":0,"results":\[\]\}'),
    Step("get_search_results", {"session_id": "{first}", "limit": 1},
         r'\{"query":"sign the cookie with the secret key","total_results":\d+,"returned_results":1,'
         r'"results":\[\{"file_path":"src/[a-z_]*cookies\.py",.*"content":".*sign_cookie.*"\}\]\}'),
    Step("get_search_results", {"session_ids": ["{first}", "{second}"], "limit": 1},
         r'\{"sessions":\[\{"session_id":"{first}",.*"returned_results":1\},\{"session_id":"{second}",.*\}\],'
         r'"total_results":2,"results":\[\{"session_id":"{first}",.*\{"session_id":"{second}",.*\}\]\}'),
    Step("list_search_results", {},
         rf'\{{"sessions":\[.*\{{"session_id":"{{first}}","query":"sign .*","timestamp":"{TIME}",'
         r'"result_count":\d+\}.*\]\}'),
    Step("get_search_results", {"session_id": "search_00000000"},
         "Error: Session not found: search_00000000", failed=True),
    Step("get_search_results", {}, "Error: Either session_id or session_ids is required", failed=True),
    # Templates and reports
    Step("get_template_schema", {}, r'\{"name":"basic","description":".*","language":"en","variables":\{.*'),
    Step("get_template_schema", {"template": "bullet_points"}, r'\{"name":"bullet_points",.*'),
    Step("get_template_schema", {"template": "other"}, "Error: no such template: `other`", failed=True),
    Step("create_rag_report",
         {"variables": {"query": "How?", "overall_summary": "By HMAC.", "sections": [SECTION]}, "file_name": "cookies"},
         r'\{"file_path":"/.*/rag-reports/\d{8}_\d{6}_cookies\.md","file_uri":"file:///.*","template":"basic",'
         r'"preview":"# How\?.*By HMAC\..*"\}'),
    Step("create_rag_report", {"variables": {"query": "How?"}}, "Error: template `basic` needs .*", failed=True),
    Step("create_rag_report", {"variables": SECTION, "output_dir": "/etc"}, "Error: .*", failed=True),
    Step("generate_report", {"session_id": "{first}", "overall_summary": "By HMAC.", "sections": [SECTION]},
         r'\{"file_path":"/.*/rag-reports/\d{8}_\d{6}_sign_the_cookie.*\.md",.*"preview":"# sign the cookie .*'
         r'Signs with HMAC.*"\}'),
    Step("generate_report", {"session_id": "{second}", "overall_summary": "Nightly.", "template": "bullet_points"},
         r'\{"file_path":"/.*","template":"bullet_points","preview":".*guide\.md.*"\}'),
    Step("generate_report", {"session_id": "{first}", "overall_summary": "x", "sections": ["text", 1]},
         "Error: `sections` must be a list of 0 to 500 objects, got .*", failed=True),
    # The index
    Step("cancel_index_generation", {}, r'\{"cancelled":false,"message":"No index generation is running"\}'),
    Step("rebuild_index", {},
         r'\{"status":"success","processed_files":\d+,"total_files":\d+,"total_chunks":\d+,"errors":\[\],'
         r'"message":"Processed \d+ files?; \d+ chunks in the index"\}'),
    Step("rebuild_index", {"reindex_all": True}, r'\{"status":"success","processed_files":[1-9].*'),
    Step("reinitialize_schema", {}, r'\{"status":"success","processed_files":[1-9].*'),
    Step("reload_config", {},
         r'\{"message":"Configuration reloaded: 0 settings changed","updated":\[\],"needsRebuild":false\}'),
    # The manager
    Step("list_index_managers", {}, r'\{"managers":\[\]\}'),
    Step("stop_index_manager", {"workspace_id": "0123456789abcdef"},
         "Error: No running Index Manager found for workspace ID: 0123456789abcdef", failed=True),
    Step("open_index_manager", {}, r'\{"url":"http://127\.0\.0\.1:\d+/login\?code=.*","message":".*"\}'),
    Step("list_index_managers", {},
         r'\{"managers":\[\{"workspaceId":"(?P<workspace>[0-9a-f]{16})","workspacePath":"/.*","pid":\d+,"port":\d+,'
         rf'"url":"http://127\.0\.0\.1:\d+/?","startedAt":"{TIME}"\}}\]\}}'),
    Step("stop_index_manager", {"workspace_id": "{workspace}"},
         r'\{"message":"Stopped Index Manager for /.*","workspaceId":"{workspace}"\}'),
    # Bounds
    Step("search_knowledge", {"query": "x", "min_similarity": 1.5}, "Error: `min_similarity` must be .*", failed=True),
    Step("search_knowledge", {"query": " "}, "Error: `query` must be .*", failed=True),
]  # fmt: skip


def test_a_search_waits_until_the_index_has_all_files(own: Repo) -> None:
    """A search of gitmem's own answers at once with what a millisecond allows; the old one updated the index first."""
    own.git("config", "gitmem.healBudget", "1")
    own.write({f"src/parcel_{n}.py": f"def parcel_weight_{n}() -> int:\n    return {n}\n" for n in range(3)})
    handlers = ToolHandlers(own.path, {**os.environ})
    try:
        tool = parse_toolsets("compat-s1")["search_knowledge"]
        answer = handlers.answer(tool, {"query": "parcel_weight", "scope": {"folders": ["/src"]}}, ToolCall())
        assert isinstance(answer, ToolAnswer)
        assert isinstance(answer.values, dict)
        paths = {one["file_path"] for one in answer.values["results"]}
        assert paths >= {f"src/parcel_{n}.py" for n in range(3)}
    finally:
        handlers.close(5)


def test_its_server_offers_the_descriptions_of_templates(own: Repo) -> None:
    async def action(client: Client) -> None:
        addresses = [str(one.uri) for one in (await client.list_resources()).resources]
        names = ["current", "basic", "bullet_points", "paper"]
        assert sorted(addresses) == sorted(f"template://{name}/schema" for name in names)
        (content,) = (await client.read_resource("template://current/schema")).contents
        assert content.mime_type == "application/json"
        assert json.loads(content.text)["name"] == "basic"  # type: ignore[union-attr]

    talk_to_process(own.path, action, toolsets="compat-s1")


def test_the_smoke_test_of_s1_passes(own: Repo, runtime_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Keeps the server of the page apart from one that the user runs.
    monkeypatch.setenv("GITMEM_RUNTIME_DIR", str(runtime_folder))
    try:
        replay(own.path, "compat-s1", SESSION)
        assert find_page(own.path, os.environ) is None
    finally:
        stop_page(own.path, os.environ)
