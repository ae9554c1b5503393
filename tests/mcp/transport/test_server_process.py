"""The life of a server process: it says nothing but JSON-RPC, survives whatever it is sent, ends with its client."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from gitmem.store.manifest import find_manifest
from tests.gitrepo import Repo
from tests.mcp.clients import INITIALIZE, INITIALIZED, PATIENCE, SERVER, RawClient

GONE_SECONDS = 10.0
"""A server ends within two seconds on an idle machine."""

LONG = pytest.mark.long
FRAMES = [300, pytest.param(10_000, marks=LONG)]
LINES = [5 << 20, pytest.param(100 << 20, marks=LONG)]
KILLED = [5, pytest.param(200, marks=LONG)]
ROUNDS = [60, pytest.param(3000, marks=LONG)]
"""A day of use, in the long form: three thousand questions, a commit before every tenth."""


def wait_until_gone(process: int, seconds: float = 120.0) -> float:
    """How long a process lives on, but for the time it waits for a processor that others use; one that nobody waits for
    counts as gone."""
    began, kept = time.monotonic(), processor_wait(process)
    waited = kept
    while time.monotonic() - began < seconds:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            break
        if state == "Z":
            break
        waited = max(waited, processor_wait(process))
        time.sleep(0.02)
    return time.monotonic() - began - (waited - kept)


def processor_wait(process: int) -> float:
    """Seconds for which the main thread of a process could have run, had there been a processor for it."""
    try:
        return int(Path(f"/proc/{process}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


@pytest.mark.parametrize("greeted", [False, True])
def test_it_ends_when_standard_input_ends(indexed: Repo, greeted: bool) -> None:
    with RawClient(indexed.path) as client:
        if greeted:
            client.greet()
        assert client.close() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("greeted", [False, True])
def test_it_ends_on_a_signal(indexed: Repo, number: signal.Signals, greeted: bool) -> None:
    with RawClient(indexed.path) as client:
        client.greet()
        if greeted:
            client.call(1, "status")
        client.process.send_signal(number)
        assert client.end() == 0


def test_it_ends_in_the_middle_of_calls(own: Repo) -> None:
    own.commit({f"m{number}.py": f"def thing_{number}():\n    return {number}\n" for number in range(200)})
    (own.path / ".gitmem" / "manifest").unlink()
    with RawClient(own.path) as client:
        client.greet()
        for number in range(1, 11):
            params = {"name": "search", "arguments": {"query": "thing"}}
            client.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        state = own.path / ".gitmem" / "state" / "running"
        while not (state.exists() or (own.path / ".gitmem" / "manifest").exists()):
            time.sleep(0.01)  # until the first index is under way
        assert client.close() == 0
    probe = subprocess.run([sys.executable, "-m", "gitmem", "index"], cwd=own.path, capture_output=True, text=True)
    assert probe.returncode == 0, probe.stderr  # no lock was left


PARENT = """
import json, subprocess, sys, time
server = subprocess.Popen(json.loads(sys.argv[1]), stdin=sys.stdin, stdout=subprocess.PIPE)
print(server.pid, flush=True)
server.stdout.readline()
print("answered", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_it_ends_when_its_parent_is_killed_though_its_input_stays_open(indexed: Repo) -> None:
    source, target = os.pipe()
    command = [sys.executable, "-c", PARENT, json.dumps(SERVER)]
    with os.fdopen(target, "wb") as pipe:
        parent = subprocess.Popen(command, cwd=indexed.path, stdin=source, stdout=subprocess.PIPE)
        os.close(source)
        assert parent.stdout is not None
        server = int(parent.stdout.readline())
        pipe.write(json.dumps(INITIALIZE).encode() + b"\n")
        pipe.flush()
        assert parent.stdout.readline() == b"answered\n"
        parent.kill()
        parent.wait()
        parent.stdout.close()
        assert wait_until_gone(server) < GONE_SECONDS


NOISY = """
import ctypes, os, subprocess, sys, time
from gitmem.mcp.tools.handlers import ToolHandlers
real = ToolHandlers.handle
def serve(self, *args):
    print("printed by python", flush=True)  # on a loaded machine the process ends before it flushes its streams
    os.write(1, b"written to the descriptor\\n")
    ctypes.CDLL(None).puts(b"put by a library")
    ctypes.CDLL(None).fflush(None)
    for patience in reversed(range(100)):
        try:
            subprocess.run(["sh", "-c", "echo said by a child; cat"], check=True)
            break
        except (OSError, subprocess.CalledProcessError):  # a loaded machine may have no process to spare
            if not patience:
                raise
            time.sleep(0.1)
    return real(self, *args)
ToolHandlers.handle = serve
from gitmem.cli.main import main
sys.argv = ["gitmem", "mcp"]
main()
"""


def test_standard_output_carries_nothing_but_messages(indexed: Repo) -> None:
    with RawClient(indexed.path, sys.executable, "-c", NOISY) as client:
        client.greet()
        assert "Up to Date" in client.call(1, "status")
        assert client.process.stderr is not None
        assert client.process.stdin is not None
        client.process.stdin.close()
        client.process.wait(PATIENCE)
        assert client.process.stdout is not None
        assert client.process.stdout.read() == b""
        noise = client.process.stderr.read()
        for said in (b"printed by python", b"written to", b"put by a library", b"said by a child"):
            assert said in noise


def malformed(chance: random.Random) -> bytes:
    """A line that no client should send."""
    whole = json.dumps({"jsonrpc": "2.0", "id": chance.randrange(9), "method": "tools/call", "params": {"name": "get"}})
    choice = chance.randrange(8)
    if choice == 0:
        return whole[: chance.randrange(len(whole))].encode() + b"\n"
    if choice == 1:
        return chance.randbytes(chance.randrange(200)).replace(b"\n", b"") + b"\n"
    if choice == 2:
        data = bytearray(whole.encode())
        data[chance.randrange(len(data))] = chance.randrange(256)
        return bytes(data).replace(b"\n", b"") + b"\n"
    if choice == 3:
        return b"[" * chance.randrange(3000) + b"\n"
    value: Any = chance.choice([None, [], {}, 1, -1.5, "x" * 500, True, "\ud800", {"name": {}}, [[]], 10**30])
    keys = ["jsonrpc", "id", "method", "params", "result", "error"]
    message = {
        "jsonrpc": "2.0",
        "id": 3,
        "method": chance.choice(["ping", "tools/call", "initialize", "x", "tools/list"]),
    }
    message[chance.choice(keys)] = value
    return json.dumps(message).encode() + b"\n"


@pytest.mark.parametrize("frames", FRAMES)
@pytest.mark.parametrize("greeted", [False, True])
def test_no_frame_crashes_or_hangs_it(indexed: Repo, greeted: bool, frames: int) -> None:
    chance = random.Random(greeted)
    with RawClient(indexed.path, stderr=subprocess.DEVNULL) as client:
        if greeted:
            client.greet()
            client.call(1, "status")
        answers: list[dict[str, Any]] = []

        def listen() -> None:
            while not answers or answers[-1].get("id") != "last":
                answers.append(client.read())

        listener = threading.Thread(target=listen, daemon=True)  # who does not listen makes the server wait
        listener.start()
        for _ in range(frames):
            client.write(malformed(chance))
        if not greeted:
            client.send(INITIALIZE)
            client.send(INITIALIZED)
        client.send({"jsonrpc": "2.0", "id": "last", "method": "ping"})
        listener.join(600)
        assert answers[-1]["id"] == "last"
        client.write(b'{"half a line')
        assert client.process.poll() is None
        assert client.close() == 0


@pytest.mark.parametrize("size", LINES)
def test_a_line_of_any_length_costs_no_memory(indexed: Repo, size: int) -> None:
    with RawClient(indexed.path, stderr=subprocess.DEVNULL) as client:
        client.greet()
        client.call(1, "status")
        client.write(b'{"jsonrpc": "2.0", "id": 2, "method": "')
        for _ in range(size >> 16):
            client.write(b"y" * (1 << 16))
        client.write(b'"}\n')
        assert client.read()["error"]["message"].startswith("a message has at most")
        assert client.answer({"jsonrpc": "2.0", "id": 3, "method": "ping"})["result"] == {}
        if Path("/proc/self/status").exists():
            status = Path(f"/proc/{client.process.pid}/status").read_text()
            peak = int(status.partition("VmHWM:")[2].split()[0]) >> 10
            assert peak < 250
        assert client.close() == 0


CLIENT = """
import json, subprocess, sys
server = subprocess.Popen(json.loads(sys.argv[1]), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
server.stdin.write(sys.argv[2].encode() + b"\\n")
server.stdin.flush()
server.stdout.readline()
print(server.pid, flush=True)
server.wait()
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("killed", KILLED)
def test_no_server_outlives_a_killed_client(indexed: Repo, killed: int) -> None:
    for _ in range(killed):
        command = [sys.executable, "-c", CLIENT, json.dumps(SERVER), json.dumps(INITIALIZE)]
        client = subprocess.Popen(command, cwd=indexed.path, stdout=subprocess.PIPE)
        assert client.stdout is not None
        server = int(client.stdout.readline())
        client.kill()
        assert wait_until_gone(server) < GONE_SECONDS
        client.wait()
        client.stdout.close()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads memory from /proc")
@pytest.mark.parametrize("rounds", ROUNDS)
def test_memory_and_descriptors_stay_flat_over_questions_and_commits(own: Repo, rounds: int) -> None:
    with RawClient(own.path, stderr=subprocess.DEVNULL) as client:
        client.greet()
        seen = []
        for turn in range(rounds):
            if turn % 10 == 0:
                own.commit({"turning.py": f"def turn_{turn}():\n    return {turn}\n"})
            text = client.call(turn + 1, "search", query=f"turn_{turn - turn % 10}", limit=3)
            assert f"main {own.oid('HEAD')[:7]}" in text
            assert "turning.py:1-2" in text
            pages = int(Path(f"/proc/{client.process.pid}/statm").read_text().split()[1])
            indexed, others = open_files(client.process.pid, own.path / ".gitmem")
            # The segments of this generation, whose number merges keep small, and one view with its base; no older one.
            views = [name for folder, name in indexed if folder == "views"]
            assert sorted(name for folder, name in indexed if folder == "segments") == segment_names(own)
            assert len(views) == len(set(views)) <= 2
            seen.append((pages * 4096, others))
        half = len(seen) // 2
        early, late = (max(descriptors for _, descriptors in part) for part in (seen[:half], seen[half:]))
        assert seen[-1][0] < seen[half][0] + (16 << 20)
        assert late <= early + 2
        assert client.close() == 0


def open_files(process: int, index: Path) -> tuple[list[tuple[str, str]], int]:
    """The folder and name of each file of an index that a process has open, and the number of its other descriptors."""
    targets = []
    for descriptor in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            targets.append(descriptor.readlink())
    inside = [(target.parent.name, target.name) for target in targets if target.is_relative_to(index)]
    return inside, len(targets) - len(inside)


def segment_names(repo: Repo) -> list[str]:
    """The names of the segments of the present generation, in order."""
    manifest = find_manifest(repo.path / ".gitmem" / "manifest")
    assert manifest is not None
    return sorted(entry.name for entry in manifest.segments)


def ask_until_fresh(client: RawClient, name: str, commit: str) -> None:
    """Whoever finds the index being written by another process says so, and has all of it soon."""
    for number in range(1, 300):
        text = client.call(number, "search", query=name, limit=1)
        assert f"main {commit}" in text
        if text.endswith(", fresh]"):
            assert name in text
            return
        assert ", stale: 1 file not indexed yet" in text
        time.sleep(0.1)
    pytest.fail("never fresh")


def test_several_servers_and_the_command_line_do_not_disturb_each_other(own: Repo) -> None:
    with RawClient(own.path) as one, RawClient(own.path) as two:
        one.greet()
        two.greet()
        for turn in range(3):
            own.commit({"shared.py": f"def shared_{turn}():\n    return {turn}\n"})
            for client in (one, two):
                ask_until_fresh(client, f"shared_{turn}", own.oid("HEAD")[:7])
            command = [sys.executable, "-m", "gitmem", "query", f"shared_{turn}"]
            made = subprocess.run(command, cwd=own.path, capture_output=True, text=True)
            assert f"shared_{turn}" in made.stdout
        assert one.close() == 0
        assert two.close() == 0
