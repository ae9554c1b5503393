"""The short form of the hook matrix; `python -m tests.hooks` runs the long one."""

import pytest

from tests.hooks.commands import COMMANDS
from tests.hooks.matrix import run
from tests.hooks.worlds import ENVIRONMENTS


def test_the_index_is_updated_after_each_command() -> None:
    tally = run(1, ["normal"], each=True)
    assert not tally.bad, str(tally)


@pytest.mark.parametrize("environment", ENVIRONMENTS[1:])
def test_no_command_fails_or_prints(environment: str) -> None:
    """Each environment has half of the commands, so that each command runs in at least two of them."""
    tally = run(1, [environment], commands=list(COMMANDS)[ENVIRONMENTS.index(environment) % 2 :: 2])
    assert not tally.bad, str(tally)
    assert tally.commits >= 7


def test_the_matrix_finds_fault_with_a_naive_hook() -> None:
    assert run(1, ["gitmem gone"], "naive", commands=["commit"]).bad


@pytest.mark.long
def test_a_thousand_commits() -> None:
    tally = run(10)
    assert not tally.bad, str(tally)
    assert tally.commits >= 1000
