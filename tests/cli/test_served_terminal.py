"""Served output on a terminal: the same bytes as without a server, pager, colours and width included."""

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.terminal import run_on_terminal
from tests.gitrepo import Repo
from tests.resident.served import serving, without_times
from tests.sample import SIGN, Outcome

SERVED = """
import sys
from gitmem.cli.ask_server import print_answer
from gitmem.resident.client import Client
answer = Client(120.0, 120.0).ask(sys.argv[1:])
sys.exit(print_answer(answer) if answer else 99)
"""
COLD = "import sys; from gitmem.cli.main import main; main()"
LOUD = "sed 's/^/paged: /'"


def run_script(script: str, *args: str, cwd: Path, variables: Mapping[str, str]) -> Outcome:
    """Run a script on a terminal."""
    return Outcome(*run_on_terminal([sys.executable, "-P", "-c", script, *args], cwd, variables), "")


@pytest.mark.parametrize(
    "variables",
    [
        {"GIT_PAGER": LOUD},
        {"GIT_PAGER": LOUD, "COLUMNS": "50"},
        {"GIT_PAGER": "cat"},
        {"GIT_PAGER": "cat", "NO_COLOR": "1", "PYTHONUNBUFFERED": ""},
        {"GIT_PAGER": "tac", "PYTHONUNBUFFERED": ""},
        {"GIT_PAGER": "cat", "PYTHONUNBUFFERED": "1"},
    ],
)
def test_a_terminal_gets_the_same_from_a_server(own: Repo, variables: Mapping[str, str]) -> None:
    own.write({"unreadable-name-\x1b[31m.py": "def red():\n    pass\n"})
    commands = (["query", "-n", "3", "cookie", "src"], ["query", "--path", "none/**", "x"], ["query", "-n", "0", "x"])
    with serving(own.path):
        for args in (*commands, ["related", "--full", "src/cookies.py:8"], ["--no-pager", "query", SIGN]):
            served = run_script(SERVED, *args, cwd=own.path, variables=variables)
            cold = run_script(COLD, "--no-server", *args, cwd=own.path, variables=variables)
            assert without_times(served) == without_times(cold), args


def test_a_pager_that_does_not_exist_is_left_to_the_client(own: Repo) -> None:
    with serving(own.path):
        served = run_script(SERVED, "query", SIGN, cwd=own.path, variables={"GIT_PAGER": "no-such-pager"})
    assert served.code == 99
