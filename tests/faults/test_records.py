"""Whatever happens to who changes records: what was acknowledged is there, and nothing is there by half."""

import pytest

from tests.faults import records_crowd, records_fault, records_kill, records_power, tape

pytestmark = pytest.mark.skipif(not tape.is_available(), reason="needs Linux and a C compiler")


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_kill_at_any_moment_loses_no_record(long: bool) -> None:
    tally = records_kill.run(long=long)
    assert tally.passed, str(tally)
    assert tally.cases >= (5_000 if long else 12)


def test_a_store_that_names_objects_before_they_are_there_would_be_caught_when_killed() -> None:
    tally = records_kill.run_control()
    assert tally.passed, str(tally)


def test_a_store_that_writes_among_the_objects_of_the_user_would_be_caught_when_killed() -> None:
    tally = records_kill.run_direct_control()
    assert tally.passed, str(tally)


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_no_error_of_the_disk_loses_a_record(long: bool) -> None:
    tally = records_fault.run(long=long)
    assert tally.passed, str(tally)
    assert tally.cases >= (2_000 if long else 8)


def test_a_store_that_names_objects_before_they_are_there_would_be_caught_by_errors() -> None:
    tally = records_fault.run_control()
    assert tally.passed, str(tally)


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_power_cut_loses_no_record(long: bool) -> None:
    tally = records_power.run(long=long)
    assert tally.passed, str(tally)
    assert tally.cases >= (2_900 if long else 20)


def test_a_writer_of_records_that_lacks_any_one_sync_would_be_caught() -> None:
    tally = records_power.run_control()
    assert tally.passed, str(tally)
    assert tally.cases >= 6


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_sixteen_writers_at_once_lose_no_record(long: bool) -> None:
    tally = records_crowd.run(long=long)
    assert tally.passed, str(tally)
    assert tally.cases > 2 * records_crowd.WRITERS


def test_writers_that_think_of_nobody_else_would_be_caught() -> None:
    tally = records_crowd.run_control()
    assert tally.passed, str(tally)
