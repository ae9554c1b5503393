"""Warm search over HTTP: `/api/v1/search` and the MCP tool `search` of one `gitmem serve`, asked in turns.

Both answer from the same open index, so the difference is the price of the interface. The cache of identical searches
is off, and each query is asked over both, the order alternating. CPU time is that of all threads of the server.
"""

import argparse
import http.client
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from gitmem.mcp.transport.http_auth import TOKEN_VARIABLE
from gitmem.registry import OFF_VARIABLE, add_repository
from gitmem.web.control import find_server
from tests.bench.commands import load_gitmem
from tests.bench.figures import Figure
from tests.bench.mcp_server import CLIENT
from tests.bench.subjects import SubjectError, add_subject_options, iter_subjects, work_folder
from tests.bench.warm import make_queries

FILES: Final = 10_200
"""Files of the synthetic repository: some 50,000 chunks."""

MAX_MILLISECONDS: Final = 3.0
_START_SECONDS: Final = 60.0
_WARMING: Final = 10
_TOKEN: Final = "a token for measurements"
_NAME: Final = "subject"

Ask = Callable[[str], None]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories and the number of queries."""
    add_subject_options(parser, FILES)
    parser.add_argument("--queries", type=int, default=100, help="number of queries, made of words in the repository")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index each repository, serve it, and ask the server."""
    gitmem = load_gitmem(options)
    figures: list[Figure] = []
    with work_folder(options) as work:
        for subject in iter_subjects(options, work):
            report, _ = gitmem.index_report(subject.path)
            figures.append(Figure(subject.name, "chunks in the index", report["chunks"]))
            queries = make_queries(subject.path, options.queries)
            with _serving([*gitmem.words, "serve", "--port", "0"], subject.path) as (process, url):
                figures += compare(subject.name, process, url, queries)
    return figures


def compare(subject: str, process: int, url: str, queries: list[str]) -> list[Figure]:
    """Ask each query over both interfaces; return medians, and the median of the differences of the pairs."""
    interfaces: dict[str, Ask] = {"API": _open_api(url), "MCP": _open_mcp(url)}
    walls: dict[str, list[float]] = {name: [] for name in interfaces}
    cpu: dict[str, list[float]] = {name: [] for name in interfaces}
    for number, query in enumerate(queries[:_WARMING] + queries):
        names = list(interfaces) if number % 2 else list(interfaces)[::-1]
        for name in names:
            began, began_cpu = time.perf_counter(), _cpu(process)
            interfaces[name](query)
            walls[name].append((time.perf_counter() - began) * 1000)
            cpu[name].append((_cpu(process) - began_cpu) * 1000)
    figures = []
    for unit, values in (("ms wall", walls), ("ms CPU", cpu)):
        warm = {name: numbers[_WARMING:] for name, numbers in values.items()}
        figures += [Figure(subject, f"search, {name}", statistics.median(warm[name]), unit) for name in warm]
        # Pairs see the same load of the machine; medians of the two would not.
        pairs = [api - mcp for api, mcp in zip(warm["API"], warm["MCP"], strict=True)]
        figures.append(Figure(subject, "API above MCP", statistics.median(pairs), unit, at_most=MAX_MILLISECONDS))
    return figures


def _open_api(url: str) -> Ask:
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    headers = {"Authorization": f"Bearer {_TOKEN}"}

    def ask(query: str) -> None:
        connection.request("GET", f"/api/v1/search?{urlencode({'repository': _NAME, 'query': query})}", headers=headers)
        _read(connection.getresponse())

    return ask


def _open_mcp(url: str) -> Ask:
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    headers = {
        "Authorization": f"Bearer {_TOKEN}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }

    def send(message: Mapping[str, Any]) -> http.client.HTTPResponse:
        connection.request("POST", "/mcp/", json.dumps({"jsonrpc": "2.0", **message}), headers)
        return connection.getresponse()

    response = send({"id": 0, "method": "initialize", "params": CLIENT})
    headers |= {
        "Mcp-Session-Id": response.headers["Mcp-Session-Id"],
        "MCP-Protocol-Version": str(CLIENT["protocolVersion"]),
    }
    _read(response)
    _read(send({"method": "notifications/initialized"}))

    def ask(query: str) -> None:
        params = {"name": "search", "arguments": {"query": query}}
        if b'"isError":true' in _read(send({"id": 1, "method": "tools/call", "params": params})):
            raise SubjectError("the tool refused the query")

    return ask


def _read(response: http.client.HTTPResponse) -> bytes:
    data = response.read()
    if response.status not in (http.HTTPStatus.OK, http.HTTPStatus.ACCEPTED):
        raise SubjectError(f"status {response.status}: {data[:200]!r}")
    return data


def _cpu(process: int) -> float:
    """Return the CPU seconds of all threads of a process so far."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


@contextmanager
def _serving(command: list[str], repository: Path) -> Iterator[tuple[int, str]]:
    """Run a server of a user of its own in a repository; yield its process id and address."""
    with tempfile.TemporaryDirectory(prefix="gm") as folder:
        environment = {name: value for name, value in os.environ.items() if name != OFF_VARIABLE}
        environment |= {
            "XDG_DATA_HOME": folder,
            "GITMEM_RUNTIME_DIR": f"{folder}/run",
            "GITMEM_SEARCH_CACHE_SECONDS": "0",
            TOKEN_VARIABLE: _TOKEN,
        }
        add_repository(environment, repository, _NAME)
        process = subprocess.Popen(command, cwd=repository, env=environment, stderr=subprocess.DEVNULL)
        try:
            deadline = time.perf_counter() + _START_SECONDS
            while (running := find_server(environment)) is None:
                if process.poll() is not None or time.perf_counter() > deadline:
                    raise SubjectError("the server did not start")
                time.sleep(0.05)
            yield process.pid, running.url
        finally:
            process.terminate()
            process.wait(20)
