"""Building the neighbour graph of a real index, beside whoever reads and writes it."""

import subprocess
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gitmem.answering.search_query import Query
from gitmem.answering.searcher import Searcher, open_searcher
from gitmem.freshness.graph_build import build, is_behind, start_if_behind
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.locks import writer_lock
from gitmem.settings import Settings
from gitmem.store import graph as graph_module
from gitmem.store.graph import RowGraph, is_available
from gitmem.workspace import Workspace
from tests.gitrepo import Repo
from tests.indexes import InlinePool, brief_hits, files_in, index, manifest_of, python_file, search, workspace_of

pytestmark = pytest.mark.skipif(not is_available(), reason="hnswlib is not installed")


@pytest.fixture
def repo(tmp_path: Path, fake_model: type[InlinePool]) -> Repo:
    made = Repo.init(tmp_path / "repo")
    made.commit({f"part{number}.py": python_file(f"step_{number}", f"part_{number}") for number in range(20)})
    index(made)
    return made


def small(repo: Repo, threshold: int = 10) -> Workspace:
    return workspace_of(repo)._replace(settings=Settings(graph_threshold=threshold))


def quiet(done: int, total: int) -> None:
    assert done <= total


def test_a_graph_is_built_extended_and_left_alone_when_it_holds_everything(repo: Repo) -> None:
    assert is_behind(small(repo), manifest_of(repo))
    assert "(40 added)" in build(small(repo), quiet)
    assert not is_behind(small(repo), manifest_of(repo))
    repo.commit({f"more{number}.py": python_file(f"more_{number}") for number in range(10)})
    index(repo)
    first = manifest_of(repo).graph
    assert is_behind(small(repo), manifest_of(repo))
    assert "(10 added)" in build(small(repo), quiet)
    second = manifest_of(repo)
    assert second.graph != first
    assert "holds all" in build(small(repo), quiet)
    assert manifest_of(repo) == second
    assert {file.name.split(".")[0] for file in files_in(small(repo).paths.graphs)} == {second.graph}


def test_a_small_index_has_no_graph(repo: Repo) -> None:
    assert "searched exactly" in build(workspace_of(repo), quiet)
    assert not is_behind(workspace_of(repo), manifest_of(repo))
    assert start_if_behind(workspace_of(repo)) == ""
    assert manifest_of(repo).graph == ""


def held_open(repo: Repo) -> Searcher:
    workspace = workspace_of(repo)
    return open_searcher(workspace, WORKING_TREE)


def test_a_search_held_open_asks_the_graph_and_answers_the_same(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    before = brief_hits(search(repo, "step_7"))
    searcher = held_open(repo)
    assert not searcher.load_graph()
    build(small(repo), quiet)
    assert brief_hits(search(repo, "step_7")) == before
    searcher = held_open(repo)
    exact = searcher.find(Query("step_7"), 5)[1]
    assert searcher.load_graph()
    asked = []
    nearest = RowGraph.nearest

    def counted(self: RowGraph, vector: Any, keep: int) -> Any:
        asked.append(keep)
        return nearest(self, vector, keep)

    monkeypatch.setattr(RowGraph, "nearest", counted)
    assert searcher.find(Query("step_7"), 5)[1] == exact
    assert asked


def test_a_damaged_graph_leaves_a_search_exact(repo: Repo) -> None:
    build(small(repo), quiet)
    for file in files_in(small(repo).paths.graphs):
        if file.suffix == ".hnsw":
            content = bytearray(file.read_bytes())
            content[len(content) // 2] ^= 1
            file.write_bytes(content)
    searcher = held_open(repo)
    assert not searcher.load_graph()
    assert searcher.find(Query("step_7"), 5)[1]


def test_a_graph_of_another_model_is_not_taken_over(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    real = graph_module.write_graph

    def write_late(paths: Any, graph: Any) -> str:
        name = real(paths, graph)
        monkeypatch.setattr("gitmem.indexing.fingerprint.WORDS_VERSION", 99)
        index(repo)
        return name

    monkeypatch.setattr(graph_module, "write_graph", write_late)
    assert "another model" in build(small(repo), quiet)
    assert manifest_of(repo).graph == ""


def test_what_was_indexed_meanwhile_is_kept(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    real = graph_module.write_graph

    def write_late(paths: Any, graph: Any) -> str:
        repo.commit({"late.py": python_file("late_thing")})
        index(repo)
        return real(paths, graph)

    monkeypatch.setattr(graph_module, "write_graph", write_late)
    build(small(repo), quiet)
    assert manifest_of(repo).graph
    assert brief_hits(search(repo, "late_thing"))[0][0] == "late.py"


def test_one_process_builds_at_a_time(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    fake = SimpleNamespace(DEVNULL=subprocess.DEVNULL, Popen=lambda command, **_: started.append(command))
    monkeypatch.setattr("gitmem.freshness.graph_build.subprocess", fake)
    with writer_lock(small(repo).paths.state / "graph-builder", wait=False):
        told: list[str] = []
        asking = threading.Thread(target=lambda: told.append(start_if_behind(small(repo))))
        asking.start()
        asking.join()
    assert "is being built" in told[0]
    assert started == []
    assert "background" in start_if_behind(small(repo))
    assert len(started) == 1
