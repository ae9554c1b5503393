"""Whatever byte of the store is wrong: no crash, and never a silently different answer."""

import os
import signal
from pathlib import Path

import pytest

from tests.faults import flips
from tests.faults.flips import Case, run_cases

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, to survive a crash")


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_damage_is_noticed_or_does_no_harm(long: bool) -> None:
    tally = flips.run(long=long)
    assert tally.passed, str(tally)
    assert tally.cases >= (20_000 if long else 120)


def test_a_reader_without_checksums_would_be_caught() -> None:
    assert flips.run_control().passed


def test_a_case_that_kills_its_process_is_named_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def try_case(workspace: object, case: Case, wanted: object, tell: object) -> list[str]:
        if case.seed == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return []

    monkeypatch.setattr(flips, "try_case", try_case)
    cases = [Case(Path("file"), flips.flip, seed) for seed in range(3)]
    found = [bad for _, bad in run_cases(None, cases, None)]  # type: ignore[arg-type]
    assert found == [[], ["the process ended with -9"], []]
