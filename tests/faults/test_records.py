"""Whatever happens to who changes records: what was acknowledged is there, and nothing is there by half."""

import pytest

from tests.faults import records_kill, tape

pytestmark = pytest.mark.skipif(not tape.is_available(), reason="needs Linux and a C compiler")


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_kill_at_any_moment_loses_no_record(long: bool) -> None:
    """Property 39: Crash safety."""
    tally = records_kill.run(long=long)
    assert tally.passed, str(tally)
    assert tally.cases >= (5_000 if long else 24)


def test_a_store_that_names_objects_before_they_are_there_would_be_caught_when_killed() -> None:
    tally = records_kill.run_control()
    assert tally.passed, str(tally)
