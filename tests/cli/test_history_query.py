"""`gitmem query --history` and `gitmem index --history` as users and programs see them."""

import json
from pathlib import Path

import pytest

from gitmem.errors import ExitCode
from gitmem.freshness.past_run import index_past
from tests.gitrepo import Repo
from tests.indexes import index, workspace_of
from tests.past_histories import ENCODER, PastRepo, make_past
from tests.sample import Cli, assert_error

pytestmark = pytest.mark.usefixtures("fake_model")


@pytest.fixture
def past(tmp_path: Path) -> PastRepo:
    past = make_past(Repo.init(tmp_path / "repo"))
    index(past.repo)
    return past


@pytest.fixture
def indexed(past: PastRepo) -> PastRepo:
    index_past(workspace_of(past.repo))
    return past


def test_the_cost_is_printed_before_the_run_and_the_size_after_it(cli: Cli, past: PastRepo) -> None:
    outcome = cli("index", "--history", cwd=past.repo.path)
    assert outcome.code == ExitCode.OK
    plan, result = [line for line in outcome.out.splitlines() if "versions of files" in line]
    assert "4 versions of files in 5 commits to index: about" in plan
    assert "of one core" in plan
    assert "4 versions of files in 5 commits  4 new, 5 definitions" in result
    again = json.loads(cli("index", "--history", "--json", cwd=past.repo.path).out)["past"]
    assert (again["commits"], again["versions"], again["versions_indexed"], again["chunks"]) == (5, 4, 0, 5)


def test_a_version_that_git_lacks_is_named_and_counted(cli: Cli, past: PastRepo) -> None:
    blob = past.repo.oid(f"{past.commits['first']}:src/net.py")
    past.repo.loose_object(blob).unlink()
    outcome = cli("index", "--history", cwd=past.repo.path)
    assert outcome.code == ExitCode.FAILED  # as for a file of HEAD
    assert "4 versions of files in 5 commits  3 new, 1 unreadable, " in outcome.out
    (line,) = outcome.err.splitlines()
    assert line.startswith(
        f"warning: src/net.py: the version {blob} cannot be read (missing or damaged); to get it back"
    )
    again = json.loads(cli("index", "--history", "--json", cwd=past.repo.path).out)["past"]
    assert (again["versions_indexed"], again["versions_unread"], len(again["problems"])) == (0, 1, 1)


def test_results_say_when_they_lived(cli: Cli, indexed: PastRepo) -> None:
    outcome = cli("query", "--history", "encode dates as json", cwd=indexed.repo.path)
    assert outcome.code == ExitCode.OK
    assert "src/wire.py:1-5  JsonEncoder" in outcome.out
    removal, encoder = indexed.commits["removal"][:9], indexed.commits["encoder"][:9]
    assert f"  introduced {encoder}" in outcome.out
    assert f"  removed {removal}" in outcome.out
    assert "5 commits up to" in outcome.out
    assert "JsonEncoder" not in cli("query", "encode dates as json", cwd=indexed.repo.path).out


def test_blame_finds_the_first_commit_by_a_trace(cli: Cli, indexed: PastRepo) -> None:
    again = indexed.repo.commit({"src/wire.py": ENCODER}, "Encode dates again")
    index_past(workspace_of(indexed.repo))
    asked = ("query", "--history", "encode dates as json", "-n", "1")
    assert f"  introduced {indexed.commits['encoder'][:9]}" in cli(*asked, cwd=indexed.repo.path).out
    assert f"  introduced {again[:9]}" in cli(*asked, "--blame", cwd=indexed.repo.path).out


def test_blame_leaves_a_result_whose_object_is_gone(cli: Cli, indexed: PastRepo) -> None:
    indexed.repo.loose_object(indexed.repo.oid(f"{indexed.commits['encoder']}:src/wire.py")).unlink()
    outcome = cli("query", "--history", "--blame", "encode dates as json", cwd=indexed.repo.path)
    assert outcome.code == ExitCode.OK
    assert f"  introduced {indexed.commits['encoder'][:9]}" in outcome.out


def test_programs_get_the_same_as_json_or_lines(cli: Cli, indexed: PastRepo) -> None:
    asked = ("query", "--history", "encode dates as json", "-n", "1")
    (result,) = json.loads(cli(*asked, "--json", cwd=indexed.repo.path).out)["results"]
    assert json.loads(cli(*asked, "--jsonl", cwd=indexed.repo.path).out) == result
    assert result["removed"]["commit"] == indexed.commits["removal"]
    assert cli(*asked, "-l", cwd=indexed.repo.path).out == f"{result['path']}\n"


def test_nothing_found_has_its_own_exit_code(cli: Cli, indexed: PastRepo) -> None:
    outcome = cli("query", "--history", "--author", "nobody", "encode dates", cwd=indexed.repo.path)
    assert outcome.code == ExitCode.NO_RESULTS
    assert "no results in the history (5 commits up to" in outcome.err


def test_results_below_the_least_score_are_counted(cli: Cli, indexed: PastRepo) -> None:
    outcome = cli("query", "--history", "--min-score", "1", "json encoder", cwd=indexed.repo.path)
    assert outcome.code == ExitCode.NO_RESULTS
    assert " below 1.00, best " in outcome.err
    assert outcome.err.endswith("hint: to see them: --min-score 0\n")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("query", "--history", "--rev", "HEAD", "x"), "`--history` and `--rev` exclude each other"),
        (("query", "--history", "--kind", "notes", "x"), "`--history` and `--kind` exclude each other"),
        (("query", "--history", "-C", "3", "x"), "`--history` and `--context` exclude each other"),
        (("query", "--history", "--all", "x"), "`--history` and `--all` exclude each other"),
        (("query", "--removed", "HEAD~1..", "x"), "`--removed` applies to `--history`"),
        (("index", "--since", "2020-01-01"), "`--since` applies to `--history`"),
        (("index", "--history", "--since", "soon"), "soon"),
    ],
)
def test_bad_options_are_refused(cli: Cli, indexed: PastRepo, args: tuple[str, ...], message: str) -> None:
    assert_error(cli(*args, cwd=indexed.repo.path), ExitCode.USAGE, message)


def test_without_an_index_of_the_past_the_command_for_it_is_named(cli: Cli, past: PastRepo) -> None:
    outcome = cli("query", "--history", "encode dates", cwd=past.repo.path)
    assert_error(outcome, ExitCode.NO_INDEX, "the code of the past is not indexed")
    assert "gitmem index --history" in outcome.err
