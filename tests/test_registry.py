"""The registry of repositories: concurrent writers lose nothing, and an invalid file counts as empty."""

import json
import multiprocessing
from pathlib import Path

import pytest

from gitmem.errors import ExitCode, UsageError
from gitmem.registry import KnownRepository, add_repository, read_registry, registry_file, remove_repository
from tests.gitrepo import Repo
from tests.sample import Cli


def test_repositories_are_listed_once_and_named_after_their_folders(tmp_path: Path) -> None:
    here = {"HOME": str(tmp_path)}
    assert add_repository(here, Path("/a/flask")) == KnownRepository("flask", Path("/a/flask"))
    assert add_repository(here, Path("/b/flask")) == KnownRepository("flask-2", Path("/b/flask"))
    assert add_repository(here, Path("/a/flask")) == KnownRepository("flask", Path("/a/flask"))
    assert add_repository(here, Path("/a/flask"), "web") == KnownRepository("web", Path("/a/flask"))
    assert read_registry(here) == [
        KnownRepository("flask-2", Path("/b/flask")),
        KnownRepository("web", Path("/a/flask")),
    ]
    with pytest.raises(UsageError, match="another repository is called `web`"):
        add_repository(here, Path("/c"), "web")
    assert remove_repository(here, "web") == KnownRepository("web", Path("/a/flask"))
    assert remove_repository(here, "/b/flask") == KnownRepository("flask-2", Path("/b/flask"))
    assert remove_repository(here, "web") is None
    assert read_registry(here) == []


def test_the_registry_is_in_the_data_directory_and_private(tmp_path: Path) -> None:
    here = {"HOME": "/nowhere", "XDG_DATA_HOME": str(tmp_path / "data")}
    add_repository(here, Path("/a"))
    file = registry_file(here)
    assert file == tmp_path / "data" / "gitmem" / "repositories.json"
    assert file.stat().st_mode & 0o077 == 0
    assert registry_file({"HOME": "/h", "XDG_DATA_HOME": "relative"}) == Path(
        "/h/.local/share/gitmem/repositories.json"
    )


@pytest.mark.parametrize("environment", [{}, {"HOME": "/tmp", "GITMEM_NO_REGISTRY": "1"}])
def test_without_a_home_or_if_turned_off_there_is_no_registry(environment: dict[str, str]) -> None:
    assert registry_file(environment) is None
    assert add_repository(environment, Path("/a")) is None
    assert read_registry(environment) == []
    assert remove_repository(environment, "a") is None


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"repositories": 7}', '{"repositories": [1, {"name": "x"}]}',
                '{"repositories": [{"name": "", "path": "/a"}, {"name": "x", "path": "relative"}]}']
)  # fmt: skip
def test_an_invalid_registry_counts_as_empty(tmp_path: Path, content: str) -> None:
    here = {"HOME": str(tmp_path)}
    add_repository(here, Path("/a"))
    file = registry_file(here)
    assert file is not None
    file.write_text(content)
    assert read_registry(here) == []
    add_repository(here, Path("/b"))
    assert json.loads(file.read_text())["repositories"] == [{"name": "b", "path": "/b"}]


def _add(home: str, number: int) -> None:
    add_repository({"HOME": home}, Path(f"/r/{number}"))


def test_concurrent_writers_lose_nothing(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        pool.starmap(_add, [(str(tmp_path), number) for number in range(30)])
    assert {known.name for known in read_registry({"HOME": str(tmp_path)})} == {str(number) for number in range(30)}


def test_commands_list_add_and_remove_repositories(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITMEM_NO_REGISTRY")
    repo = Repo.init(tmp_path / "mine")
    repo.commit({"a.py": "def f():\n    pass\n"})
    assert cli("repos", "list").out == ""
    assert cli("-q", "init", "--no-hooks", "--no-mcp", cwd=repo.path).code == 0
    assert cli("repos", "list").out == f"mine  {repo.path}  indexed\n"
    assert cli("repos", "add", "--name", "own", str(repo.path)).out == f"own  {repo.path}\n"
    assert json.loads(cli("repos", "list", "--json").out) == [
        {"name": "own", "path": str(repo.path), "state": "indexed"}
    ]
    other = Repo.init(tmp_path / "other")
    cli("repos", "add", cwd=other.path)
    other.path.rename(tmp_path / "moved")
    assert f"other  {other.path}  missing" in cli("repos", "list").out
    assert cli("repos", "remove", "other").code == 0
    assert cli("repos", "remove", "other").code == ExitCode.USAGE
    cli("uninstall", "--yes", cwd=repo.path)
    assert cli("repos", "list").out == ""


def test_init_succeeds_without_a_writable_registry(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITMEM_NO_REGISTRY")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    repo = Repo.init(tmp_path / "mine")
    repo.commit({"a.py": "def f():\n    pass\n"})
    assert cli("-q", "init", "--no-hooks", "--no-mcp", cwd=repo.path).code == 0
