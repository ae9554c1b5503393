"""Filters of searches in published repositories: the same results as local ones, selected before anything is ranked."""

import json
from collections.abc import Sequence

import pytest

from tests.gitrepo import Repo
from tests.sample import SIGN, Cli, assert_error

FILTERS = (
    ("--lang", "typescript"),
    ("--type", "class", "--type", "section"),
    ("--path", "src/"),
    ("--path", "*.md", "--path", "notes.*"),
    ("--path", "!src/", "--path", "src/routing.ts"),
    ("--exclude", "src/copy*", "--lang", "python"),
    ("--path", "nowhere/"),
)


def search(cli: Cli, repo: Repo, *options: str) -> list[tuple[str, int, float]]:
    outcome = cli("-C", str(repo.path), "query", "--json", "--min-score", "0", *options)
    results = json.loads(outcome.out)["results"]
    return sorted((hit["path"], hit["start_line"], hit["score"]) for hit in results)


def places(results: Sequence[tuple[str, int, float]]) -> list[tuple[str, int]]:
    return [(path, line) for path, line, _ in results]


@pytest.fixture
def server(published: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Name the database by the setting."""
    monkeypatch.setenv("GITMEM_ORG", published)
    return published


@pytest.mark.parametrize("filters", FILTERS, ids=" ".join)
def test_a_filter_leaves_the_results_of_the_local_search(
    server: str, indexed: Repo, cli: Cli, filters: tuple[str, ...]
) -> None:
    found = search(cli, indexed, "--repo", "org:shop", *filters, SIGN)
    expected = search(cli, indexed, "--rev", "HEAD", "--kind", "code", *filters, SIGN)
    assert places(found) == places(expected)
    assert [hit[2] for hit in found] == pytest.approx([hit[2] for hit in expected], abs=0.1)
    assert bool(found) == ("nowhere/" not in filters)


@pytest.mark.parametrize("filters", [*FILTERS, ("--file", "notes.txt"), ("--folder", "docs")], ids=" ".join)
def test_a_query_of_the_server_alone_has_the_same_filters(
    server: str, indexed: Repo, cli: Cli, filters: tuple[str, ...]
) -> None:
    alone = json.loads(cli("org", "query", "--json", "--min-score", "0", *filters, SIGN).out)["results"]
    together = search(cli, indexed, "--repo", "org:shop", *filters, SIGN)
    assert sorted((hit["path"], hit["start_line"], hit["score"]) for hit in alone) == together
    assert bool(alone) == ("nowhere/" not in filters)


def test_pathspecs_and_filters_together(server: str, indexed: Repo, cli: Cli) -> None:
    found = search(cli, indexed, "--repo", "org:shop", "--lang", "python", SIGN, "--", "src/copy_of_cookies.py")
    assert {path for path, _, _ in found} == {"src/copy_of_cookies.py"}


def test_a_filter_is_applied_before_candidates_are_selected(
    server: str, indexed: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitmem.org.candidate_blobs.NEAR", 1)
    monkeypatch.setattr("gitmem.org.candidate_blobs.BY_WORDS", 1)
    every = search(cli, indexed, "--repo", "org:shop", SIGN)
    assert {path for path, _, _ in every} <= {"src/cookies.py", "src/copy_of_cookies.py"}
    for mode in ("semantic", "hybrid"):
        found = search(cli, indexed, "--repo", "org:shop", "--mode", mode, "--lang", "markdown", SIGN)
        assert {path for path, _, _ in found} == {"docs/guide.md"}


def test_a_malformed_pattern_is_refused(server: str, indexed: Repo, cli: Cli) -> None:
    outcome = cli("-C", str(indexed.path), "query", "--repo", "org:shop", "--path", "src/[a", SIGN)
    assert_error(outcome, 2, "malformed path pattern `src/[a`")
