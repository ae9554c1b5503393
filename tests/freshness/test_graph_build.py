"""Building the neighbour graph of a real index while other processes read and write it."""

import subprocess
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gitmem.actions.gc import collect
from gitmem.answering.search_query import Query
from gitmem.answering.searcher import Searcher, open_searcher
from gitmem.errors import ConfigError
from gitmem.freshness.graph_build import build, is_behind, start_if_behind
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.locks import writer_lock
from gitmem.settings import Settings
from gitmem.store import graph as graph_module
from gitmem.store.graph import RowGraph, build_bytes, is_available
from gitmem.workspace import Workspace
from tests.gitrepo import Repo
from tests.indexes import (
    DIMENSIONS,
    InlinePool,
    brief_hits,
    files_in,
    index,
    manifest_of,
    python_file,
    search,
    workspace_of,
)

pytestmark = pytest.mark.skipif(not is_available(), reason="hnswlib is not installed")


@pytest.fixture
def repo(tmp_path: Path, fake_model: type[InlinePool]) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({f"part{number}.py": python_file(f"step_{number}", f"part_{number}") for number in range(20)})
    index(repo)
    return repo


def with_threshold(repo: Repo, threshold: int = 10) -> Workspace:
    return workspace_of(repo)._replace(settings=Settings(graph_threshold=threshold))


def check_progress(finished: int, total: int) -> None:
    assert finished <= total


def test_a_graph_is_built_then_extended_then_unchanged_while_it_is_complete(repo: Repo) -> None:
    assert is_behind(with_threshold(repo), manifest_of(repo))
    assert "(40 added)" in build(with_threshold(repo), check_progress)
    assert not is_behind(with_threshold(repo), manifest_of(repo))
    repo.commit({f"more{number}.py": python_file(f"more_{number}") for number in range(10)})
    index(repo)
    first = manifest_of(repo).graph
    assert is_behind(with_threshold(repo), manifest_of(repo))
    assert "(10 added)" in build(with_threshold(repo), check_progress)
    second = manifest_of(repo)
    assert second.graph != first
    assert "holds all" in build(with_threshold(repo), check_progress)
    assert manifest_of(repo) == second
    assert {file.name.split(".")[0] for file in files_in(with_threshold(repo).paths.graphs)} == {second.graph}


def test_a_graph_is_built_on_request_only_by_default(repo: Repo) -> None:
    assert not is_behind(workspace_of(repo), manifest_of(repo))
    assert start_if_behind(workspace_of(repo)) == ""
    assert manifest_of(repo).graph == ""
    assert "(40 added)" in build(workspace_of(repo), check_progress)
    assert manifest_of(repo).graph


def with_memory(repo: Repo, rows: int) -> Workspace:
    """Return the workspace with as much memory as a graph of so many rows needs."""
    settings = Settings(graph_threshold=10, max_memory=build_bytes(rows, DIMENSIONS))
    return workspace_of(repo)._replace(settings=settings)


def test_a_graph_that_needs_more_memory_than_allowed_is_not_built(repo: Repo) -> None:
    with pytest.raises(ConfigError, match="a graph of 40 chunks needs about 96 MiB of memory") as told:
        build(with_memory(repo, 39), check_progress)
    assert told.value.hint == "git config gitmem.maxMemory 121m"
    assert start_if_behind(with_memory(repo, 39)).endswith("allows 96; until then search is exact")
    assert manifest_of(repo).graph == ""
    assert "(40 added)" in build(with_memory(repo, 40), check_progress)


def test_a_graph_that_fits_only_without_rows_that_are_gone_is_built_anew(repo: Repo) -> None:
    build(with_memory(repo, 40), check_progress)
    repo.git("rm", "--quiet", *(f"part{number}.py" for number in range(8)))
    repo.write({"more.py": python_file("more")})
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--amend", "--no-verify", "-m", "fewer")
    repo.git("reflog", "expire", "--expire=now", "--all")
    index(repo)
    collect(workspace_of(repo), now=True)
    rows = manifest_of(repo).rows
    assert rows == 25
    assert build(with_memory(repo, rows), check_progress) == "the graph holds 25 chunks (25 added)"


def open_now(repo: Repo) -> Searcher:
    workspace = workspace_of(repo)
    return open_searcher(workspace, WORKING_TREE)


def test_an_open_searcher_uses_the_graph_and_returns_the_exact_results(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = brief_hits(search(repo, "step_7"))
    searcher = open_now(repo)
    assert not searcher.load_graph()
    build(with_threshold(repo), check_progress)
    assert brief_hits(search(repo, "step_7")) == before
    searcher = open_now(repo)
    exact = searcher.find(Query("step_7"), 5)[1]
    assert searcher.load_graph()
    limits = []
    nearest = RowGraph.nearest

    def count_calls(self: RowGraph, vector: Any, limit: int) -> Any:
        limits.append(limit)
        return nearest(self, vector, limit)

    monkeypatch.setattr(RowGraph, "nearest", count_calls)
    assert searcher.find(Query("step_7"), 5)[1] == exact
    assert limits


def test_with_a_damaged_graph_the_search_is_exact(repo: Repo) -> None:
    build(with_threshold(repo), check_progress)
    for file in files_in(with_threshold(repo).paths.graphs):
        if file.suffix == ".hnsw":
            content = bytearray(file.read_bytes())
            content[len(content) // 2] ^= 1
            file.write_bytes(content)
    searcher = open_now(repo)
    assert not searcher.load_graph()
    assert searcher.find(Query("step_7"), 5)[1]


def test_a_graph_of_another_model_is_not_published(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    real = graph_module.write_graph

    def write_late(paths: Any, graph: Any) -> str:
        name = real(paths, graph)
        monkeypatch.setattr("gitmem.indexing.fingerprint.WORDS_VERSION", 99)
        index(repo)
        return name

    monkeypatch.setattr("gitmem.freshness.graph_build.write_graph", write_late)
    assert "another model" in build(with_threshold(repo), check_progress)
    assert manifest_of(repo).graph == ""


def test_a_build_keeps_what_another_run_indexed_meanwhile(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    real = graph_module.write_graph

    def write_late(paths: Any, graph: Any) -> str:
        repo.commit({"late.py": python_file("late_thing")})
        index(repo)
        return real(paths, graph)

    monkeypatch.setattr("gitmem.freshness.graph_build.write_graph", write_late)
    build(with_threshold(repo), check_progress)
    assert manifest_of(repo).graph
    assert brief_hits(search(repo, "late_thing"))[0][0] == "late.py"


def test_only_one_process_builds_the_graph(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    fake = SimpleNamespace(DEVNULL=subprocess.DEVNULL, Popen=lambda command, **_: started.append(command))
    monkeypatch.setattr("gitmem.freshness.graph_build.subprocess", fake)
    with writer_lock(with_threshold(repo).paths.state / "graph-builder", wait=False):
        messages: list[str] = []
        thread = threading.Thread(target=lambda: messages.append(start_if_behind(with_threshold(repo))))
        thread.start()
        thread.join()
    assert "is being built" in messages[0]
    assert started == []
    assert "background" in start_if_behind(with_threshold(repo))
    assert len(started) == 1
