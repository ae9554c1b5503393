"""Whatever the disk does: the old index serves, the error is one of ours, and the next run puts everything right."""

import os
import shutil
from pathlib import Path

import pytest

from tests.faults import chaos

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_no_fault_of_the_disk_harms_the_index(long: bool) -> None:
    tally = chaos.run(long=long)
    assert tally.passed, str(tally)
    assert tally.cases >= (3_900 if long else 24)


def test_a_writer_in_place_would_be_caught() -> None:
    assert chaos.run_control().passed


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler for the faults below Python")
def test_the_library_for_faults_below_python_builds(tmp_path: Path) -> None:
    assert chaos.build_shim(tmp_path) is not None
