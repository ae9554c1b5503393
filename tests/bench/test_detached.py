"""CPU time of a command and of the processes it leaves running."""

import subprocess
import sys

import pytest

from tests.bench.detached import is_supported, run_to_last
from tests.bench.processes import Command, CommandFailed

BURN = "import time\nwhile time.process_time() < {seconds}: pass\n"
pytestmark = pytest.mark.skipif(not is_supported(), reason="orphans can be waited for on Linux only")


def test_the_time_of_a_detached_process_is_counted_apart() -> None:
    script = f'{sys.executable} -c "{BURN.format(seconds=0.5)}" >/dev/null & exit 3'
    spent = run_to_last(Command(["/bin/sh", "-c", f"( {script} )"], expect=(3,)))
    assert spent.foreground < 0.4 < spent.background


def test_the_time_of_the_command_is_in_the_foreground() -> None:
    spent = run_to_last(Command([sys.executable, "-c", BURN.format(seconds=0.5)]))
    assert spent.background == 0.0
    assert spent.foreground > 0.4


def test_other_children_are_not_waited_for() -> None:
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert run_to_last(Command(["/bin/sh", "-c", "true"])).background == 0.0
        assert other.poll() is None
    finally:
        other.communicate(b"\n")


def test_a_failed_command_is_an_error() -> None:
    with pytest.raises(CommandFailed):
        run_to_last(Command([sys.executable, "-c", "raise SystemExit(2)"]))
