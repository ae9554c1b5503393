"""Clones that share their records get the same ones, and lose none, whatever happens to them."""

import pytest

from tests.faults import convergence, sharing_kill, tape


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_clones_converge_and_lose_no_note(long: bool) -> None:
    tally = convergence.run(long=long)
    assert tally.passed, str(tally)
    assert tally.cases > convergence.SHORT[1]


def test_one_ref_that_everybody_overwrites_would_be_caught() -> None:
    tally = convergence.run_control()
    assert tally.passed, str(tally)


@pytest.mark.skipif(not tape.is_available(), reason="needs Linux and a C compiler")
@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_kill_of_a_clone_and_its_remote_loses_no_note(long: bool) -> None:
    tally = sharing_kill.run(long=long)
    assert tally.passed, str(tally)


@pytest.mark.skipif(not tape.is_available(), reason="needs Linux and a C compiler")
def test_refs_that_move_before_their_objects_would_be_caught() -> None:
    tally = sharing_kill.run_control()
    assert tally.passed, str(tally)
