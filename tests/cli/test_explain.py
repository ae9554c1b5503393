"""`gitmem query --explain` shows the contributions that add up to a score."""

import json
import math

import pytest

from gitmem.errors import ExitCode
from gitmem.search.calibration import find_curve
from gitmem.search.explain import LEGEND
from gitmem.search.rank import RECORD_WEIGHTS, WEIGHTS
from gitmem.search.select import REPEAT_DECAY
from tests.cli.test_startup import imported_modules
from tests.gitrepo import Repo
from tests.sample import SIGN, Cli, Json, assert_error


def explained_hits(cli: Cli, repo: Repo, *args: str) -> list[Json]:
    outcome = cli("query", "--json", "--explain", *args, cwd=repo.path)
    assert outcome.code == 0, outcome.err
    results: list[Json] = json.loads(outcome.out)["results"]
    return results


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical"])
def test_contributions_add_up_to_the_score(cli: Cli, indexed: Repo, mode: str) -> None:
    for hit in explained_hits(cli, indexed, "--mode", mode, "cookie"):
        explanation = hit["explain"]
        for part in explanation["features"]:
            weight = find_curve(mode, records=False).slope * WEIGHTS.get(part["name"], 1.0)
            assert part["weight"] == (1.0 if part["name"] == "query" else weight)
            assert part["contribution"] == pytest.approx(part["value"] * part["weight"], abs=1e-5)
        total = sum(part["contribution"] for part in explanation["features"])
        assert explanation["sum"] == pytest.approx(total, abs=1e-4)
        assert hit["score"] == pytest.approx(explanation["repeat_factor"] / (1 + math.exp(-total)), abs=1e-4)


def test_the_largest_contribution_comes_first(cli: Cli, indexed: Repo) -> None:
    for hit in explained_hits(cli, indexed, SIGN):
        sizes = [abs(part["contribution"]) for part in hit["explain"]["features"]]
        assert sizes == sorted(sizes, reverse=True)


def test_a_further_chunk_of_a_file_shows_its_repeat_factor(cli: Cli, indexed: Repo) -> None:
    hits = explained_hits(cli, indexed, "cookie")
    paths = [hit["path"] for hit in hits]
    factors = [hit["explain"]["repeat_factor"] for hit in hits]
    before = [paths[:place].count(path) for place, path in enumerate(paths)]
    assert max(before) > 0
    assert [factor == pytest.approx(1) for factor in factors] == [count == 0 for count in before]
    ranked = [hit["explain"]["ranked"] for hit in hits]
    first = next(place for place, count in enumerate(before) if count == 1)
    assert hits[first]["score"] == pytest.approx(REPEAT_DECAY * ranked[first], abs=1e-4)
    output = cli("query", "--explain", "cookie", cwd=indexed.path).out
    assert output.count("as a further chunk of its file") == sum(count > 0 for count in before)


def test_the_explanation_is_below_its_hit_in_aligned_columns(cli: Cli, indexed: Repo) -> None:
    hit = explained_hits(cli, indexed, "-n", "1", SIGN)[0]
    lines = cli("query", "-n", "1", "--explain", SIGN, cwd=indexed.path).out.splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith("  semantic "))
    legend = lines.index("legend")
    rows = lines[at + 1 : legend - 1]
    counting = [part for part in hit["explain"]["features"] if part["contribution"]]
    assert [row.split()[0] for row in rows] == [*(part["name"] for part in counting), "sum"]
    assert len({len(row) for row in rows}) == 1
    assert [float(row.split()[-1]) for row in rows[:-1]] == pytest.approx(
        [part["contribution"] for part in counting], abs=1e-3
    )
    assert lines[legend - 1] == f"  score {hit['score']:.3f}"
    explained = {"semantic", "lexical", *(row.split()[0] for row in rows)}
    assert {line.split()[0] for line in lines[legend + 1 : -1]} == explained
    assert all(len(line) <= 100 for line in lines[legend:-1])


def test_the_legend_names_every_feature_in_order() -> None:
    features = dict.fromkeys((*WEIGHTS, *RECORD_WEIGHTS))
    adjustments = ["spoken_name", "spelling", "quotation", "first_piece", "row_choice", "elsewhere", "query"]
    assert list(LEGEND) == ["semantic", "lexical", *features, *adjustments, "sum"]


def test_without_the_flag_nothing_is_explained_or_imported_for_it(cli: Cli, indexed: Repo) -> None:
    assert "explain" not in json.loads(cli("query", "--json", SIGN, cwd=indexed.path).out)["results"][0]
    assert "  semantic 0" not in cli("query", SIGN, cwd=indexed.path).out
    assert "gitmem.search.explain" not in imported_modules(indexed.path, "query", SIGN)
    assert "gitmem.search.explain" in imported_modules(indexed.path, "query", "--explain", SIGN)


def test_paths_alone_cannot_be_explained(cli: Cli, indexed: Repo) -> None:
    assert_error(cli("query", "-l", "--explain", SIGN, cwd=indexed.path), ExitCode.USAGE, "exclude each other")
