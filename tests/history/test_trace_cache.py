"""Cached histories: the same as those that git tells, without asking it, and worth nothing if damaged."""

from pathlib import Path

import pytest

from gitmem.chunking.element import FileElements
from gitmem.chunking.elements import find_elements
from gitmem.git.locate import locate
from gitmem.git.objects import open_reader
from gitmem.history.element_reader import ElementReader
from gitmem.history.trace import Trace
from gitmem.history.trace_cache import TraceCache
from gitmem.history.tracer import Tracer
from gitmem.paths import HISTORY
from gitmem.store import history_file
from gitmem.store.history_file import read_history, write_history
from gitmem.workspace import create_index, open_workspace
from tests.gitrepo import Repo
from tests.history.tracing import find
from tests.sample import Cli

ADD = "def add(first, second):\n    total = first + second\n    return total\n"
SUB = "def sub(first, second):\n    return first - second\n"


class CountingParser:
    """Parser that counts how often it is called."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, data: bytes, language: str) -> FileElements:
        self.calls += 1
        return find_elements(data, language)


@pytest.fixture
def repo(repo: Repo) -> Repo:
    """A function that changes, moves with its file and changes again."""
    repo.commit({"a.py": f"{ADD}\n\n{SUB}"}, "first")
    repo.commit({"a.py": f"{ADD.replace('total', 'result')}\n\n{SUB}"}, "second")
    repo.git("mv", "a.py", "b.py")
    repo.commit(message="move")
    repo.commit({"b.py": f"# Adds.\n{ADD}\n\n{SUB}"}, "third")
    return repo


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder for the cache."""
    folder = tmp_path / "cache"
    folder.mkdir()
    return folder


def cached_trace(repo: Repo, folder: Path, symbol: str = "add") -> tuple[Trace, int]:
    """Return the trace of a function of `b.py` with a cache in a folder, and the number of parsed blobs."""
    location, parser, cache = locate(repo.path), CountingParser(), TraceCache(folder)
    with open_reader(location, bulk=False) as blobs:
        reader = ElementReader(blobs, parser, cache=cache)
        version = find(reader.version(b"b.py", repo.oid("HEAD:b.py")), symbol)
        reader.keep(version.source)
        trace = Tracer(location, reader, cache).trace(repo.oid("HEAD"), version)
    cache.save()
    return trace, parser.calls


def test_a_cached_trace_is_the_same_and_parses_nothing(repo: Repo, folder: Path) -> None:
    first, parsed = cached_trace(repo, folder)
    assert [change.kinds for change in first.changes] == [
        ("body", "documentation"), ("file move",), ("body",), ("introduced",),
    ]  # fmt: skip
    assert parsed > 1
    assert cached_trace(repo, folder) == (first, 0)
    other, _ = cached_trace(repo, folder, "sub")
    assert [change.kinds for change in other.changes] == [("file move",), ("introduced",)]
    assert cached_trace(repo, folder) == (first, 0)


def test_commits_that_leave_the_path_alone_find_the_trace(repo: Repo, folder: Path) -> None:
    first, _ = cached_trace(repo, folder)
    repo.commit({"c.py": SUB}, "other")
    assert cached_trace(repo, folder) == (first, 0)
    repo.commit({"b.py": f"# Adds.\n{ADD}\n\n{SUB.replace('-', '+')}"}, "fourth")
    later, parsed = cached_trace(repo, folder)
    assert (later, parsed > 0) == (first, True)


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "other path", "other version", "wrong type"])
def test_a_file_that_is_not_as_written_is_written_again(repo: Repo, folder: Path, damage: str) -> None:
    first, parsed = cached_trace(repo, folder)
    for file in folder.iterdir():
        data, fields = file.read_bytes(), dict(read_history(file))
        match damage:
            case "empty":
                file.write_bytes(b"")
            case "cut":
                file.write_bytes(data[:-9])
            case "flipped":
                file.write_bytes(bytes([*data[:-50], data[-50] ^ 1, *data[-49:]]))
            case "other path":
                write_history(file, {**fields, "path": b"other"})
            case "other version":
                write_history(file, {**fields, "version": "0"})
            case _:
                write_history(file, {**fields, "lists": 7})
    assert cached_trace(repo, folder) == (first, parsed)
    assert cached_trace(repo, folder) == (first, 0)


def test_the_files_are_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_file, "MAX_FILES", 3)
    monkeypatch.setattr(history_file, "MAX_BYTES", 2000)
    for number in range(5):
        write_history(folder / f"{HISTORY}{number}", {"number": number})
    assert len(list(folder.iterdir())) == 3
    (folder / "other").write_bytes(b"x" * 5000)
    write_history(folder / f"{HISTORY}long", {"text": "x" * 1900})
    assert sorted(file.name for file in folder.iterdir()) == [f"{HISTORY}long", "other"]


def test_a_command_caches_only_in_an_index(cli: Cli, repo: Repo) -> None:
    cold = cli("when", "b.py:3", cwd=repo.path)
    assert not (repo.path / ".gitmem").exists()
    create_index(open_workspace(repo.path, {}))
    state = repo.path / ".gitmem" / "state"
    assert cli("when", "b.py:3", cwd=repo.path) == cold
    assert len(list(state.glob(f"{HISTORY}*"))) == 2
    assert cli("when", "b.py:3", cwd=repo.path) == cold
    repo.git("clone", "-q", "--depth=2", f"file://{repo.path}", "shallow")
    create_index(open_workspace(repo.path / "shallow", {}))
    assert cli("when", "b.py:3", cwd=repo.path / "shallow").code == 0
    assert not list((repo.path / "shallow" / ".gitmem" / "state").glob(f"{HISTORY}*"))
