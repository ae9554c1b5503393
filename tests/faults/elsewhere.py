"""Trials that mount file systems, in a process that has a mount namespace of its own."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.faults.kill import ROOT
from tests.faults.oracle import small_steps
from tests.faults.report import Tally

LONG: Final = "long"
SHORT: Final = "short"
CONTROL: Final = "control"


def namespace() -> list[str]:
    """What a command starts with that may mount; empty where nothing lets it."""
    command = ["unshare", "--mount", *(["--map-root-user"] if os.geteuid() else [])]
    with tempfile.TemporaryDirectory() as place:
        trial = [*command, "mount", "-t", "tmpfs", "none", place]
        works = shutil.which("unshare") and subprocess.run(trial, capture_output=True).returncode == 0
    return command if works else []


def run_elsewhere(module: str, name: str, form: str, only: str = "") -> Tally:
    """Run a module of trials where it may mount; `only` is the name of a scenario."""
    command = [*namespace(), sys.executable, "-m", module, form, only]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    cases, *bad = done.stdout.splitlines()
    return Tally(name, cases=int(cases), bad=bad, control=form == CONTROL)


def tell(trials: Callable[[str, str, Tally], None]) -> None:
    """Run trials here, in the form and of the scenario that the command line names; print their number and the bad."""
    form, only = sys.argv[1:]
    tally = Tally("trials", control=form == CONTROL)
    with small_steps(grace=0.0):
        trials(form, only, tally)
    print(tally.cases)
    for line in tally.bad:
        print(line.replace("\n", " "))


@contextmanager
def mounted(kind: str, place: Path, options: str, source: str = "none") -> Iterator[None]:
    """A file system for a while."""
    subprocess.run(["mount", "-t", kind, "-o", options, source, str(place)], check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def remount(place: Path, options: str) -> None:
    """Change what a file system has or allows."""
    subprocess.run(["mount", "-o", f"remount,{options}", str(place)], check=True, capture_output=True)
