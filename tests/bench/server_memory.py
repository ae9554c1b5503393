"""Memory of a server over many mixed calls: it must reach a plateau, over standard input and output and over HTTP.

The calls search for changing words, the working tree and two revisions, read, look for related code, list and report. A
figure is private memory: mapped files are shared with the system's cache.
"""

import argparse
import json
import os
import random
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.request import Request, urlopen

from tests.bench.commands import load_gitmem
from tests.bench.figures import Figure
from tests.bench.mcp_server import serving
from tests.bench.subjects import SubjectError, add_subject_options, git, iter_subjects, work_folder
from tests.bench.warm import make_queries

FILES: Final = 2000
MOST_GROWTH: Final = 0.3
"""Megabytes per 1,000 calls in the last third of the calls."""

_CLIENT: Final = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
_TOKEN: Final = "a token of enough characters"
_ANONYMOUS: Final = re.compile(r"Anonymous:\s+(\d+)")

Ask = Callable[[str, dict[str, Any]], object]
"""Sends a request with its parameters and waits for the answer."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories and the number of calls."""
    add_subject_options(parser, FILES)
    parser.add_argument("--calls", type=int, default=15_000, help="calls over each transport")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Return the memory after each tenth of the calls, and the growth in the last third."""
    gitmem = load_gitmem(options)
    figures = []
    with work_folder(options) as work:
        for subject in iter_subjects(options, work):
            gitmem.index_report(subject.path)
            with serving([*gitmem.words, "mcp"], subject.path) as server:
                server.request("initialize", _CLIENT)
                server.notify("notifications/initialized")
                grown = sample(subject.path, server.request, server.process_id, options.calls)
                figures += describe(subject.name, "stdio", grown)
            with serving_http([*gitmem.words, "mcp", "--http", "--port", "0"], subject.path) as (ask, process_id):
                figures += describe(subject.name, "http", sample(subject.path, ask, process_id, options.calls))
    return figures


def sample(repository: Path, ask: Ask, process_id: int, calls: int) -> list[tuple[int, float]]:
    """Make calls; return the private megabytes after each thirtieth of them, with the number of calls so far."""
    dice = random.Random(1)
    queries = make_queries(repository, min(calls, 5000))
    files = [name for name in git(repository, "ls-files", "-z").split("\0") if name.endswith(".py")]
    if not (queries and files):
        raise SubjectError("the repository has no Python files to ask about")
    samples = []
    for number in range(calls + 1):
        if number % max(1, calls // 30) == 0:
            samples.append((number, private_memory(process_id)))
        query, location = queries[number % len(queries)], f"{dice.choice(files)}:1-40"
        name, arguments = [
            ("search", {"query": query, "limit": 5}),
            ("get", {"ids": [location]}),
            ("search", {"query": query, "rev": "HEAD", "detail": "full"}),
            ("related", {"location": location}),
            ("search", {"query": query, "path": ["*.py"]}),
            ("status", {}),
        ][number % 6]
        ask("tools/call", {"name": name, "arguments": arguments})
    return samples


def describe(subject: str, transport: str, samples: list[tuple[int, float]]) -> list[Figure]:
    """Return the memory at some numbers of calls, and the growth from two thirds of them to the end."""
    third = samples[len(samples) * 2 // 3 :]
    (first, before), (last, after) = third[0], third[-1]
    growth = (after - before) / (last - first) * 1000
    return [
        *(Figure(subject, f"{transport}, after {number:,} calls", memory, "MB") for number, memory in samples[::5]),
        Figure(subject, f"{transport}, growth at the end", growth, "MB per 1,000 calls", at_most=MOST_GROWTH),
    ]


def private_memory(process_id: int) -> float:
    """Return the anonymous megabytes of a process."""
    found = _ANONYMOUS.search(Path(f"/proc/{process_id}/smaps_rollup").read_text())
    assert found is not None
    return int(found[1]) / 1024


@contextmanager
def serving_http(command: list[str], folder: Path) -> Iterator[tuple[Ask, int]]:
    """Yield a function that asks a server over HTTP, and the process of that server."""
    environment = {**os.environ, "GITMEM_MCP_TOKEN": _TOKEN}
    process = subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE)
    assert process.stderr is not None
    try:
        url = process.stderr.readline().decode().split()[-1]
        headers = {
            "Authorization": f"Bearer {_TOKEN}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }

        def ask(method: str, params: dict[str, Any]) -> object:
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            with urlopen(Request(url, json.dumps(message).encode(), headers)) as answer:
                headers.setdefault("Mcp-Session-Id", answer.headers["Mcp-Session-Id"])
                return answer.read()

        ask("initialize", _CLIENT)
        yield ask, process.pid
    finally:
        process.terminate()
        process.wait(20)
        process.stderr.close()
