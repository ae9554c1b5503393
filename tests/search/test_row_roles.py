"""A row has the role of its path, or one that its content shows."""

import numpy as np
import pytest

from gitmem.search.path_roles import ROLES
from gitmem.search.row_roles import find_roles, is_inner_test


def roles(rows: list[tuple[str, str, bool]], may_test: bool = True) -> list[str]:
    """Return the roles of rows, each given by its path, its symbol, and whether a program wrote it."""
    paths = sorted({path for path, _, _ in rows})
    file = np.array([paths.index(path) for path, _, _ in rows], np.int64)
    written = np.array([is_generated for _, _, is_generated in rows], bool)
    found = find_roles(paths, file, [symbol for _, symbol, _ in rows], written, np.full(len(rows), may_test))
    return [ROLES[code] if code >= 0 else "" for code in found.tolist()]


def test_generated_code_is_auxiliary_wherever_it_is() -> None:
    assert roles([("src/api.go", "Call", True), ("src/main.go", "main", False)]) == ["auxiliary", ""]


def test_the_role_of_a_path_precedes_that_of_the_content() -> None:
    assert roles([("tests/api.rs", "tests.call", True), ("docs/api.md", "", True)]) == ["test", "document"]


def test_tests_beside_code_are_tests_in_their_languages_only() -> None:
    rows = [
        ("src/ring.rs", "tests.push", False),
        ("src/ring.rs", "Ring.push", False),
        ("src/ring.py", "tests.a", False),
    ]
    assert roles(rows) == ["test", "", ""]


@pytest.mark.parametrize("symbol", ["tests", "tests.push, pop", "ring.tests.push", "test.pops the last one", "test"])
def test_a_container_of_tests_and_all_in_it_are_tests(symbol: str) -> None:
    assert is_inner_test(symbol)


@pytest.mark.parametrize("symbol", ["", "push", "Ring.test", "Ring.push, tests", "latest.push", "Suite.tests"])
def test_a_function_with_such_a_name_is_none(symbol: str) -> None:
    assert not is_inner_test(symbol)


def test_a_file_without_tests_is_no_test_by_its_name_alone() -> None:
    rows = [("src/TestRunner.cs", "TestRunner.Run", False), ("tests/Shop.cs", "Shop", False)]
    assert roles(rows, may_test=False) == ["", "test"]
    assert roles(rows) == ["test", "test"]
    assert roles([("src/TestRunner.cs", "TestRunner.Run", True)], may_test=False) == ["auxiliary"]
