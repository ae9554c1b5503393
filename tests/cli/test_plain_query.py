"""Queries that are run without click: parsed as click parses them, with the output of the command."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gitmem.cli import tree_search
from gitmem.cli.main import run
from gitmem.cli.plain_query import parse_plain_query
from gitmem.cli.plain_search import run_plain_query
from gitmem.cli.root import invoke
from gitmem.errors import UsageError
from gitmem.paths import IndexPaths
from tests.gitrepo import Repo
from tests.sample import SIGN

PLAIN = [
    ["query", SIGN], ["search", "sign", "cookies"], ["query", "sign", "--json"],
    ["query", "--jsonl", "-n", "3", "sign"],
    ["query", "sign", "-l", "--limit", "2"], ["query", "--full", "sign"], ["-q", "query", "sign", "README.md"],
    ["--no-server", "query", "sign", "src"], ["query", "nothing_of_this_kind_is_here_at_all"],
    ["query", "-n", "007", "sign"], ["-C", "", "query", "sign"], ["-C.", "query", "sign"],
]  # fmt: skip
LEFT_TO_CLICK = [
    [], ["--help"], ["status"], ["query"], ["query", "--help"], ["query", "-h", "x"], ["query", "--rev", "HEAD", "x"],
    ["query", "-n", "0", "x"], ["query", "-n", "x", "y"], ["query", "-n"], ["query", "-n3", "x"],
    ["query", "--limit=3", "x"], ["query", "--json", "--jsonl", "x"], ["query", "x", "--", "src"],
    ["query", "-e", "-x"], ["--log-level", "debug", "query", "x"], ["query", "--jso", "x"],
    ["memory", "query"], ["query", "-n", "9" * 5000, "x"], ["query", "-n", "²", "x"],
]  # fmt: skip


@pytest.mark.parametrize("args", PLAIN, ids=" ".join)
def test_a_plain_query_searches_and_prints_as_the_command(
    args: list[str], indexed: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(indexed.path)
    searched: list[tuple[Any, ...]] = []
    search = tree_search.search_trees

    def record(workspace: Any, names: Any, query: Any, selection: Any, form: Any, *, refresh: bool) -> Any:
        searched.append((workspace.paths, list(names), query, selection, form, refresh))
        return search(workspace, names, query, selection, form, refresh=refresh)

    monkeypatch.setattr("gitmem.cli.plain_search.search_trees", record)
    monkeypatch.setattr("gitmem.cli.query.search_trees", record)
    assert parse_plain_query(args, {}) is not None
    outputs = []
    for command in (run, invoke):
        code = command(args)
        out, err = capfd.readouterr()
        outputs.append((code, _without_times(out), _without_times(err)))
    assert outputs[0] == outputs[1]
    assert len(searched) == 2
    assert searched[0] == searched[1]


def test_an_empty_query_is_refused_as_by_the_command(indexed: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(indexed.path)
    for command in (run_plain_query_of, invoke):
        with pytest.raises(UsageError, match="the query is empty"):
            command(["query", ""])


def run_plain_query_of(args: list[str]) -> int:
    """Run a command line that is a plain query."""
    query = parse_plain_query(args, {})
    assert query is not None
    return run_plain_query(query)


@pytest.mark.parametrize("args", LEFT_TO_CLICK)
def test_any_other_command_line_is_left_to_click(args: list[str]) -> None:
    assert parse_plain_query(args, {}) is None


def test_the_completion_of_a_shell_is_left_to_click() -> None:
    assert parse_plain_query(["query", "x"], {}) is not None
    assert parse_plain_query(["query", "x"], {"_GITMEM_COMPLETE": "bash_complete"}) is None


def test_a_plain_query_counts_as_an_event_of_the_command(indexed: Repo) -> None:
    before = _events(indexed.path)
    codes = [
        subprocess.run([sys.executable, "-m", "gitmem", *args], cwd=indexed.path, check=False).returncode
        for args in (["query", SIGN], ["-C", str(indexed.path), "search", "qqqq xxxx zzzz"])
    ]
    assert codes == [0, 1]
    names = [line.split()[:2] for line in _events(indexed.path)[len(before) :] if line.startswith("cli.")]
    assert names == [["cli.query", "ok"], ["cli.search", "exit_1"]]


def _events(repository: Path) -> list[str]:
    return IndexPaths(repository / ".gitmem").journal.read_text().splitlines()


def _without_times(text: str) -> str:
    text = re.sub(r"\d+ ms\b", "N ms", text)
    text = re.sub(r'"query_time_ms": [\d.]+', '"query_time_ms": N', text)
    return re.sub(r"search_[0-9a-f]{8}", "search_N", text)
