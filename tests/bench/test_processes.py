"""CPU time and memory cover whole process trees, and a failing command is an error."""

import sys
from pathlib import Path

import pytest

from tests.bench.memory import PROC, watch
from tests.bench.processes import PYTHON_START, Command, CommandFailed, cpu_of, median_cpu

BURN = "import time\nwhile time.process_time() < 0.3: pass"
HOLD = "import time; held = b'x' * 80_000_000; time.sleep(0.4)"


def child_of_child(code: str) -> Command:
    return Command(
        [sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}], check=True)"]
    )


def test_the_cpu_time_of_a_grandchild_is_included() -> None:
    assert cpu_of(child_of_child(BURN)) >= 0.3


def test_every_command_gets_a_median() -> None:
    spent = median_cpu({"start": PYTHON_START, "burn": Command([sys.executable, "-c", BURN])}, 1)
    assert spent["start"] < spent["burn"]


def test_a_command_that_fails_is_an_error() -> None:
    with pytest.raises(CommandFailed, match="exit code 3"):
        cpu_of(Command([sys.executable, "-c", "raise SystemExit(3)"]))
    cpu_of(Command([sys.executable, "-c", "raise SystemExit(3)"], expect=(3,)))


@pytest.mark.skipif(not Path(PROC / "self/smaps_rollup").exists(), reason="memory is sampled from /proc")
def test_the_memory_of_a_grandchild_is_included() -> None:
    small, large = watch(child_of_child("import time; time.sleep(0.4)")), watch(child_of_child(HOLD))
    assert large.processes == 2
    assert large.proportional - small.proportional > 60_000
