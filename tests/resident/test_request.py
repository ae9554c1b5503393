"""A server refuses a client whose environment could lead to another answer."""

import os
from pathlib import Path

import pytest

from gitmem.resident.client import describe
from gitmem.resident.request import Request, find_difference, parse_request
from tests.gitrepo import Repo


@pytest.fixture
def request_here(repo: Repo) -> Request:
    """Return the request of a client in this process's environment."""
    return parse_request(describe(["query", "x"], os.fspath(repo.path), os.fspath(repo.path)))


@pytest.mark.parametrize(
    "name",
    ["HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_EXEC_PATH",
     "GITMEM_SEARCH_DEFAULT_LIMIT", "LD_PRELOAD", "TZ"],
)  # fmt: skip
def test_variables_that_change_answers_are_compared(request_here: Request, name: str) -> None:
    assert find_difference(request_here, os.environ) == ""
    assert find_difference(request_here, {**os.environ, name: "another"}) == f"another value of {name}"
    less = {key: value for key, value in os.environ.items() if key != name}
    assert (find_difference(request_here, less) == "") == (name not in os.environ)


@pytest.mark.parametrize("name", ["NO_COLOR", "COLUMNS", "TERM", "GIT_PAGER", "PWD", "GITMEM_MCP_TOKEN", "GIT_DIR"])
def test_variables_of_the_terminal_and_those_that_gitmem_ignores_are_not(request_here: Request, name: str) -> None:
    assert find_difference(request_here, {**os.environ, name: "another"}) == ""


def test_another_git_on_the_path_is_a_difference(request_here: Request, tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    path = f"{folder}:{os.environ['PATH']}"
    assert find_difference(request_here, {**os.environ, "PATH": path}) == ""
    (folder / "git").write_text("#!/bin/sh\n")
    (folder / "git").chmod(0o755)
    assert find_difference(request_here, {**os.environ, "PATH": path}) == "another program git on PATH"


def test_another_filter_program_on_the_path_is_a_difference(request_here: Request, repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "filter.upper.clean", "upper -x %f")
    folder = tmp_path / "bin"
    folder.mkdir()
    path = f"{folder}:{os.environ['PATH']}"
    assert find_difference(request_here, {**os.environ, "PATH": path}) == ""
    (folder / "upper").write_text("#!/bin/sh\n")
    (folder / "upper").chmod(0o755)
    assert find_difference(request_here, {**os.environ, "PATH": path}) == "another program upper on PATH"


def test_another_installation_or_file_system_is_a_difference(request_here: Request) -> None:
    other = request_here._replace(process=request_here.process[:-1] + b"?")
    assert find_difference(other, os.environ) == "another installation, Python or file system"
