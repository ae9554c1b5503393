"""Killed at any system call, the index is the old generation or the new one, and the next run needs no repair."""

import pytest

from tests.faults import kill

pytestmark = pytest.mark.skipif(not kill.is_available(), reason="needs strace, and leave to trace")


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_kill_at_any_system_call_costs_no_repair(long: bool) -> None:
    tally = kill.run(long=long)
    assert tally.passed, str(tally)
    assert tally.cases >= (300 if long else 5)


def test_a_writer_in_place_would_be_caught() -> None:
    assert kill.run_control().passed
