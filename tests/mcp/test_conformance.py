"""The official conformance suite and the inspector's command line, where they are installed.

npm install --prefix FOLDER node@22 @modelcontextprotocol/conformance @modelcontextprotocol/inspector
MCP_NODE_MODULES=FOLDER/node_modules python -m pytest -m long tests/mcp/test_conformance.py
"""

import json
import os
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from gitmem.mcp.tools.handlers import ToolHandlers
from gitmem.mcp.tools.toolsets import DEFAULT, parse_toolsets
from gitmem.mcp.transport.http import LOOPBACK, hosts_of, make_app
from gitmem.mcp.transport.listening_socket import listen_on_port
from tests.gitrepo import Repo
from tests.mcp.clients import SERVER

MODULES = Path(os.environ.get("MCP_NODE_MODULES", "/nowhere"))
NODE = MODULES / "node" / "bin" / "node"
SUITE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
INSPECTOR = MODULES / ".bin" / "mcp-inspector"

PASSED = {
    "server-initialize",
    "ping",
    "tools-list",
    "server-sse-multiple-streams",
    "server-sse-polling",
    "dns-rebinding-protection",
}
"""Scenarios for any server. That of polling warns that no stream was resumed: only a tool of the suite breaks one. All
others ask for what the suite's own reference server has: tools of certain names, prompts, resources, completion and
logging, none of which is offered here."""

pytestmark = pytest.mark.long


@pytest.mark.skipif(not (NODE.exists() and SUITE.exists()), reason="MCP_NODE_MODULES names no conformance suite")
@pytest.mark.parametrize("scenario", sorted(PASSED))
def test_a_scenario_of_the_suite_passes(indexed: Repo, scenario: str) -> None:
    handlers = ToolHandlers(indexed.path, {})
    listening = listen_on_port("127.0.0.1", 0)
    port = listening.getsockname()[1]
    app = make_app(handlers, parse_toolsets(DEFAULT), hosts=hosts_of(LOOPBACK, port), token="")
    server = uvicorn.Server(uvicorn.Config(app, log_config=None))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
        command = [str(NODE), str(SUITE), "server", "--url", f"http://localhost:{port}/mcp", "--scenario", scenario]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    finally:
        server.should_exit = True
        thread.join()
        handlers.close(5)


@pytest.mark.skipif(not (NODE.exists() and INSPECTOR.exists()), reason="MCP_NODE_MODULES names no inspector")
def test_the_inspector_lists_and_calls_the_tools(indexed: Repo, tmp_path: Path) -> None:
    program = tmp_path / "server"  # the inspector would take options of the interpreter for its own
    program.write_text(f"#!/bin/sh\nexec {' '.join(SERVER)}\n")
    program.chmod(0o755)

    def inspect(*args: str) -> Any:
        environment = {**os.environ, "PATH": f"{NODE.parent}:{os.environ['PATH']}"}
        command = [str(INSPECTOR), "--cli", str(program), *args]
        done = subprocess.run(command, cwd=indexed.path, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    tools = inspect("--method", "tools/list")["tools"]
    assert [tool["name"] for tool in tools] == list(parse_toolsets(DEFAULT))
    call = ("--method", "tools/call", "--tool-name", "search", "--tool-arg")
    assert "src/cookies.py" in inspect(*call, "query=sign the cookie")["content"][0]["text"]
    assert inspect(*call, "query=x", "--tool-arg", "mode=fuzzy")["isError"]
