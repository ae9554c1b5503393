"""Killed at any system call, or with any damaged byte, the index of the past answers as before or refuses to."""

import os

import pytest

from tests.faults import kill, past_flips, past_kill

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, to survive a crash")
needs_strace = pytest.mark.skipif(not kill.is_available(), reason="needs strace, and leave to trace")


@needs_fork
@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_damage_is_noticed_or_does_no_harm(long: bool) -> None:
    tally = past_flips.run(long=long)
    assert tally.passed, str(tally)
    assert tally.cases >= (20_000 if long else 60)


@needs_fork
def test_a_reader_without_checksums_would_be_caught() -> None:
    assert past_flips.run_control().passed


@needs_strace
@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_kill_at_any_system_call_costs_no_life(long: bool) -> None:
    tally = past_kill.run(long=long)
    assert tally.passed, str(tally)
    assert tally.cases >= (100 if long else 6)


@needs_strace
def test_a_writer_in_place_would_be_caught() -> None:
    assert past_kill.run_control().passed
