"""The way from `gitmem install` to a connected server with the real clients, where they are installed.

npm install --prefix FOLDER @anthropic-ai/claude-code @google/gemini-cli opencode-ai @github/copilot @openai/codex \
    @ampcode/cli cline
MCP_NODE_MODULES=FOLDER/node_modules python -m pytest -m long tests/install/test_real_clients.py

npm 11 and newer run no scripts of packages: for Amp add @ampcode/cli-linux-x64 and run `node install.cjs` in the folder
of @ampcode/cli. None of these commands needs an account. `copilot` and `amp` list their servers without starting them.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.install.programs import use_path
from tests.sample import Cli, make_sample

PROGRAMS = Path(os.environ.get("MCP_NODE_MODULES", "/nowhere")) / ".bin"
SECONDS = 300.0

CASES = [
    ("claude", "--local", ["mcp", "list"], "✔ Connected"),
    ("claude", "--global", ["mcp", "list"], "✔ Connected"),
    ("gemini", "", ["mcp", "list"], "gitmem mcp (stdio) - Connected"),
    ("gemini", "--global", ["mcp", "list"], "(stdio) - Connected"),
    ("opencode", "", ["mcp", "list"], "connected"),
    ("opencode", "--global", ["mcp", "list"], "connected"),
    ("codex", "", ["app-server"], '"name":"gitmem","status":"ready"'),
    ("codex", "--global", ["app-server"], '"name":"gitmem","status":"ready"'),
    ("copilot", "", ["mcp", "get", "gitmem"], "Status: Enabled"),
    ("copilot", "--global", ["mcp", "get", "gitmem"], "Status: Enabled"),
    ("amp", "", ["mcp", "list"], "gitmem  command  gitmem mcp"),
    ("amp", "--global", ["mcp", "list"], "gitmem  command  /"),
]


@pytest.mark.long
@pytest.mark.skipif(not PROGRAMS.is_dir(), reason="MCP_NODE_MODULES names no clients")
@pytest.mark.parametrize(("client", "scope", "command", "expected"), CASES)
def test_a_client_finds_the_server(
    cli: Cli,
    tmp_path: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    client: str,
    scope: str,
    command: list[str],
    expected: str,
) -> None:
    node = shutil.which("node")
    if node is None or not (PROGRAMS / client).exists():
        pytest.skip(f"{client} is not installed")
    repo = make_sample(tmp_path / "repo")
    folder = use_path(tmp_path, monkeypatch)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    (folder / "node").symlink_to(node)
    if not scope:  # the name of the program must be on PATH
        (folder / "gitmem").symlink_to(Path(sys.executable).with_name("gitmem"))
    trust(home, repo.path)
    result = cli("install", client, *([scope] if scope else []), cwd=repo.path)
    assert (result.code, result.err) == (0, "")
    assert expected in run_client(client, command, repo.path)
    cli("uninstall", client, *(["--global"] if scope == "--global" else []), cwd=repo.path)
    assert expected not in run_client(client, command, repo.path)


def trust(home: Path, folder: Path) -> None:
    """Trust a folder, as a user of these clients would when they ask."""
    for name in (".gemini", ".codex", ".copilot"):
        (home / name).mkdir()
    (home / ".gemini" / "trustedFolders.json").write_text(json.dumps({str(folder): "TRUST_FOLDER"}))
    (home / ".codex" / "config.toml").write_text(f'[projects."{folder}"]\ntrust_level = "trusted"\n')
    (home / ".copilot" / "config.json").write_text(json.dumps({"trusted_folders": [str(folder)]}))


def run_client(client: str, command: list[str], folder: Path) -> str:
    """Run a client and return its output. Codex starts its servers with a thread, so it gets the request for one."""
    messages = [
        {"id": 0, "method": "initialize", "params": {"clientInfo": {"name": "test", "version": "1"}}},
        {"method": "initialized"},
        {"id": 1, "method": "thread/start", "params": {"cwd": str(folder)}},
    ]
    process = subprocess.Popen(
        [str(PROGRAMS / client), *command], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    if client != "codex":
        return process.communicate(timeout=SECONDS)[0]
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("".join(json.dumps(message) + "\n" for message in messages))
    process.stdin.flush()
    lines = []
    for line in process.stdout:
        lines.append(line)
        if '"status":"ready"' in line or '"status":"failed"' in line or ('"id":1,' in line and not starts(folder)):
            break
    process.kill()
    process.communicate()
    return "".join(lines)


def starts(folder: Path) -> bool:
    """Return whether Codex has an entry to start."""
    files = [folder / ".codex" / "config.toml", Path(os.environ["HOME"]) / ".codex" / "config.toml"]
    return any("mcp_servers" in file.read_text() for file in files if file.exists())
