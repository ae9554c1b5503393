"""No command, library or child process opens the network, even without the settings that silence libraries."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.gitrepo import Repo, unmeasured_environment

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")

SILENCING = ("CI", "GITHUB_ACTIONS", "TF_BUILD", "DO_NOT_TRACK", "ORT_DISABLE_TELEMETRY", "HF_HUB_OFFLINE")
INTERNET = re.compile(r"AF_INET6?\b")
GITMEM = (sys.executable, "-m", "gitmem")
RPC = [
    {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                                                 "clientInfo": {"name": "test", "version": "1"}}},
    {"id": 2, "method": "tools/call", "params": {"name": "search", "arguments": {"query": "cookie"}}},
]  # fmt: skip
CLIENT = """
import subprocess, sys
server = subprocess.Popen([sys.executable, "-m", "gitmem", "mcp"], stdin=-1, stdout=-1, text=True, bufsize=1)
for line in sys.argv[1:]:
    server.stdin.write(line + "\\n")
    answer = server.stdout.readline()
assert "cookies.py" in answer, answer
server.stdin.close()
sys.exit(server.wait())
"""


def internet_calls(folder: Path, log: Path, command: Sequence[str]) -> list[str]:
    """Return the system calls for internet sockets of a command and all its children."""
    env = {name: value for name, value in unmeasured_environment().items() if name not in SILENCING}
    env["OPENAI_API_KEY"] = "sk-for-another-program"
    traced_command = ["strace", "-f", "-qq", "-e", "trace=%network", "-o", str(log), *command]
    subprocess.run(traced_command, cwd=folder, env=env, capture_output=True, text=True, check=True)
    return [line for line in log.read_text().splitlines() if INTERNET.search(line)]


def test_control_the_connection_of_a_child_process_is_seen(tmp_path: Path) -> None:
    program = "import socket, subprocess, sys\nif sys.argv[1:]: socket.socket().connect_ex(('127.0.0.1', 1))\n"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {program!r}, 'x'])"
    assert internet_calls(tmp_path, tmp_path / "log", [sys.executable, "-c", child])
    assert not internet_calls(tmp_path, tmp_path / "log", [sys.executable, "-c", program])


def test_no_command_opens_the_network(own: Repo, tmp_path: Path) -> None:
    own.commit({"new.py": "def new_thing():\n    '''Signs the cookie anew.'''\n"})
    for args in (
        ["init"],
        ["index", "--full"],
        ["query", "where are cookies signed"],
        ["memory", "add", "Cookies are signed."],
        ["query", "--kind", "all", "signed"],
        ["doctor"],
        ["health"],
    ):
        assert internet_calls(own.path, tmp_path / "log", [*GITMEM, *args]) == [], args
    lines = [json.dumps({"jsonrpc": "2.0", **message}) for message in RPC]
    assert internet_calls(own.path, tmp_path / "log", [sys.executable, "-c", CLIENT, *lines]) == []
