"""A disk that is really full costs one clear error, a read-only one nothing that can be read."""

import os
import sys

import pytest

from tests.faults import elsewhere, mounts

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(os, "fork") or not elsewhere.namespace(), reason="needs leave to mount"
)


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_file_system_in_trouble_does_the_index_no_harm(long: bool) -> None:
    tally = mounts.run(long=long)
    assert tally.passed, str(tally)
    assert tally.cases >= (100 if long else 12)


def test_a_writer_that_does_not_look_at_what_the_disk_says_would_be_caught() -> None:
    assert mounts.run_control().passed
