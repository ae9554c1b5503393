"""Submodules and nested repositories: each is indexed as its own, and they are searched together."""

import json
from pathlib import Path

import pytest

from gitmem.errors import ExitCode
from gitmem.git.locate import locate
from gitmem.git.nested_repositories import find_nested
from gitmem.registry import OFF_VARIABLE, read_registry
from gitmem.workspace import open_workspace, registered_folder
from tests.gitrepo import Repo
from tests.indexes import python_file
from tests.sample import Cli, assert_error

pytestmark = pytest.mark.usefixtures("fake_model")


@pytest.fixture
def outer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """Make a repository with a submodule, which has a nested repository, and a nested one in an untracked folder."""
    monkeypatch.delenv(OFF_VARIABLE)
    library = Repo.init(tmp_path / "library")
    library.commit({"lib.py": python_file("read_library")})
    outer = Repo.init(tmp_path / "outer")
    outer.commit({"main.py": python_file("read_outer"), ".gitignore": "cache/\n"})
    outer.git("submodule", "--quiet", "add", str(library.path), "vendor/lib")
    outer.git("commit", "--quiet", "-m", "vendor")
    for place in ("vendor/lib/deep", "tools/lib", "cache/lib"):
        Repo.init(outer.path / place).commit({"inner.py": python_file("read_" + place.partition("/")[0])})
    return outer


def folders(outer: Repo) -> list[str]:
    return [str(nested.folder.relative_to(outer.path)) for nested in find_nested(locate(outer.path))]


def test_submodules_and_nested_repositories_are_found_at_any_depth_unless_ignored(outer: Repo) -> None:
    assert folders(outer) == ["tools/lib", "vendor/lib", "vendor/lib/deep"]
    outer.git("submodule", "--quiet", "deinit", "--force", "vendor/lib")
    assert folders(outer) == ["tools/lib"]


def test_a_link_to_another_repository_is_not_entered(outer: Repo, tmp_path: Path) -> None:
    other = Repo.init(tmp_path / "other")
    other.commit({"a.py": "x = 1\n"})
    (outer.path / "linked").symlink_to(other.path)
    outer.git("rm", "--quiet", "--cached", "vendor/lib")
    assert "linked" not in folders(outer)


def test_a_submodule_is_listed_by_its_working_tree(outer: Repo, cli: Cli, tmp_path: Path) -> None:
    place = outer.path / "vendor/lib"
    assert registered_folder(open_workspace(place, {})) == place
    outer.git("-C", "vendor/lib", "worktree", "add", "--quiet", str(tmp_path / "linked"))
    assert registered_folder(open_workspace(tmp_path / "linked", {})) == place
    assert cli("index", cwd=place).code == ExitCode.OK
    assert cli("repos", "add", cwd=place).out == f"lib  {place}\n"
    assert json.loads(cli("repos", "show", str(place), "--json").out)["chunks"] == 1
    # It is searched once, as the repository of the current folder.
    answer = json.loads(cli("query", "--all", "--json", "read", cwd=place).out)
    assert [one["name"] for one in answer["repositories_searched"]] == ["lib"]


def test_all_are_indexed_and_searched_together(outer: Repo, cli: Cli) -> None:
    outcome = cli("index", "--recurse-submodules", cwd=outer.path)
    assert (outcome.code, outcome.err) == (ExitCode.OK, "")
    assert [line.split()[:2] for line in outcome.out.splitlines() if line.startswith("indexed")] == [
        ["indexed", "outer"], ["indexed", "lib"], ["indexed", "lib"], ["indexed", "deep"]]  # fmt: skip
    found = cli("query", "--recurse-submodules", "-l", "--mode", "lexical", "read", cwd=outer.path / "tools")
    assert sorted(found.out.split()) == ["deep:inner.py", "lib-2:lib.py", "lib:inner.py", "outer:main.py"]
    assert found.err == ""
    # From inside of a submodule only what is inside of that.
    inside = cli("query", "--recurse-submodules", "-l", "--mode", "lexical", "read", cwd=outer.path / "vendor/lib")
    assert sorted(inside.out.split()) == ["deep:inner.py", "lib-2:lib.py"]


def test_the_setting_stands_for_the_option(outer: Repo, cli: Cli) -> None:
    outer.git("config", "gitmem.recurseSubmodules", "true")
    assert cli("index", cwd=outer.path).out.count("indexed ") == 4
    assert len(cli("query", "-l", "--mode", "lexical", "read", cwd=outer.path).out.split()) == 4
    for options in (("--no-recurse-submodules",), ("--rev", "HEAD"), ("--staged",), ("--repo", "outer")):
        out = cli("query", "-l", "--mode", "lexical", *options, "read", cwd=outer.path).out
        assert [line.rpartition(":")[2] for line in out.split()] == ["main.py"], options
    assert cli("index", "--no-recurse-submodules", cwd=outer.path).out.startswith("up to date: main")
    assert cli("index", "--rev", "HEAD", cwd=outer.path).out.startswith("up to date: HEAD")


def test_repositories_without_a_list_have_names_of_their_own(
    outer: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(OFF_VARIABLE, "1")
    reports = json.loads(cli("index", "--recurse-submodules", "--json", cwd=outer.path).out)["repositories"]
    assert [Path(report["path"]).name for report in reports] == ["outer", "lib", "lib", "deep"]
    assert {report["status"] for report in reports} == {"success"}
    out = cli("query", "--recurse-submodules", "-l", "--mode", "lexical", "read", cwd=outer.path).out
    assert sorted(out.split()) == ["deep:inner.py", "lib-2:lib.py", "lib:inner.py", "outer:main.py"]


def test_one_that_git_cannot_open_stops_none_of_the_others(outer: Repo, cli: Cli) -> None:
    (outer.path / "tools/lib/.git/config").write_text("[core\n")
    outcome = cli("index", "--recurse-submodules", cwd=outer.path)
    assert (outcome.code, outcome.out.count("indexed ")) == (ExitCode.FAILED, 3)
    assert outcome.err.startswith(f"error: {outer.path}/tools/lib: ")
    found = cli("query", "--recurse-submodules", "-l", "--mode", "lexical", "read", cwd=outer.path)
    assert len(found.out.split()) == 3
    assert "skipped" in found.err


def test_options_that_mean_one_repository_are_refused(outer: Repo, cli: Cli, make_repo: object) -> None:
    for option in (("--rev", "HEAD"), ("--exclude", "*.py"), ("--reset",), ("--dry-run",)):
        outcome = cli("index", "--recurse-submodules", *option, cwd=outer.path)
        assert_error(outcome, ExitCode.USAGE, f"`--recurse-submodules` and `{option[0]}` exclude each other")
    outcome = cli("query", "--recurse-submodules", "--rev", "HEAD", "x", cwd=outer.path)
    assert_error(outcome, ExitCode.USAGE, "searches working trees", "leave out")
    bare = Repo.init(outer.path.parent / "bare", "--bare")
    assert_error(cli("index", "--recurse-submodules", cwd=bare.path), ExitCode.USAGE, "needs a working tree")


def test_the_list_has_each_repository_once(outer: Repo, cli: Cli, home: Path) -> None:
    for _ in range(2):
        assert cli("index", "--recurse-submodules", cwd=outer.path).code == ExitCode.OK
    listed = [str(known.path.relative_to(outer.path.parent)) for known in read_registry({"HOME": str(home)})]
    assert sorted(listed) == ["outer", "outer/tools/lib", "outer/vendor/lib", "outer/vendor/lib/deep"]
