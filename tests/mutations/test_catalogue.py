"""The catalogue of mutants fits the source: every fault can still be made, and its tests exist."""

from pathlib import Path

import pytest

from tests.mutations.__main__ import REQUIRED_SHARE, copy_tree, run_tests
from tests.mutations.mutant import Mutant, load_mutants

PACKAGES = set("answering chunking freshness git indexing install mcp memory references resident search store".split())
MUTANTS = load_mutants()


def test_each_mutant_can_be_made() -> None:
    assert [problem for mutant in MUTANTS if (problem := mutant.find_problem())] == []


def test_a_hundred_mutants_cover_the_packages_and_few_are_expected_to_survive() -> None:
    assert len(MUTANTS) >= 100
    assert {mutant.file.split("/")[1] for mutant in MUTANTS} == PACKAGES
    assert len({(mutant.file, mutant.text, mutant.replacement) for mutant in MUTANTS}) == len(MUTANTS)
    assert sum(not mutant.survives for mutant in MUTANTS) >= REQUIRED_SHARE * len(MUTANTS)


@pytest.mark.parametrize(
    ("text", "problem"),
    [("nowhere in the file", "occurs 0 times"), ("def ", "occurs "), ('"""Names', "")],
)
def test_a_mutant_that_no_longer_fits_is_reported(text: str, problem: str) -> None:
    mutant = Mutant("gitmem/indexing/fingerprint.py", text, "", "tests/indexing/test_fingerprint.py")
    assert problem in mutant.find_problem()
    assert bool(mutant.find_problem()) == bool(problem)
    assert "no such test" in Mutant(mutant.file, '"""Names', "", "tests/nowhere.py").find_problem()


def test_control_an_unchanged_copy_passes_and_a_mutant_fails(tmp_path: Path) -> None:
    copy_tree(tmp_path / "tree")
    mutant = next(mutant for mutant in MUTANTS if mutant.file == "gitmem/search/metrics.py")
    assert run_tests(tmp_path / "tree", mutant.tests.split()).returncode == 0
    mutant.apply(tmp_path / "tree")
    assert run_tests(tmp_path / "tree", mutant.tests.split()).returncode == 1
