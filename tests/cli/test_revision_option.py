"""The options `--rev` and `--at` of all commands that read a revision."""

import pytest

from gitmem.errors import ExitCode
from tests.gitrepo import Repo
from tests.sample import Cli, assert_error

COMMANDS = (
    ("query", "session", "--json"),
    ("get", "src/cookies.py", "--json"),
    ("usages", "make_signature", "--json"),
    ("map", "--json"),
    ("when", "src/cookies.py:1", "--json"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_date_selects_a_commit(cli: Cli, indexed: Repo, command: tuple[str, ...]) -> None:
    name, *rest = command
    early = cli(name, "--at", "2024-01-02", *rest, cwd=indexed.path)
    assert "no commit before `2024-01-02`" in early.err
    assert early.code != ExitCode.OK
    late = cli(name, "--at", "2024-01-03", *rest, cwd=indexed.path)
    assert late.code == ExitCode.OK
    assert "at:2024-01-03" in late.out or name == "get"
    both = cli(name, "--at", "2024-01-03", "--rev", "HEAD", *rest, cwd=indexed.path)
    assert_error(both, ExitCode.USAGE, "`--rev` and `--at` exclude each other")


def test_a_tree_at_a_date_is_indexed_on_request(cli: Cli, own: Repo) -> None:
    assert cli("index", "--at", "2024-01-03", cwd=own.path).code == ExitCode.OK
    assert_error(cli("index", "--at", "soon", cwd=own.path), ExitCode.USAGE, "the date is `soon`")


@pytest.mark.parametrize("command", ["usages", "map", "query"])
def test_a_wrong_date_is_refused_for_all_repositories(cli: Cli, indexed: Repo, command: str) -> None:
    outcome = cli(command, "--repo", ".", "--at", "2024-13-01", "x", cwd=indexed.path)
    assert_error(outcome, ExitCode.USAGE, "the date is `2024-13-01`, it must be a date or time as ISO 8601")
