"""What people see on a terminal: line breaks, empty lines between results, the report and the hint of `init`."""

import os
import shlex
from pathlib import Path

import pytest

from gitmem.cli.style import fold
from tests.gitrepo import MakeRepo, Repo
from tests.sample import Cli, make_sample

WIDTH = 60


def use_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make standard output a terminal of 60 columns. Call it in a test: its fixtures have another standard output."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("sys.stdout.fileno", lambda: 1)
    monkeypatch.setattr("os.get_terminal_size", lambda _: os.terminal_size((WIDTH, 24)))


def test_a_long_line_is_broken_between_words_and_indented_below_its_text() -> None:
    text = "languages  python 81, markdown 4, toml 3, yaml 2"
    assert fold(text, 30).split("\n") == ["languages  python 81, markdown", "           4, toml 3, yaml 2"]
    assert fold("  one two three", 9).split("\n") == ["  one two", "    three"]
    assert fold("see /a/very/long/path/without/blanks now", 20).split("\n") == [
        "see", "  /a/very/long/path/without/blanks", "  now",
    ]  # fmt: skip
    assert fold("short", 20) == "short"


@pytest.mark.parametrize("args", [("status",), ("index", "--full"), ("hooks", "status")])
def test_no_line_is_longer_than_the_terminal_unless_a_word_is(
    cli: Cli, own: Repo, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...]
) -> None:
    use_terminal(monkeypatch)
    output = cli(*args, cwd=own.path).out
    assert output
    for line in output.splitlines():
        assert len(line) <= WIDTH or len(line.split()) <= 2, line


def test_results_are_separated_by_empty_lines_on_a_terminal_only(
    cli: Cli, indexed: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = ("query", "-n", "2", "--color", "never", "sign cookie")
    assert "" not in cli(*args, cwd=indexed.path).out.splitlines()
    use_terminal(monkeypatch)
    lines = cli(*args, cwd=indexed.path).out.splitlines()
    assert lines.count("") == 1
    assert lines[0] != ""


def test_init_suggests_a_query_that_has_a_result_and_compares_with_nothing(cli: Cli, tmp_path: Path) -> None:
    repo = make_sample(tmp_path / "repo")
    output = cli("init", "--no-hooks", "--no-mcp", cwd=repo.path).out
    assert "->" not in output
    suggestion = next(line for line in output.splitlines() if line.startswith("  search: "))
    assert suggestion == '  search: gitmem query "reads and writes the session cookie"'
    program, *args = shlex.split(suggestion.removeprefix("  search: "))
    assert program == "gitmem"
    assert cli(*args, cwd=repo.path).code == 0


@pytest.mark.parametrize(
    ("files", "query"),
    [
        ({"a.py": "def parse_config_file(path):\n    return 1\n"}, "parse config file"),
        ({"a.go": "package a\n\n// Parses the file of settings. Then returns.\nfunc Parse() {}\n"}, None),
        (
            {"a.go": "package a\n\n// Parse reads the settings of a shop.\nfunc Parse() {}\n"},
            "reads the settings of a shop",
        ),
        ({"a.py": 'def run():\n    """Run it now."""\n'}, "run it now"),
        ({"a.py": 'def run_it():\n    """Even though the org.shop file is there."""\n'}, "run it"),
        ({"a.py": 'def run_it():\n    """We choose not to call others."""\n'}, "run it"),
        (
            {"a.py": 'def run():\n    """Run it now."""\n', "b.py": 'def f():\n    """Write all rows at once."""\n'},
            "write all rows at once",
        ),
        ({"a.py": 'def run():\n    """Delete $(rm -rf x) `all` "files"."""\n'}, ""),
        ({"notes.txt": "nothing but words\n"}, ""),
        ({}, ""),
    ],
)
def test_the_suggested_query_fits_the_repository_and_is_safe_to_paste(
    cli: Cli, make_repo: MakeRepo, files: dict[str, str], query: str | None
) -> None:
    repo = make_repo()
    repo.commit(files)
    lines = cli("init", "--no-hooks", "--no-mcp", cwd=repo.path).out.splitlines()
    suggested = [line.split('"')[1] for line in lines if line.startswith("  search: ")]
    assert suggested == ([query] if query else [] if query == "" else suggested)
    for text in suggested:
        assert cli("query", text, cwd=repo.path).code == 0


def test_files_that_init_wrote_are_not_uncommitted_changes_of_the_user(cli: Cli, tmp_path: Path) -> None:
    repo = make_sample(tmp_path / "repo")
    assert cli("init", "--no-hooks", cwd=repo.path).code == 0
    assert (repo.path / ".mcp.json").exists()
    assert "changed" not in cli("status", cwd=repo.path).out
    assert "uncommitted" not in cli("query", "-n", "1", "sign cookie", cwd=repo.path).out
    (repo.path / "mine.py").write_text("def mine():\n    return 1\n")
    assert "changed    untracked 1" in cli("status", cwd=repo.path).out
    assert "+ 1 uncommitted file," in cli("query", "-n", "1", "sign cookie", cwd=repo.path).out
    file = repo.path / ".mcp.json"
    file.write_text(file.read_text() + " ")
    assert "changed    untracked 2" in cli("status", cwd=repo.path).out


def test_the_chunks_of_a_tree_are_never_more_than_those_of_the_index(cli: Cli, make_repo: MakeRepo) -> None:
    """Files with the same content share their chunks."""
    repo = make_repo()
    repo.commit({f"copy_{number}.py": "def a():\n    return 1\n" for number in range(5)})
    assert "5 files  1 chunk  " in cli("init", "--no-hooks", "--no-mcp", cwd=repo.path).out
    assert "chunks     1 in this tree, 1 in the index" in cli("status", cwd=repo.path).out
