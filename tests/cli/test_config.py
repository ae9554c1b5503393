"""`gitmem config`: values with their origins, and every problem at once."""

import json
from pathlib import Path

import pytest

from gitmem.errors import ExitCode
from gitmem.settings import OBSOLETE, SETTINGS
from tests.gitrepo import Repo
from tests.sample import Cli


def rows(text: str) -> dict[str, list[str]]:
    return {line.split()[0]: line.split()[1:] for line in text.splitlines()}


def test_each_origin_is_named_with_its_file_or_variable(repo: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.git("config", "gitmem.jobs", "3")
    repo.git("config", "gitmem.healBudget", "7")
    repo.write({".gitmem.toml": 'exclude = ["old/", "*.bin"]\n'})
    for name, value in (("GITMEM_JOBS", "4"), ("RAG_MAX_RESULTS", "5"), ("CHUNK_MAX_TOKENS", "500")):
        monkeypatch.setenv(name, value)
    outcome = cli("config", "show", "--origin", cwd=repo.path)
    shown = rows(outcome.out)
    assert outcome.code == ExitCode.OK
    assert shown["gitmem.jobs"] == ["4", "environment", "GITMEM_JOBS"]
    assert shown["gitmem.healBudget"] == ["7", "local", str(repo.path / ".git" / "config")]
    assert shown["gitmem.searchDefaultLimit"] == ["5", "environment", "RAG_MAX_RESULTS"]
    assert shown["gitmem.chunkMaxBytes"] == ["2000", "environment", "CHUNK_MAX_TOKENS"]
    assert shown["gitmem.fusion"] == ["zscore", "default"]
    assert shown["gitmem.exclude"] == ["old/,", "*.bin", ".gitmem.toml", str(repo.path / ".gitmem.toml")]
    value = json.loads(cli("config", "show", "--json", cwd=repo.path).out)
    assert value["repository"] == str(repo.path)
    assert {"name": "gitmem.jobs", "value": "4", "origin": "environment", "place": "GITMEM_JOBS"} in value["settings"]
    assert not (repo.path / ".gitmem").exists()


def test_a_setting_of_gitmem_has_precedence_over_one_of_another_program(
    repo: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_MAX_RESULTS", "5")
    repo.git("config", "gitmem.searchDefaultLimit", "6")
    assert rows(cli("config", "show", cwd=repo.path).out)["gitmem.searchDefaultLimit"] == ["6"]


def test_outside_a_repository_the_users_own_configuration_is_shown(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("config", "show", cwd=tmp_path)
    assert outcome.code == ExitCode.OK
    assert len(rows(outcome.out)) == len(SETTINGS)
    assert json.loads(cli("config", "show", "--json", cwd=tmp_path).out)["repository"] is None


def test_check_reports_every_problem(repo: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli("config", "check", cwd=repo.path).out == f"valid: {len(SETTINGS)} settings\n"
    repo.git("config", "gitmem.jobs", "x")
    repo.git("config", "gitmem.jbos", "3")
    repo.git("config", "gitmem.languages", "pyhton")
    repo.write({".gitmem.toml": "exclud = ['a']\n"})
    monkeypatch.setenv("GITMEM_HEALBUDGET", "1")
    monkeypatch.setenv("RAG_CHUNK_SIZE", "1")
    outcome = cli("config", "check", cwd=repo.path)
    assert outcome.code == ExitCode.USAGE
    for part in ("gitmem.jobs`", "gitmem.jbos", "pyhton", "`exclud`", "GITMEM_HEALBUDGET", "RAG_CHUNK_SIZE"):
        assert part in outcome.err
    assert "did you mean `GITMEM_HEAL_BUDGET`?" in outcome.err
    value = json.loads(cli("config", "check", "--json", cwd=repo.path).out)
    assert (value["valid"], len(value["problems"])) == (False, 6)


def test_variables_without_a_meaning_give_one_notice(repo: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CHROMADB_HOST", "CONFIG_PATH"):
        monkeypatch.setenv(name, "x")
    for command in ("show", "check"):
        outcome = cli("config", command, cwd=repo.path)
        assert outcome.code == ExitCode.OK
        assert outcome.err == "note: no meaning for gitmem, which needs no database: CHROMADB_HOST, CONFIG_PATH\n"
    assert set(OBSOLETE).isdisjoint(alias.variable for setting in SETTINGS for alias in setting.aliases)


@pytest.mark.parametrize("command", [("index",), ("init",), ("mcp", "--http", "--port", "0"), ("watch",), ("status",)])
def test_an_invalid_file_ends_every_command_before_it_writes_or_listens(
    repo: Repo, cli: Cli, command: tuple[str, ...]
) -> None:
    repo.write({".gitmem.toml": "exclud = ['a']\n"})
    outcome = cli(*command, cwd=repo.path)
    assert (outcome.code, outcome.out) == (ExitCode.USAGE, "")
    assert "unknown key `exclud`" in outcome.err
    assert not (repo.path / ".gitmem").exists()


def test_a_command_warns_of_a_variable_that_nothing_reads(
    cli: Cli, indexed: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_GITMEM_VARIABLE", "1")
    assert "warning" not in cli("query", "sign", cwd=indexed.path).err
    monkeypatch.setenv("GITMEM_SEARCH_MAX_LIMITT", "3")
    warning = "warning: unknown environment variable `GITMEM_SEARCH_MAX_LIMITT`\n"
    hint = "hint: did you mean `GITMEM_SEARCH_MAX_LIMIT`? unset GITMEM_SEARCH_MAX_LIMITT\n"
    for args in (["query", "sign"], ["query", "sign", "--rev", "HEAD"], ["status"]):
        assert cli(*args, cwd=indexed.path).err.count(warning + hint) == 1, args
    assert "warning" not in cli("-q", "query", "sign", cwd=indexed.path).err
