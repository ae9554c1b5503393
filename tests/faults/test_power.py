"""A power cut at any moment leaves the old generation or the new one, and never loses what was acknowledged."""

from pathlib import Path

import pytest

from tests.faults import power

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc to see what is synced")


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_power_cut_costs_nothing_that_was_acknowledged(long: bool) -> None:
    tally = power.run(long=long)
    assert tally.passed, str(tally)
    assert tally.cases >= (5_000 if long else 40)


def test_a_writer_that_lacks_any_one_sync_would_be_caught() -> None:
    tally = power.run_control()
    assert tally.passed, str(tally)
    assert tally.cases >= 18
