"""On a terminal, long output goes through the pager that git would use; otherwise no pager is started."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from gitmem.cli.pager import choose_pager
from gitmem.cli.style import choose_style
from gitmem.errors import ExitCode
from tests.cli.terminal import run_on_terminal
from tests.gitrepo import Repo
from tests.sample import SIGN

LOUD = "sed 's/^/paged: /'"


def run_gitmem(*args: str, cwd: Path, variables: Mapping[str, str]) -> tuple[int, str]:
    """Run gitmem on a terminal; return exit code and output with plain ends of lines."""
    code, output = run_on_terminal([sys.executable, "-m", "gitmem", *args], cwd, variables)
    return code, output.replace("\r\n", "\n")


@pytest.mark.parametrize(
    "args",
    [
        ["query", SIGN],
        ["related", "src/cookies.py:8"],
        ["help", "query"],
        ["memory", "list", "--json"],
        ["doc", "list", "--json"],
        ["conversation", "list", "--json"],
    ],
)
def test_output_on_a_terminal_goes_through_the_pager(indexed: Repo, args: list[str]) -> None:
    code, output = run_gitmem(*args, cwd=indexed.path, variables={"GIT_PAGER": LOUD})
    assert code == ExitCode.OK
    assert output
    assert all(line.startswith("paged: ") for line in output.splitlines()), output


def test_paged_output_has_colours_and_the_width_of_the_terminal(indexed: Repo) -> None:
    variables = {"GIT_PAGER": LOUD, "COLUMNS": "60"}
    _, output = run_gitmem("query", "-n", "1", SIGN, cwd=indexed.path, variables=variables)
    assert "\x1b[35msrc/cookies.py" in output
    heading = next(line for line in output.splitlines() if "src/cookies.py" in line)
    assert heading.endswith("\x1b[0m")


@pytest.mark.parametrize("args", [["--no-pager", "query", SIGN], ["status"], ["-V"], ["query", "--help"]])
def test_output_without_a_pager(indexed: Repo, args: list[str]) -> None:
    code, output = run_gitmem(*args, cwd=indexed.path, variables={"GIT_PAGER": LOUD})
    assert code == ExitCode.OK
    assert "paged: " not in output


def test_no_pager_is_started_without_a_terminal(indexed: Repo) -> None:
    environment = {**os.environ, "GIT_PAGER": LOUD}
    command = [sys.executable, "-m", "gitmem", "query", SIGN]
    process = subprocess.run(command, cwd=indexed.path, env=environment, capture_output=True, text=True, check=True)
    assert "paged: " not in process.stdout
    assert "\x1b" not in process.stdout


def test_a_pager_that_leaves_early_is_not_an_error(indexed: Repo) -> None:
    code, output = run_gitmem("help", "query", cwd=indexed.path, variables={"GIT_PAGER": "head -n 1"})
    assert (code, output) == (ExitCode.OK, "Usage: gitmem query [OPTIONS] TEXT...|- [-- PATH...]\n")


@pytest.mark.parametrize("pager", ["/nowhere/pager", "/nowhere/pager --option"])
def test_a_pager_that_does_not_exist_is_reported(indexed: Repo, pager: str) -> None:
    code, output = run_gitmem("help", "query", cwd=indexed.path, variables={"GIT_PAGER": pager})
    assert code == ExitCode.OK
    assert f"the pager `{pager}` cannot be run" in " ".join(output.split())


def test_an_error_is_printed_after_the_pager_has_ended(indexed: Repo) -> None:
    code, output = run_gitmem("memory", "show", "mem_0123456789ab", cwd=indexed.path, variables={"GIT_PAGER": LOUD})
    assert code == ExitCode.USAGE
    assert output.startswith("error: no such record")


def test_the_default_pager_leaves_at_once_if_the_output_fits(indexed: Repo) -> None:
    code, output = run_gitmem("query", "-n", "1", SIGN, cwd=indexed.path, variables={"LINES": "50"})
    assert code == ExitCode.OK
    assert "src/cookies.py" in output


def test_the_pager_is_chosen_as_git_chooses_it(own: Repo) -> None:
    folder = str(own.path)
    assert choose_pager({}, folder) == "less"
    assert choose_pager({"PAGER": "more"}, folder) == "more"
    own.git("config", "core.pager", "delta --dark")
    assert choose_pager({"PAGER": "more"}, folder) == "delta --dark"
    assert choose_pager({"PAGER": "more", "GIT_PAGER": "most"}, folder) == "most"
    assert choose_pager({"GIT_PAGER": ""}, folder) == ""
    assert choose_pager({"GIT_PAGER": "cat"}, folder) == ""


@pytest.mark.parametrize(
    ("choice", "environment", "coloured"),
    [
        ("auto", {}, False),
        ("auto", {"CLICOLOR_FORCE": "1"}, True),
        ("auto", {"FORCE_COLOR": "1"}, True),
        ("auto", {"FORCE_COLOR": "3", "TERM": "dumb"}, True),
        ("auto", {"FORCE_COLOR": "0"}, False),
        ("auto", {"CLICOLOR_FORCE": "0"}, False),
        ("auto", {"FORCE_COLOR": ""}, False),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ("auto", {"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False),
        ("auto", {"CLICOLOR_FORCE": "1", "NO_COLOR": ""}, True),
        ("auto", {"GIT_PAGER_IN_USE": "true"}, True),
        ("auto", {"GIT_PAGER_IN_USE": "true", "NO_COLOR": "1"}, False),
        ("always", {"NO_COLOR": "1"}, True),
        ("never", {"FORCE_COLOR": "1"}, False),
    ],
)
def test_when_output_has_colours(choice: str, environment: dict[str, str], coloured: bool) -> None:
    assert choose_style(choice, environment).coloured is coloured
