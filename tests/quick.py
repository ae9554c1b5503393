"""Choose the fast tests, by the durations in tests/durations.json, and measure those durations."""

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import pytest

ROOT: Final = Path(__file__).resolve().parent.parent
DURATIONS: Final = ROOT / "tests" / "durations.json"
LISTED_SECONDS: Final = 0.1
"""Shorter tests are not listed."""

FAST_SECONDS: Final = 0.5
"""Longest duration of a test, all its parameters together, in a quick run of the whole suite."""

FAST_SECONDS_OF_PATHS: Final = 10.0
"""The same in a quick run of some packages."""


def pytest_arguments(paths: list[str], workers: int) -> list[str]:
    """Return the arguments of Python that run the fast tests of these paths of gitmem or tests, or all fast ones."""
    arguments = ["-m", "pytest", "-q", "-r", "fE", "-m", "not long", "-n", str(workers), "-p", "tests.quick"]
    limit = FAST_SECONDS_OF_PATHS if paths else FAST_SECONDS
    return [*arguments, "--fast", str(limit), *[str(find_mirror(Path(path))) for path in paths]]


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
    """Add `--fast SECONDS`. This module is a plugin of pytest in quick runs."""
    parser.addoption("--fast", type=float, help="leave out tests known to take longer than this")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the slow tests."""
    durations = read_durations()
    limit = config.getoption("--fast")
    slow = [item for item in items if durations.get(item.nodeid.partition("[")[0], 0.0) > limit]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if item not in set(slow)]


def read_durations() -> Mapping[str, float]:
    """Read the seconds of each listed test, all its parameters together."""
    durations: dict[str, float] = json.loads(DURATIONS.read_text()) if DURATIONS.exists() else {}
    return durations


def measure(workers: int) -> int:
    """Run the default suite and write the durations of the tests that take longest."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.xml"
        arguments = ["-m", "pytest", "-q", "-m", "not long", "-n", str(workers), f"--junitxml={results}"]
        code = subprocess.run([sys.executable, *arguments], cwd=ROOT, check=False).returncode
        durations: defaultdict[str, float] = defaultdict(float)
        for case in ElementTree.parse(results).iter("testcase"):
            file = case.attrib["classname"].replace(".", "/")
            durations[f"{file}.py::{case.attrib['name'].partition('[')[0]}"] += float(case.attrib["time"])
    listed = {name: round(seconds, 1) for name, seconds in sorted(durations.items()) if seconds >= LISTED_SECONDS}
    DURATIONS.write_text(json.dumps(listed, indent=0) + "\n")
    return code
