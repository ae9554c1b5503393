"""`gc` removes stored vectors of a provider that nothing needs, and none that would have to be paid for again."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.actions.gc import CollectReport, collect
from gitmem.indexing.vector_retention import KEEP_SECONDS
from gitmem.workspace import open_workspace
from tests.embedding.provider_server import ProviderServer, provider_server
from tests.gitrepo import Repo
from tests.sample import Cli

OLD = KEEP_SECONDS + 60


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    with provider_server() as server:
        for name, value in {"PROVIDER": "openai-compatible", "PROVIDER_URL": server.url, "MODEL": "small",
                            "USE_SERVER": "false"}.items():  # fmt: skip
            monkeypatch.setenv(f"GITMEM_{name}", value)
        yield server


@pytest.fixture
def repo(own: Repo, cli: Cli, remote: ProviderServer) -> Repo:
    """Index a file and remove it from the history, so that its text is indexed no more after `gc`."""
    own.git("checkout", "-q", "-b", "side")
    own.commit({"side.py": "def side_effect_handler(event):\n    return event\n"})
    assert cli("index", cwd=own.path).code == 0
    own.git("checkout", "-q", "main")
    own.git("branch", "-q", "-D", "side")
    own.git("reflog", "expire", "--expire=now", "--all")
    return own


def age(repo: Repo, seconds: float = OLD) -> None:
    at = time.time() - seconds
    for path in (repo.path / ".gitmem" / "vectors").rglob("*"):
        os.utime(path, (at, at))


def collect_now(repo: Repo, *, dry_run: bool = False) -> CollectReport:
    return collect(open_workspace(repo.path, os.environ), now=True, dry_run=dry_run)


def model_folders(repo: Repo) -> set[Path]:
    return set((repo.path / ".gitmem" / "vectors").iterdir())


def vector_files(repo: Repo) -> set[Path]:
    return set((repo.path / ".gitmem" / "vectors").rglob("*.vectors"))


def test_vectors_of_texts_that_are_no_longer_indexed_are_removed(cli: Cli, repo: Repo, remote: ProviderServer) -> None:
    assert collect_now(repo).blobs == 1
    before = vector_files(repo)
    assert collect_now(repo).bytes == 0, "too young, whatever the user asks for"
    age(repo)
    would_free = collect_now(repo, dry_run=True)
    assert vector_files(repo) == before
    freed = collect_now(repo)
    # A hash, 48 numbers and a scale.
    assert would_free.bytes == freed.bytes == 16 + 48 + 2
    assert vector_files(repo) != before
    sent = len(remote.texts)
    assert cli("index", "--full", cwd=repo.path).code == 0
    assert set(remote.texts[sent:]) <= {"dimensions"}, "the vectors of all other texts are still there"
    repo.commit({"side.py": "def side_effect_handler(event):\n    return event\n"})
    assert cli("index", cwd=repo.path).code == 0
    assert "side_effect_handler" in remote.texts[-1]


def test_vectors_of_models_that_are_not_used_any_more_are_removed(
    cli: Cli, repo: Repo, remote: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = model_folders(repo)
    age(repo)
    monkeypatch.setenv("GITMEM_MODEL", "other")
    collect_now(repo)
    assert model_folders(repo) == first, "the index is still made with the first model"
    age(repo)
    assert cli("index", cwd=repo.path).code == 0
    second = model_folders(repo) - first
    assert len(second) == 1
    collect_now(repo)
    assert model_folders(repo) == second


def test_a_model_that_was_used_lately_keeps_its_vectors(
    cli: Cli, repo: Repo, remote: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    age(repo)
    assert cli("index", "--full", cwd=repo.path).code == 0  # opens the vectors, and adds none
    files = vector_files(repo)
    monkeypatch.setenv("GITMEM_PROVIDER", "bundled")
    assert cli("index", cwd=repo.path).code == 0
    collect_now(repo)
    assert vector_files(repo) == files
    age(repo)
    collect_now(repo)
    assert vector_files(repo) == set()


def test_a_damaged_file_stops_no_collection(repo: Repo) -> None:
    [file] = vector_files(repo)
    file.write_bytes(file.read_bytes()[:100])
    age(repo)
    assert collect_now(repo).bytes == 0
