"""The registry of repositories: concurrent writers lose nothing, and an invalid file counts as empty."""

import json
import multiprocessing
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.pool import Pool
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.actions.repository_rows import read_rows, totals_json
from gitmem.errors import UsageError
from gitmem.registry import (
    KnownRepository,
    add_repository,
    read_registry,
    registry_file,
    remove_repository,
    rename_repository,
)
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


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """Start processes that write at the same time."""
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        yield pool


def test_concurrent_writers_lose_nothing(tmp_path: Path, pool: Pool) -> None:
    pool.starmap(_add, [(str(tmp_path), number) for number in range(30)])
    assert {known.name for known in read_registry({"HOME": str(tmp_path)})} == {str(number) for number in range(30)}


@pytest.mark.parametrize(
    "name", ["../x y", "a/b", "", ".", "-n", "a:b", "*", "a\nb", "x" * 101, "repository", "conversation"]
)
def test_an_invalid_name_is_refused_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    here = {"HOME": str(tmp_path)}
    add_repository(here, Path("/a"))
    with pytest.raises(UsageError, match="name of a repository"):
        rename_repository(here, "a", name)
    if name:
        with pytest.raises(UsageError, match="name of a repository"):
            add_repository(here, Path("/b"), name)
    assert read_registry(here) == [KnownRepository("a", Path("/a"))]


def test_names_of_folders_become_valid_names(tmp_path: Path) -> None:
    here = {"HOME": str(tmp_path)}
    names = {
        folder: add_repository(here, Path(folder)) for folder in ("/r/my project", "/r/.config", "/", "/caf\udce9")
    }
    assert [known and known.name for known in names.values()] == ["my-project", "config", "unnamed", "caf"]


FOLDERS = ("/r/one", "/r/two", "/r/three")
NAMES = ("one", "two", "x", "a b")
steps = st.one_of(
    st.tuples(st.just("add"), st.sampled_from(FOLDERS), st.sampled_from(("", *NAMES))),
    st.tuples(st.just("rename"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("remove"), st.sampled_from((*NAMES, *FOLDERS)), st.just("")),
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(steps, max_size=8))
def test_the_list_has_exactly_the_repositories_that_were_added(
    tmp_path: Path, steps: list[tuple[str, str, str]]
) -> None:
    """Property 1: Retrieval completeness.

    Property 17: Deletion. Property 19: Rename.
    """
    here = {"HOME": str(tmp_path)}
    for known in read_registry(here):
        remove_repository(here, known.name)
    expected: dict[str, str] = {}
    for action, one, other in steps:
        with suppress(UsageError):
            _take_step(here, expected, action, one, other)
        rows = read_rows(here)
        assert {row.path: row.name for row in rows} == expected
        assert len({row.name for row in rows}) == len(rows)
        assert {row.state for row in rows} <= {"Missing"}
        assert totals_json(rows)["repositories"] == len(expected)


def _take_step(here: dict[str, str], expected: dict[str, str], action: str, one: str, other: str) -> None:
    """Change the registry, and the expected names by folder if it accepts the change."""
    if action == "add":
        added = add_repository(here, Path(one), other)
        assert added is not None
        assert not other or added.name == other
        expected[one] = added.name
    elif action == "rename":
        renamed = rename_repository(here, one, other)
        assert renamed is not None
        assert renamed.name == other
        assert one in expected.values()
        assert one == other or other not in expected.values()
        expected[str(renamed.path)] = other
    else:
        removed = remove_repository(here, one)
        assert (removed is None) == (one not in expected and one not in expected.values())
        if removed is not None:
            del expected[str(removed.path)]


def _rename(home: str, name: str) -> bool:
    try:
        return rename_repository({"HOME": home}, "a", name) is not None
    except UsageError:
        return False


def test_of_concurrent_renames_one_wins(tmp_path: Path, pool: Pool) -> None:
    home = str(tmp_path)
    for _ in range(5):
        known = add_repository({"HOME": home}, Path("/a"), "a")
        assert known is not None
        names = [f"b{number}" for number in range(6)]
        won = pool.starmap(_rename, [(home, name) for name in names], chunksize=1)
        winners = [name for name, is_winner in zip(names, won, strict=True) if is_winner]
        assert [known.name for known in read_registry({"HOME": home})] == winners
        assert len(winners) == 1


def test_init_succeeds_without_a_writable_registry(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITMEM_NO_REGISTRY")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    repo = Repo.init(tmp_path / "mine")
    repo.commit({"a.py": "def f():\n    pass\n"})
    assert cli("-q", "init", "--no-hooks", "--no-mcp", cwd=repo.path).code == 0
