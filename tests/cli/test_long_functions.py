"""A function that takes several rows of the index is one result, with all its lines."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.gitrepo import Repo
from tests.sample import Cli

QUERY = "settle the open invoices of a customer in euros"


def function(name: str, lines: int) -> str:
    """Return a function whose beginning and end are about the query."""
    body = "".join(f"    total_{number} = settle(invoice({number}), euros)\n" for number in range(lines // 2))
    rest = "".join(f"    customer.open_invoices({number}, in_euros=True)\n" for number in range(lines // 2))
    return f"def {name}(customer):\n{body}\n{rest}    return customer\n"


def indexed(cli: Cli, path: Path, files: dict[str, str]) -> Repo:
    repo = Repo.init(path)
    repo.commit({**files, "page.py": "def render(page):\n    return page.title\n"})
    assert cli("index", cwd=repo.path).code == 0
    return repo


def results(cli: Cli, repo: Repo, *args: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(cli(*args, "--json", cwd=repo.path).out)["results"]
    return found


def spans(found: list[dict[str, Any]], name: str) -> list[tuple[int, int]]:
    return [(one["start_line"], one["end_line"]) for one in found if one["symbol"] == name]


@pytest.mark.parametrize("options", [(), ("--mode", "lexical"), ("--mode", "semantic")])
@pytest.mark.parametrize("query", [QUERY, "settle_invoices"])
def test_a_function_in_two_rows_is_one_result_with_all_lines(
    cli: Cli, tmp_path: Path, options: tuple[str, ...], query: str
) -> None:
    text = function("settle_invoices", 60)
    repo = indexed(cli, tmp_path / "repo", {"billing.py": f'"""Billing."""\n\nEUROS = 1\n\n\n{text}'})
    found = results(cli, repo, "query", *options, query)
    assert spans(found, "settle_invoices") == [(6, 5 + len(text.splitlines()))]
    assert found[0]["content"] == text.rstrip("\n")


def test_of_a_very_long_function_the_pieces_that_match_are_results(cli: Cli, tmp_path: Path) -> None:
    text = function("settle_invoices", 240)
    repo = indexed(cli, tmp_path / "repo", {"billing.py": text})
    found = spans(results(cli, repo, "query", QUERY), "settle_invoices")
    assert len(found) > 1
    assert all(last - first < len(text.splitlines()) // 2 for first, last in found)


def test_a_function_of_a_component_is_shown_whole(cli: Cli, tmp_path: Path) -> None:
    body = "".join(f"  total[{number}] = settle(invoice({number}), euros)\n" for number in range(60))
    script = f"<script>\nexport function settleInvoices(customer) {{\n{body}}}\n</script>\n"
    repo = indexed(cli, tmp_path / "repo", {"Billing.vue": f"<template>\n  <p>Bill</p>\n</template>\n\n{script}"})
    assert spans(results(cli, repo, "query", QUERY), "settleInvoices") == [(5, 67)]


def test_similar_code_is_shown_whole_and_is_not_the_code_itself(cli: Cli, tmp_path: Path) -> None:
    files = {"billing.py": function("settle_invoices", 60), "orders.py": function("settle_orders", 60)}
    repo = indexed(cli, tmp_path / "repo", files)
    found = results(cli, repo, "related", "billing.py:50")
    assert spans(found, "settle_orders") == [(1, 63)]
    assert not spans(found, "settle_invoices")


def test_several_repositories_show_it_whole(cli: Cli, tmp_path: Path) -> None:
    repo = indexed(cli, tmp_path / "repo", {"billing.py": function("settle_invoices", 60)})
    other = indexed(cli, tmp_path / "other", {"a.py": "value = 1\n"})
    found = results(cli, repo, "query", "--repo", str(repo.path), "--repo", str(other.path), QUERY)
    assert spans(found, "settle_invoices") == [(1, 63)]
