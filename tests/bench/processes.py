"""CPU time of commands, including every child they waited for.

CPU time, not wall time, because a machine that runs benchmarks is seldom idle. Compared commands run alternately, so a
disturbance affects all of them, and the median counts. A child that outlives its parent is not counted.
"""

import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class Command:
    """Program to run: arguments, folder, additional environment variables, and exit codes of success."""

    args: Sequence[str]
    cwd: Path | None = None
    env: dict[str, str] = field(default_factory=dict)
    expect: tuple[int, ...] = (0,)

    def environment(self) -> dict[str, str]:
        """Return the complete environment of the program."""
        return {**os.environ, **self.env}


class CommandFailed(Exception):
    """Unexpected exit code of a measured command."""


PYTHON_START: Final = Command([sys.executable, "-c", "pass"])
"""Baseline of every ratio."""


def median_cpu(commands: dict[str, Command], rounds: int) -> dict[str, float]:
    """Run all commands in turns and return each one's median CPU seconds; the first turn only warms caches."""
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(rounds + 1):
        for name, command in commands.items():
            spent = cpu_of(command)
            if turn:
                seconds[name].append(spent)
    return {name: statistics.median(values) for name, values in seconds.items()}


def python_start_cpu(rounds: int = 11) -> float:
    """Return the CPU seconds of a Python that does nothing."""
    return median_cpu({"start": PYTHON_START}, rounds)["start"]


def cpu_of(command: Command) -> float:
    """Run a command to its end and return the user and system seconds of it and its children."""
    return run_measured(command)[1]


def run_measured(command: Command) -> tuple[bytes, float]:
    """Run a command to its end and return its standard output and its CPU seconds."""
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = run(command)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return output, end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime


def run(command: Command) -> bytes:
    """Run a command to its end and return its standard output. Raises CommandFailed."""
    process = subprocess.run(
        command.args,
        cwd=command.cwd,
        env=command.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    require_success(command, process.returncode, process.stderr)
    return process.stdout


def require_success(command: Command, code: int, errors: bytes) -> None:
    """Raise CommandFailed with the program's error output if its exit code is unexpected."""
    if code not in command.expect:
        message = errors.decode(errors="replace").strip()[-2000:]
        raise CommandFailed(f"exit code {code}: {' '.join(command.args)}\n{message}")
