"""`gitmem eval`, and the reports of other commands on the weights it stores."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.answering.weights_in_force import ranking_fingerprint
from gitmem.cli.eval import _fit_lines
from gitmem.cli.main import run
from gitmem.errors import ExitCode
from gitmem.search.engine import FUSION_WEIGHTS
from gitmem.search.fuse import FusionWeights
from gitmem.search.metrics import Gain, Quality
from gitmem.search.weight_fit import WeightFit
from gitmem.settings import Settings
from gitmem.store.fitted_weights import Tuning, write_tuning
from tests.cli.test_startup import HEAVY, imported_modules
from tests.commit_history import WORDS, make_history
from tests.gitrepo import ISOLATION, Repo
from tests.sample import Cli, assert_error

LONG = ("--budget", "3600")
"""Budget that no machine exceeds."""

TUNING = Tuning("", 0.1, 0.9, 0.0321, 98)


@pytest.fixture(scope="module")
def _history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Make a repository with many commits and index it once with the real model."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ISOLATION.items():
            patch.setenv(name, value)
        repo = make_history(tmp_path_factory.mktemp("history") / "repo")
        assert run(["-q", "-C", str(repo.path), "init", "--no-hooks"]) == 0
        yield repo.path


@pytest.fixture
def repo(_history: Path, tmp_path: Path) -> Repo:
    """Copy the repository, so that a test may change it."""
    shutil.copytree(_history, tmp_path / "repo")
    return Repo(tmp_path / "repo")


def store_weights(repo: Repo, fingerprint: str) -> None:
    """Store fitted weights in the index."""
    write_tuning(repo.path / ".gitmem" / "state" / "tuning", TUNING._replace(fingerprint=fingerprint))


def test_figures_are_shown_by_mode(cli: Cli, repo: Repo) -> None:
    outcome = cli("-q", "eval", *LONG, cwd=repo.path)
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0].startswith("48 queries from 48 commits, ")
    assert lines[1].split("  ")[-1] == "changed files"
    assert lines[2].split() == 2 * ["NDCG@10", "recall@10"]
    assert [line.split()[0] for line in lines[3:6]] == ["hybrid", "semantic", "lexical"]
    assert len({len(line) for line in lines[2:6]}) == 1
    assert lines[6] == f"  weights in force: semantic {FUSION_WEIGHTS.semantic:g}, lexical {FUSION_WEIGHTS.lexical:g}"
    assert len(lines) == 7


def test_json_has_the_figures_of_the_table(cli: Cli, repo: Repo) -> None:
    outcome = cli("eval", "--tune", "--json", *LONG, cwd=repo.path)
    result = json.loads(outcome.out)
    assert (outcome.code, outcome.err) == (0, "")
    assert result["queries"]["all"] == len(WORDS)
    assert result["queries"]["measured"] == result["queries"]["held_out"] > 0
    for mode, quality in result["file_quality"].items():
        assert quality["recall_at_10"] >= result["quality"][mode]["recall_at_10"]
    assert set(result["quality"]) == {"hybrid", "semantic", "lexical"}
    assert all(0 <= value <= 1 for quality in result["quality"].values() for value in quality.values())
    assert result["tuning"]["default"] == FUSION_WEIGHTS._asdict()
    assert result["tuning"]["ndcg_at_10"]["default"] == pytest.approx(result["quality"]["hybrid"]["ndcg_at_10"])
    gain = result["tuning"]["held_out"]
    assert result["tuning"]["kept"] == (gain["mean"] > gain["error"])


def test_tuning_reports_the_fit_and_whether_it_is_used(cli: Cli, repo: Repo) -> None:
    lines = cli("-q", "eval", "--tune", *LONG, cwd=repo.path).out.splitlines()[7:]
    is_stored = (repo.path / ".gitmem" / "state" / "tuning").exists()
    assert lines[0].startswith("fitted: ")
    assert lines[-1].startswith("  in force: ") == is_stored
    assert lines[-1].endswith("the default weights are in force") == (not is_stored)


def fit_lines(fitted: Gain, held_out: Gain, weights: FusionWeights) -> list[str]:
    """Return the lines about a fit."""
    return _fit_lines(WeightFit(weights, fitted, held_out, Quality(0.4, 0.5), Quality(0.43, 0.5)))


def test_a_fit_is_reported_with_the_gain_of_both_halves() -> None:
    clear, unclear, weights = Gain(0.03, 0.01, 9, 2), Gain(0.003, 0.01, 3, 2), FusionWeights(0.4, 0.44)
    lines = fit_lines(clear, clear, weights)
    assert lines[0].startswith("fitted: semantic 0.4, lexical 0.44 (default: semantic ")
    assert lines[1] == "  on the half fitted to  +0.030 ± 0.010 NDCG@10, 9 better, 2 worse"
    assert lines[2] == "  held out               +0.030 ± 0.010 NDCG@10, 9 better, 2 worse; 0.400 -> 0.430"
    assert lines[3].startswith("  in force: ")
    assert fit_lines(clear, unclear, weights)[3].startswith("  not in force: ")
    assert len(fit_lines(unclear, unclear, FUSION_WEIGHTS)) == 1


def test_reset_restores_the_default_weights(cli: Cli, repo: Repo) -> None:
    store_weights(repo, ranking_fingerprint(Settings()))
    assert cli("eval", "--reset", cwd=repo.path).out == "the default weights are in force again\n"
    assert cli("eval", "--reset", cwd=repo.path).out == "the default weights are in force already\n"
    assert json.loads(cli("eval", "--reset", "--json", cwd=repo.path).out) == {"reset": False}


def test_few_commits_are_measured_and_too_few_to_tune(cli: Cli, repo: Repo) -> None:
    outcome = cli("-q", "eval", "--commits", "12", *LONG, cwd=repo.path)
    assert (outcome.code, outcome.err) == (ExitCode.OK, "")
    assert outcome.out.startswith("12 queries from 12 commits, too few to hold out half, ")
    tuned = cli("-q", "eval", "--tune", "--commits", "12", *LONG, cwd=repo.path)
    assert (tuned.code, tuned.out.splitlines()[1:]) == (ExitCode.NO_RESULTS, outcome.out.splitlines()[1:])
    assert tuned.err.startswith("error: 12 usable commits (")
    assert "at least 15 of each are needed to fit weights" in tuned.err
    as_json = json.loads(cli("eval", "--json", "--commits", "12", *LONG, cwd=repo.path).out)
    assert as_json["queries"]["measured"] == as_json["queries"]["all"] == 12


def test_no_usable_commit_is_an_error(cli: Cli, repo: Repo) -> None:
    outcome = cli("-q", "eval", "--budget", "0", cwd=repo.path)
    assert_error(outcome, ExitCode.NO_RESULTS, "no usable commits", "gitmem eval --budget")


@pytest.mark.parametrize("args", [["--tune", "--reset"], ["--commits", "0"], ["--budget", "-1"], ["--budget", "nan"]])
def test_wrong_options_are_rejected(cli: Cli, repo: Repo, args: list[str]) -> None:
    assert_error(cli("eval", *args, cwd=repo.path), ExitCode.USAGE)


def test_a_fusion_without_weights_cannot_be_tuned(cli: Cli, repo: Repo) -> None:
    repo.git("config", "gitmem.fusion", "rrf")
    assert_error(cli("eval", "--tune", cwd=repo.path), ExitCode.USAGE, "`rrf`", "git config gitmem.fusion zscore")


def test_without_an_index_nothing_is_measured(cli: Cli, tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "bare")
    for option in ([], ["--tune"], ["--reset"]):
        assert_error(cli("eval", *option, cwd=repo.path), ExitCode.NO_INDEX, "gitmem init")


def test_status_shows_the_weights_in_force(cli: Cli, repo: Repo) -> None:
    assert cli("status", cwd=repo.path).out.splitlines()[-1] == "  weights    default"
    assert json.loads(cli("status", "--json", cwd=repo.path).out)["weights"] == {"state": "default"}
    store_weights(repo, ranking_fingerprint(Settings()))
    output = cli("status", cwd=repo.path).out
    assert output.splitlines()[-1] == (
        "  weights    fitted here: semantic 0.1, lexical 0.9; NDCG@10 +0.032 on 98 held-out commits"
    )
    assert output.startswith("Up to Date")
    assert json.loads(cli("status", "--json", cwd=repo.path).out)["weights"]["semantic"] == 0.1
    store_weights(repo, "another")
    assert "weights    default; the fitted ones are for another model or ranking" in cli("status", cwd=repo.path).out
    (repo.path / ".gitmem" / "state" / "tuning").write_bytes(b"GITMEM")
    assert "tuning` is damaged" in cli("status", cwd=repo.path).out.splitlines()[-1]


def test_damaged_weights_are_reported_once_and_queries_still_work(cli: Cli, repo: Repo) -> None:
    expected = cli("-q", "query", "rotates anchor", cwd=repo.path).out
    (repo.path / ".gitmem" / "state" / "tuning").write_bytes(b"GITMEM")
    outcome = cli("query", "rotates anchor", cwd=repo.path)
    assert outcome.code == 0
    assert outcome.out.startswith(expected)
    assert outcome.err.count("\n") == 1
    assert outcome.err.startswith("note: ")
    assert cli("query", "rotates anchor", cwd=repo.path).err == ""


def test_a_query_with_fitted_weights_imports_no_further_module(repo: Repo) -> None:
    before = imported_modules(repo.path, "query", "rotates anchor")
    store_weights(repo, ranking_fingerprint(Settings()))
    after = imported_modules(repo.path, "query", "rotates anchor")
    assert not after & HEAVY
    assert after == before
