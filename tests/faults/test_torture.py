"""No file takes more than two seconds of processor time and 512 MiB; here with some slack, for machines that are busy.

`python -m tests.faults torture` has none.
"""

from pathlib import Path

import pytest

from tests.faults import torture

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc to see the memory in use")


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_no_file_costs_more_than_it_may(long: bool) -> None:
    tally = torture.run(long=long, slack=3.0)
    assert tally.passed, str(tally)
    assert tally.cases >= (40 if long else 20)


def test_without_bounds_on_a_parse_it_would() -> None:
    assert torture.run_control().passed
