"""Pulling an index against making it: CPU and elapsed time, memory, transferred bytes, and requests to a remote model.

The remote model is a server in this process, whose own work does not count. All clones end with the same index.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.bench.figures import Figure
from tests.bench.memory import Peak, watch
from tests.bench.processes import Command, run
from tests.embedding.provider_server import ProviderServer, provider_server
from tests.gitrepo import Repo, isolated_environment

_DIMENSIONS: Final = 384
"""Length of the vectors, that of many small models."""

_INTERVAL: Final = 0.1
"""Seconds between two samples of the memory."""

_PULLS: Final = {"by-refs": "refs", "by-folder": "a folder"}
"""Clone and name of each way of sharing."""


class Commands(NamedTuple):
    """Clones, each with the environment of its commands, and the folder that they share."""

    folder: Path
    environment: dict[str, str]

    def run(self, clone: str, *arguments: str) -> tuple[Any, Peak]:
        """Run a command of gitmem in a clone; return what it prints as JSON, and its costs."""
        peak = watch(self._command(clone, *arguments, "--json"), _INTERVAL)
        return json.loads(peak.output), peak

    def digest(self, clone: str) -> str:
        """Return the digest of the index of a clone."""
        return str(json.loads(run(self._command(clone, "verify", "--json")))["digest"]["digest"])

    def store(self, clone: str) -> list[str]:
        """Return the options that select the place of a way of sharing."""
        return ["--store", str(self.folder / "store")] if clone == "by-folder" else []

    def _command(self, clone: str, *arguments: str) -> Command:
        return Command([sys.executable, "-m", "gitmem", *arguments], self.folder / clone, self.environment)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("repository", type=Path, help="repository whose HEAD is indexed")
    parser.add_argument("--bundled", action="store_true", help="with the bundled model instead of a remote one")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index in one clone, push both ways, pull in two others, and check the shared rows in one of them."""
    with tempfile.TemporaryDirectory() as place, provider_server(_DIMENSIONS) as server:
        folder = Path(place)
        remote = Repo.init(folder / "remote", "--bare")
        source = options.repository.resolve()
        remote.git("fetch", "--quiet", "--depth=1", source.as_uri(), "+HEAD:refs/heads/main")
        (folder / "store").mkdir()
        for name in ("first", *_PULLS):
            remote.git("clone", "--quiet", "--branch=main", remote.path.as_uri(), str(folder / name))
        commands = Commands(folder, _environment("" if options.bundled else server.url))
        subject = f"{source.name}, {'bundled' if options.bundled else 'remote'} model"
        return list(_measure(commands, server, subject))


def _environment(url: str) -> dict[str, str]:
    """Return the environment of the commands; with a URL, that of a remote model."""
    environment = isolated_environment() | {"GITMEM_USE_SERVER": "false", "PYTHONPATH": str(Path.cwd())}
    if not url:
        return environment
    return environment | {
        "GITMEM_PROVIDER": "openai-compatible", "GITMEM_PROVIDER_URL": url, "GITMEM_MODEL": "small",
        "GITMEM_PROVIDER_KEY": "a-key-of-a-benchmark",
    }  # fmt: skip


def _measure(commands: Commands, server: ProviderServer, subject: str) -> Iterator[Figure]:
    indexed, indexing = commands.run("first", "index")
    yield Figure(subject, "indexed files", indexed["files"], "files")
    yield Figure(subject, "requests of indexing", len(server.received), "requests")
    yield Figure(subject, "embedded texts of indexing", len(server.texts), "texts")
    yield from _costs(subject, "indexing", indexing)
    for clone, way in _PULLS.items():
        _, pushing = commands.run("first", "push", "--index", "--yes", *commands.store(clone))
        yield from _costs(subject, f"push to {way}", pushing)
    server.received.clear()
    for clone, way in _PULLS.items():
        report, pulling = commands.run(clone, "pull", "--index", *commands.store(clone))
        yield from _costs(subject, f"pull from {way}", pulling, indexing.cpu)
        yield Figure(subject, f"pull from {way}, chunks", report["pulled"]["rows"], "chunks")
        yield Figure(subject, f"pull from {way}, files missing", report["pulled"]["missing"], "files", at_most=0)
        yield Figure(subject, f"pull from {way}, transferred", report["pulled"]["bytes"] / (1 << 20), "MiB")
    report, current = commands.run("by-refs", "index")
    yield from _costs(subject, "index after a pull", current)
    digests = {commands.digest(clone) for clone in ("first", *_PULLS)}
    yield Figure(subject, "different digests", len(digests) - 1, "", at_most=0)
    report, checking = commands.run("by-refs", "verify", "--remote", "origin")
    yield from _costs(subject, "verify --remote", checking)
    yield Figure(subject, "verify --remote, blobs made again", report["checked"], "blobs")
    yield Figure(subject, "verify --remote, faults", len(report["faults"]), "", at_most=0)
    yield Figure(subject, "requests of pull, index and verify", len(server.received), "requests", at_most=0)
    report, query = commands.run("by-refs", "query", "read the configuration file")
    yield from _costs(subject, "query after a pull", query)
    yield Figure(subject, "query, results", len(report["results"]), "results", at_least=1)
    # Its own text is all that it sends.
    yield Figure(subject, "query, embedded texts", len(server.texts), "texts", at_most=1)


def _costs(subject: str, name: str, peak: Peak, cpu: float | None = None) -> list[Figure]:
    """Return the costs of a command as figures; the limit applies to its CPU time."""
    return [
        Figure(subject, f"{name}, CPU", peak.cpu, "s CPU", at_most=cpu),
        Figure(subject, f"{name}, elapsed", peak.elapsed, "s"),
        Figure(subject, f"{name}, peak memory", peak.proportional / 1024, "MiB"),
    ]
