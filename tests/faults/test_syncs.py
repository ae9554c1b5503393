"""No single sync can be left out without a power cut that shows it, unless another does its work in time."""

from pathlib import Path

import pytest

from tests.faults import syncs

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc to see what is synced")


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_each_single_sync_is_needed_or_made_up_for(long: bool) -> None:
    tally = syncs.run(long=long)
    assert tally.passed, str(tally)
    assert syncs.CAUGHT in tally.name
    assert tally.cases >= (60 if long else 4)


def test_a_sync_for_nothing_would_be_seen() -> None:
    assert syncs.run_control().passed
