"""Whatever writers do meanwhile, a question is answered from one whole generation, and nobody sees an error."""

import os

import pytest

from tests.faults import crowd

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_readers_and_writers_do_not_disturb_each_other(long: bool) -> None:
    tally = crowd.run(long=long)
    assert tally.passed, str(tally)
    assert tally.cases > crowd.WRITERS + crowd.READERS


def test_a_writer_in_place_would_be_caught() -> None:
    assert crowd.run_control().passed
