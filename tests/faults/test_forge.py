"""What an enemy writes into a file of the store is damage at worst, whatever its checksums say."""

import os

import pytest

from tests.faults import forge

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, to survive a crash")


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_forged_file_brings_nothing_down(long: bool) -> None:
    tally = forge.run(long=long)
    assert tally.passed, str(tally)
    assert tally.cases >= (10_000 if long else 80)


def test_a_reader_that_believes_what_it_reads_would_be_caught() -> None:
    assert forge.run_control().passed
