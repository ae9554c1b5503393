"""No file takes more than two seconds of processor time and 512 MiB; here with some slack, for machines that are busy.

`python -m tests.faults torture` has none.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults import torture
from tests.gitrepo import unmeasured_environment

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc to see the memory in use")


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_no_file_costs_more_than_it_may(long: bool) -> None:
    program = f"from tests.faults import torture; tally = torture.run(long={long}, slack=3.0); print(tally); "
    program += f"assert tally.passed and tally.cases >= {40 if long else 11}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=unmeasured_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_without_bounds_on_a_parse_it_would() -> None:
    assert torture.run_control().passed
