"""Pulling an index against making it: processor time, transferred bytes, and requests to a remote model.

The remote model is a server in this process, whose own work does not count. Both ways end with the same complete index.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from tests.bench.figures import Figure
from tests.bench.processes import Command, run, run_measured
from tests.embedding.provider_server import provider_server
from tests.gitrepo import Repo, isolated_environment

_DIMENSIONS = 256
"""Length of the vectors, as many models can cut theirs."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("repository", type=Path, help="repository whose HEAD is indexed")
    parser.add_argument("--bundled", action="store_true", help="with the bundled model instead of a remote one")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Run the benchmark and return its figures."""
    with tempfile.TemporaryDirectory() as place, provider_server(_DIMENSIONS) as server:
        folder = Path(place)
        remote = Repo.init(folder / "remote", "--bare")
        source = options.repository.resolve()
        remote.git("fetch", "--quiet", "--depth=1", source.as_uri(), "+HEAD:refs/heads/main")
        (folder / "store").mkdir()
        environment = isolated_environment() | {"GITMEM_USE_SERVER": "false", "PYTHONPATH": str(Path.cwd())}
        if not options.bundled:
            environment |= {
                "GITMEM_PROVIDER": "openai-compatible", "GITMEM_PROVIDER_URL": server.url, "GITMEM_MODEL": "small",
                "GITMEM_PROVIDER_KEY": "a-key-of-a-benchmark",
            }  # fmt: skip
        clones = {name: folder / name for name in ("first", "by-refs", "by-folder")}
        for path in clones.values():
            remote.git("clone", "--quiet", "--branch=main", remote.path.as_uri(), str(path))

        def command(clone: str, *arguments: str) -> Command:
            return Command([sys.executable, "-m", "gitmem", *arguments], clones[clone], environment)

        _, indexing = run_measured(command("first", "index"))
        requests, texts = len(server.received), len(server.texts)
        for store in ([], ["--store", str(folder / "store")]):
            run(command("first", "push", "--index", *store))
        server.received.clear()
        ways = {"by-refs": [], "by-folder": ["--store", str(folder / "store")]}
        outcomes = {}
        for clone, store in ways.items():
            output, seconds = run_measured(command(clone, "pull", "--index", "--json", *store))
            outcomes[clone] = json.loads(output)["pulled"], seconds
        asked = len(server.received)
        digests = {clone: json.loads(run(command(clone, "verify", "--json")))["digest"]["digest"] for clone in clones}
    subject = f"{source.name}, {'bundled' if options.bundled else 'remote'} model"
    figures = [
        Figure(subject, "processor time of indexing", indexing, "s"),
        Figure(subject, "requests of indexing", requests, "requests"),
        Figure(subject, "embedded texts of indexing", texts, "texts"),
        Figure(subject, "different digests", len(set(digests.values())) - 1, "", at_most=0),
        Figure(subject, "requests of both pulls", asked, "requests", at_most=0),
    ]
    for clone, (pulled, seconds) in outcomes.items():
        figures += [
            Figure(subject, f"processor time of a pull {clone.replace('-', ' ')}", seconds, "s", at_most=indexing),
            Figure(subject, f"chunks of a pull {clone.replace('-', ' ')}", pulled["rows"], "chunks"),
            Figure(subject, f"transferred bytes {clone.replace('-', ' ')}", pulled["bytes"], "B"),
        ]
    return figures
