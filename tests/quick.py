"""Choose the fast tests, by the durations in tests/durations.json, and measure those durations.

A quick run of the whole suite takes the fastest tests whose durations fit into a budget, so that it stays under a
minute however many tests there are. A test that is not in the file, such as a new one, always runs.
"""

import json
import math
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import pytest

ROOT: Final = Path(__file__).resolve().parent.parent
DURATIONS: Final = ROOT / "tests" / "durations.json"
LISTED_SECONDS: Final = 0.02
"""Shorter tests are not listed. The file has the sum of their durations under OTHERS."""

OTHERS: Final = "others"

QUICK_SECONDS: Final = 25.0
"""Budget of each worker in a quick run of the whole suite. The rest of the minute is for collection and mypy."""

OTHER_CHECKS_SECONDS: Final = 60.0
"""Seconds of the checks that are not tests, and of the collection of the tests."""

COVERAGE_FACTOR: Final = 1.1
"""By how much coverage of the fast tests prolongs the run of all."""

FAST_SECONDS_OF_PATHS: Final = 10.0
"""Longest duration of a test, all its parameters together, in a quick run of some paths."""


def quick_arguments(paths: list[str], workers: int) -> list[str]:
    """Return the arguments of Python that run the fast tests of these paths of gitmem or tests, or all fast ones."""
    arguments = ["-m", "pytest", "-q", "-r", "fE", "-m", "not long", "-n", str(workers), "-p", "tests.quick"]
    if not DURATIONS.exists():
        print("tests/durations.json is missing, so no test is left out; write it with: python -m tests --measure")
    limit = f"--fast={FAST_SECONDS_OF_PATHS}" if paths else f"--budget={QUICK_SECONDS * workers}"
    return [*arguments, limit, *[str(find_mirror(Path(path))) for path in paths]]


def find_mirror(path: Path) -> Path:
    """Return the tests of a module or package of gitmem: those of its name, or those of the nearest package."""
    path = path.resolve()
    if path.is_relative_to(ROOT / "tests"):
        return path
    place = path.relative_to(ROOT).with_suffix("")
    place = Path(*place.parts[1:]) if place.parts[0] == "gitmem" else place
    for folder in (place, *place.parents):
        test = ROOT / "tests" / folder
        if folder != Path() and (file := test.with_name(f"test_{test.name}.py")).exists():
            return file
        if test.is_dir():
            return test
    return ROOT / "tests"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--fast` and `--budget`. This module is a plugin of pytest in quick runs."""
    parser.addoption("--fast", type=float, default=math.inf, help="leave out tests known to take longer than this")
    parser.addoption("--budget", type=float, default=math.inf, help="run the fastest tests that take so long together")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the slow tests."""
    names = find_slow(read_durations(), limit=config.getoption("--fast"), budget=config.getoption("--budget"))
    slow = [item for item in items if item.nodeid.partition("[")[0] in names]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if item not in set(slow)]


def find_slow(durations: Mapping[str, float], *, limit: float = math.inf, budget: float = math.inf) -> set[str]:
    """Return the tests above the limit, and the slowest ones, so that the others fit into the budget (in seconds)."""
    names = sorted((seconds, name) for name, seconds in durations.items() if name != OTHERS)
    slow, total = set(), durations.get(OTHERS, 0.0)
    for seconds, name in names:
        total += seconds
        if seconds > limit or total > budget:
            slow.add(name)
    return slow


def read_durations() -> Mapping[str, float]:
    """Read the seconds of each listed test, all its parameters together."""
    durations: dict[str, float] = json.loads(DURATIONS.read_text()) if DURATIONS.exists() else {}
    return durations


def estimate_minutes(cores: int) -> int:
    """Return the minutes that `python -m tests` takes on an idle machine with so many cores."""
    seconds = sum(read_durations().values()) / cores
    return max(1, round((OTHER_CHECKS_SECONDS + COVERAGE_FACTOR * seconds) / 60))


def temporary_options(folder: Path) -> list[str]:
    """Return the options of pytest for a folder of temporary files; TMPDIR must name it too.

    The path is short: names of sockets have at most some hundred bytes.
    """
    return [f"--basetemp={folder / 't'}"]


def measure(workers: int, folder: Path) -> int:
    """Run the default suite, write the durations of its tests and return the exit code of pytest.

    Each worker has a core, and the temporary files are where `python -m tests` has them. After an interrupt or an error
    of pytest itself the file stays unchanged.
    """
    results = folder / "results.xml"
    arguments = ["-m", "pytest", "-q", "-m", "not long", "-n", str(workers), f"--junitxml={results}"]
    arguments += ["--hypothesis-profile=repeatable", *temporary_options(folder)]
    environment = {**os.environ, "TMPDIR": str(folder)}
    code = subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, check=False).returncode
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        return code
    DURATIONS.write_text(json.dumps(summarize(sum_durations(results)), indent=0) + "\n")
    return code


def sum_durations(results: Path) -> Mapping[str, float]:
    """Return the seconds of each test of a JUnit report, all its parameters, its fixtures and both ends together."""
    durations: defaultdict[str, float] = defaultdict(float)
    for case in ElementTree.parse(results).iter("testcase"):
        file = case.attrib["classname"].replace(".", "/")
        durations[f"{file}.py::{case.attrib['name'].partition('[')[0]}"] += float(case.attrib["time"])
    return durations


def summarize(durations: Mapping[str, float]) -> Mapping[str, float]:
    """Round durations, and replace the short ones by their sum."""
    listed = {name: round(seconds, 2) for name, seconds in sorted(durations.items()) if seconds >= LISTED_SECONDS}
    listed[OTHERS] = round(sum(durations.values()) - sum(listed.values()), 2)
    return listed
