"""MCP server: start to handshake, first and warm search, tokens of the tool list, memory.

CPU time is that of all threads of the process until the response. The baseline is an empty server made with the same
SDK; a rival's server is measured as well if the options name one.
"""

import argparse
import json
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.bench.commands import load_gitmem
from tests.bench.figures import Figure
from tests.bench.processes import python_start_cpu, run
from tests.bench.subjects import SubjectError, add_subject_options, iter_subjects, work_folder
from tests.bench.token_cost import load_counter
from tests.bench.warm import make_queries

MAX_TIMES_MINIMAL: Final = 1.1
MAX_TOKENS: Final = 1800
MAX_MILLISECONDS: Final = 15.0
FILES: Final = 10_200
"""Files of the synthetic repository: some 50,000 chunks."""

QUERIES: Final = (
    "how is a request handled", "parse command line options", "open_connection", "retry after a timeout",
    "where are errors turned into messages", "TestCase setUp", "read the configuration file", "encode a value as bytes",
)  # fmt: skip
MINIMAL: Final = """
import anyio, mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
async def tools(context, params): return types.ListToolsResult(tools=[])
async def call(context, params): return types.CallToolResult(content=[])
async def main():
    server = Server("minimal", on_list_tools=tools, on_call_tool=call)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
anyio.run(main)
"""
CLIENT: Final = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories, rounds and the rival's server."""
    add_subject_options(parser, FILES)
    parser.add_argument("--rival-server", metavar="COMMAND", default="", help="another server; {} is the repository")
    parser.add_argument("--rounds", type=int, default=5, help="starts of each server")
    parser.add_argument("--queries", type=int, default=100, help="number of queries, made of words in the repository")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Start the servers in turns, then send queries to one warm server."""
    gitmem = load_gitmem(options)
    start = python_start_cpu()
    figures = [Figure("all", "python start", start * 1000, "ms CPU")]
    with work_folder(options) as work:
        for subject in iter_subjects(options, work):
            report, _ = gitmem.index_report(subject.path)
            figures.append(Figure(subject.name, "chunks in the index", report["chunks"]))
            run(gitmem.query(subject.path, QUERIES[0]))
            commands = {"gitmem": [*gitmem.words, "mcp"], "minimal": [sys.executable, "-c", MINIMAL]}
            if options.rival_server:
                commands["rival"] = shlex.split(options.rival_server.replace("{}", str(subject.path)))
            figures += compare_starts(subject.name, commands, subject.path, options.rounds, start)
            queries = [*QUERIES, *make_queries(subject.path, options.queries)]
            figures += measure_session(subject.name, commands["gitmem"], subject.path, queries, start)
    return figures


def compare_starts(
    subject: str, commands: dict[str, list[str]], folder: Path, rounds: int, start: float
) -> list[Figure]:
    """Return the median CPU and wall time from the start of a process to its answer to `initialize`."""
    spent: dict[str, list[tuple[float, float, float]]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            with serving(command, folder) as server:
                server.request("initialize", CLIENT)
                spent[name].append((server.cpu(), server.age(), server.memory()))
    figures = []
    cpu = {name: statistics.median(value[0] for value in values) for name, values in spent.items()}
    for name, values in spent.items():
        wall = statistics.median(value[1] for value in values)
        figures += [
            Figure(subject, f"initialized, {name}", cpu[name] / start, "x python start"),
            Figure(subject, f"initialized, {name}", wall * 1000, "ms wall"),
        ]
    times = cpu["gitmem"] / cpu["minimal"]
    return [*figures, Figure(subject, "initialized", times, "x the SDK's minimal server", at_most=MAX_TIMES_MINIMAL)]


def measure_session(subject: str, command: list[str], folder: Path, queries: list[str], start: float) -> list[Figure]:
    """Measure a session: the tool list, a first search, then many queries.

    The second and third run of each query is timed; wall time includes the protocol and the pipes.
    """
    with serving(command, folder) as server:
        server.request("initialize", CLIENT)
        server.notify("notifications/initialized")
        tools = server.request("tools/list", None)["tools"]
        began = server.age()
        server.search(queries[0])
        first, first_cpu = server.age() - began, server.cpu()
        time.sleep(2.0)  # the server loads the rest after its first response
        for query in queries:
            server.search(query)
        before, walls = server.cpu(), []
        for query in 2 * queries:
            began = time.perf_counter()
            server.search(query)
            walls.append((time.perf_counter() - began) * 1000)
        spent = (server.cpu() - before) / len(walls)
        memory = server.memory()
    slowest = statistics.quantiles(walls, n=20)[-1]
    figures = [
        Figure(subject, "first search, rest loaded after it", first * 1000, "ms wall"),
        Figure(subject, "CPU until the first response", first_cpu / start, "x python start"),
        Figure(subject, "warm search", statistics.median(walls), "ms wall"),
        Figure(subject, "warm search, p95", slowest, "ms wall", at_most=MAX_MILLISECONDS),
        Figure(subject, "warm search", spent * 1000, "ms CPU"),
        Figure(subject, "memory after the session", memory, "MB resident"),
    ]
    try:
        count = load_counter()
    except SubjectError:
        return figures
    listing = json.dumps(tools, separators=(",", ":"))
    return [*figures, Figure(subject, "tool list", count(listing), "tokens", at_most=MAX_TOKENS)]


class Server:
    """Server process and its costs."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self._began = time.perf_counter()
        self._process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._number = 0

    def request(self, method: str, params: dict[str, Any] | None) -> dict[str, Any]:
        """Send a request and wait for the answer."""
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method} | ({"params": params} if params else {}))
        assert self._process.stdout is not None
        for line in self._process.stdout:
            response = json.loads(line)
            if response.get("id") == self._number:
                return dict(response["result"])
        raise SubjectError(f"the server ended before it answered {method}")

    def search(self, text: str) -> None:
        """Call the search tool and wait for the answer."""
        response = self.request("tools/call", {"name": "search", "arguments": {"query": text}})
        if response.get("isError"):
            raise SubjectError(str(response["content"]))

    def notify(self, method: str) -> None:
        """Send a notification."""
        self._send({"jsonrpc": "2.0", "method": method})

    @property
    def process_id(self) -> int:
        """Return the process of the server."""
        return self._process.pid

    def age(self) -> float:
        """Return the seconds since its start."""
        return time.perf_counter() - self._began

    def cpu(self) -> float:
        """Return the CPU seconds of all its threads so far."""
        tasks = Path(f"/proc/{self._process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def memory(self) -> float:
        """Return the resident megabytes."""
        return int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]) * 4096 / 1e6

    def close(self) -> None:
        """Close its standard input and wait for its end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(20)
        finally:
            self._process.kill()
            self._process.stdout.close()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()


@contextmanager
def serving(command: list[str], folder: Path) -> Iterator[Server]:
    """Yield a running server; stop it afterwards."""
    server = Server(command, folder)
    try:
        yield server
    finally:
        server.close()
