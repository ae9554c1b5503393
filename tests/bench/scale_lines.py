"""The lines of the table of `scale`, measured one after the other in one repository."""

import json
import random
import shutil
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.bench.cold import QUERIES
from tests.bench.commands import Gitmem, Rival
from tests.bench.detached import is_supported, run_to_last
from tests.bench.figures import Figure
from tests.bench.hook import measure_hook
from tests.bench.mcp_server import CLIENT, Server, serving
from tests.bench.memory import read_sizes, watch
from tests.bench.processes import PYTHON_START, Command, cpu_of, median_cpu, run, run_measured
from tests.bench.refresh import CHANGED, change_files, find_candidates, mark_files
from tests.bench.size import bytes_below
from tests.bench.subjects import Subject, git
from tests.bench.warm import make_queries

STATUS: Final = (
    "git", "--no-optional-locks", "-c", "core.fsmonitor=false", "status", "--porcelain=v2", "-z", "--branch",
    "--no-ahead-behind", "--no-renames", "--ignore-submodules=dirty", "--untracked-files=all",
)  # fmt: skip
"""`git status` as a query runs it."""

SAMPLING_SECONDS: Final = 0.25
SETTLING_SECONDS: Final = 3.0
"""Time in which a server completes what it loads after its first answer."""

MIB: Final = 1024 * 1024
CHANGED_NAME: Final = f"{CHANGED} changed files"


@dataclass(slots=True)
class Lines:
    """Measurements of one repository; each method assumes those before it."""

    gitmem: Gitmem
    rival: Rival | None
    subject: Subject
    rounds: int
    queries: int
    _candidates: list[Path] = field(default_factory=list)

    def iter_figures(self) -> Iterator[Figure]:
        """Measure line by line."""
        yield from self._full_index()
        self._candidates = find_candidates(self.subject.path)
        yield from self._cold_queries()
        yield from self._server()
        yield from self._index_after_commit()
        yield from self._uncommitted_files()
        yield from self._commands()
        if is_supported():
            yield from measure_hook(self.subject, self.gitmem, self.rounds, self._candidates)
        else:
            yield self._absent("hook, until it returns", "hook, in the background")

    def _full_index(self) -> Iterator[Figure]:
        peak = watch(self.gitmem.index(self.subject.path, "--json"), SAMPLING_SECONDS)
        report: dict[str, Any] = json.loads(peak.output)
        yield self._figure("files", report["files"])
        yield self._figure("text indexed", report["text_bytes"] / 1e6, "MB")
        yield self._figure("chunks", report["chunks"])
        memory = peak.proportional * 1024 / MIB if peak.proportional else None
        yield self._figure("peak memory while indexing", memory, "MiB", at_most=1024)
        yield self._figure("full index", peak.cpu, "s CPU")
        size = bytes_below(self.subject.path / ".gitmem")
        yield self._figure("index", size / report["text_bytes"], "of the text", at_most=1)
        if self.rival:
            cache = self.subject.path.parent / "rival"
            shutil.rmtree(cache, ignore_errors=True)
            cache.mkdir()
            theirs = cpu_of(self.rival.search(self.subject.path, QUERIES[0], cache))
            yield self._figure("full index", peak.cpu / theirs, "x rival", at_most=0.33)

    def _cold_queries(self) -> Iterator[Figure]:
        folder = self.subject.path
        queries = {query: self.gitmem.query(folder, query) for query in QUERIES}
        fixed = {"start": PYTHON_START, "status": Command(STATUS, cwd=folder)}
        seconds = median_cpu({**fixed, **queries}, self.rounds)
        start, status = seconds.pop("start"), seconds.pop("status")
        query = statistics.median(seconds.values())
        yield self._figure("python start", start * 1000, "ms CPU")
        yield self._figure("cold query", query / start, "x python start")
        yield self._figure("git status alone", status / start, "x python start")
        yield self._figure("cold query above git status", (query - status) / start, "x python start", at_most=25)

    def _server(self) -> Iterator[Figure]:
        texts = make_queries(self.subject.path, self.queries)
        with serving([*self.gitmem.words, "mcp"], self.subject.path) as server:
            server.request("initialize", CLIENT)
            server.notify("notifications/initialized")
            server.search(texts[0])
            yield self._figure("server, first answer", server.age(), "s", at_most=1.5)
            yield self._figure("server, first answer", server.cpu(), "s CPU")
            for text in texts:
                server.search(text)
            time.sleep(SETTLING_SECONDS)
            spent = [self._cpu_of_search(server, text) * 1000 for text in texts]
            yield self._figure("warm query, p50", statistics.median(spent), "ms CPU", at_most=25)
            yield self._figure("warm query, p95", statistics.quantiles(spent, n=20)[-1], "ms CPU", at_most=50)
            yield self._figure("server, memory", read_sizes(server.process_id)[1] * 1024 / MIB, "MiB", at_most=700)
            yield self._served_query()

    @staticmethod
    def _cpu_of_search(server: Server, text: str) -> float:
        before = server.cpu()
        server.search(text)
        return server.cpu() - before

    def _served_query(self) -> Figure:
        """Measure the client of a query that the running server answers; absent in versions without such a client."""
        name, unit = "cold query with a running server", "x python start"
        if b"--no-server" not in run(Command([*self.gitmem.words, "--help"], cwd=self.subject.path)):
            return self._figure(name, None, unit)
        queries = {query: self.gitmem.query(self.subject.path, query) for query in QUERIES}
        seconds = median_cpu({"start": PYTHON_START, **queries}, self.rounds)
        start = seconds.pop("start")
        return self._figure(name, statistics.median(seconds.values()) / start, unit, at_most=4)

    def _index_after_commit(self) -> Iterator[Figure]:
        folder, dice = self.subject.path, random.Random(1)
        spent, grown = [], []
        for number in range(self.rounds):
            change_files(folder, dice.sample(self._candidates, CHANGED), f"round {number}")
            before = bytes_below(folder / ".gitmem")
            spent.append(run_measured(self.gitmem.index(folder))[1])
            grown.append(bytes_below(folder / ".gitmem") - before)
        yield self._figure(f"index after {CHANGED_NAME}", statistics.median(spent), "s CPU", at_most=0.4)
        yield self._figure(f"index after {CHANGED_NAME}", statistics.median(grown) / 1e6, "MB of disk", at_most=1)

    def _uncommitted_files(self) -> Iterator[Figure]:
        names = f"query with {CHANGED_NAME}, above git status", f"query with {CHANGED_NAME}, in the background"
        if not is_supported():
            yield self._absent(*names)
            return
        folder, dice = self.subject.path, random.Random(2)
        foreground, background = [], []
        for number in range(self.rounds):
            mark_files(dice.sample(self._candidates, CHANGED), f"uncommitted {number}")
            status = cpu_of(Command(STATUS, cwd=folder))
            spent = run_to_last(self.gitmem.query(folder, QUERIES[0]))
            foreground.append(spent.foreground - status)
            background.append(spent.background)
            git(folder, "checkout", "-q", "--", ".")
        yield self._figure(names[0], statistics.median(foreground), "s CPU", at_most=0.5)
        yield self._figure(names[1], statistics.median(background), "s CPU")

    def _commands(self) -> Iterator[Figure]:
        for words in (["status"], ["verify"], ["gc"], ["init", "--no-hooks", "--no-mcp"], ["doctor"]):
            command = Command([*self.gitmem.words, *words], cwd=self.subject.path, expect=(0, 1))
            peaks = [watch(command, SAMPLING_SECONDS) for _ in range(self.rounds)]
            yield self._figure(words[0], statistics.median(peak.cpu for peak in peaks), "s CPU")
            memory = max(peak.proportional for peak in peaks) * 1024 / MIB
            yield self._figure(f"{words[0]}, peak memory", memory or None, "MiB", at_most=1024)

    def _absent(self, *names: str) -> Figure:
        return self._figure(", ".join(names), None)

    def _figure(self, name: str, value: float | None, unit: str = "", at_most: float | None = None) -> Figure:
        return Figure(self.subject.name, name, value, unit, at_most=at_most)
