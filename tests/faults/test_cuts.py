"""A power cut of a real file system leaves the old generation or the new one."""

import sys

import pytest

from tests.faults import cuts

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not cuts.is_available(), reason="needs leave to mount, and ext4"
)


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_power_cut_of_ext4_does_the_index_no_harm(long: bool) -> None:
    tally = cuts.run(long=long)
    assert tally.passed, str(tally)
    assert tally.cases >= (190 if long else 5)


def test_a_writer_that_syncs_nothing_would_be_caught() -> None:
    assert cuts.run_control().passed
