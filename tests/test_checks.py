"""The checks of `python -m tests` see what they are for."""

import ast
import math
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

import pytest

from tests import coverage_floors, measurement, private_patches, property_tags, prose_check, pytest_output, quick
from tests.import_graph import build_graph, count_lazy_imports, find_cycles
from tests.property_tags import Tag

MODULE = '''"""A module."""

import b


def told(found):
    """The words that were told."""
    from c import d  # late
    left = found
    raise ValueError(f"what is no {left}")
'''


def test_cycles_of_any_length_are_found_and_nothing_else() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d"}, "f": {"a", "f2"}, "f2": set()}
    assert find_cycles(graph) == [["a", "b", "c"], ["d", "e"]]
    assert find_cycles({"a": {"b"}, "b": set()}) == []


def test_imports_inside_functions_and_for_types_are_imports_too() -> None:
    trees = {
        "p": ast.parse(""),
        "p.a": ast.parse("def f():\n    def g():\n        from p.b import x\n    import p.c\n"),
        "p.b": ast.parse("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p import a\n"),
        "p.c": ast.parse("import os\n"),
    }
    assert build_graph(trees) == {"p": set(), "p.a": {"p.b", "p.c"}, "p.b": {"p.a"}, "p.c": set()}
    assert [count_lazy_imports(tree) for tree in trees.values()] == [0, 2, 0, 0]


def test_prose_is_measured(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(MODULE)
    (tmp_path / "two.py").write_text('def read():\n    """Read a file."""\n')
    figures = {figure.label: figure for figure in prose_check.measure(tmp_path)}
    values = {label.partition(",")[0]: figure.value for label, figure in figures.items()}
    assert values["docstrings that begin with a noun or a clause"] == 0.5
    assert values["names that are a bare participle"] == 1.0
    assert values["'what' in 1"] == pytest.approx(1000 / 11)
    assert values["comments in 100 lines of code"] == pytest.approx(100 / 9)
    assert not figures["docstrings that begin with a noun or a clause"].holds
    assert figures["import cycles"].holds


@pytest.mark.parametrize(
    ("tag", "fault"),
    [
        (Tag(2, "Relevance and ranking", "t", 100), ""),
        (Tag(2, "Ranking", "t", 100), "property 2 is Relevance and ranking, not Ranking"),
        (Tag(99, "Anything", "t", 100), "property 99 is unknown"),
        (Tag(2, "Relevance and ranking", "t", 99), "99 examples, fewer than 100"),
        (Tag(2, "Relevance and ranking", "t", None), "not a hypothesis test"),
    ],
)
def test_a_tag_needs_a_known_property_and_a_hundred_examples(tag: Tag, fault: str) -> None:
    faults = property_tags.find_faults([tag])
    assert faults == [] if not fault else fault in faults[0]


def test_examples_are_read_from_the_settings_of_a_test_or_a_module(tmp_path: Path) -> None:
    given = "from hypothesis import given, settings\nmany = settings(max_examples=7)\n"
    tests = "".join(
        f'{decorators}\n@given()\ndef test_{name}():\n    """Property 1: {name}. Property 2: Two."""\n'
        for name, decorators in {"a": "@many", "b": "@settings(max_examples=8)", "c": ""}.items()
    )
    (tmp_path / "test_sample.py").write_text(f'{given}{tests}def test_d():\n    """Property 3: d."""\n')
    tags = property_tags.read_tags(tmp_path)
    assert [(tag.number, tag.title, tag.examples) for tag in tags] == [
        (1, "a", 7), (2, "Two", 7), (1, "b", 8), (2, "Two", 8), (1, "c", 100), (2, "Two", 100), (3, "d", None),
    ]  # fmt: skip


def test_no_test_replaces_a_private_name() -> None:
    assert private_patches.find_private_patches(quick.ROOT / "tests") == []


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ('patch.setattr(module, "_LIMIT", 1)', ["_LIMIT"]),
        ('patch.setattr("package.module._LIMIT", 1)', ["_LIMIT"]),
        ('patch.setattr(f"package.{name}._LIMIT", 1)', ["_LIMIT"]),
        ('patch.setattr("package.read.__defaults__", (1,))', ["__defaults__"]),
        ('patch.delattr(module, "_LIMIT")', ["_LIMIT"]),
        ('setattr(module, "_LIMIT", 1)', ["_LIMIT"]),
        ('mock.patch.object(module, "_LIMIT")', ["_LIMIT"]),
        ('for name in ("_ONE", "two", "m._THREE"):\n    patch.setattr(module, name, 1)', ["_ONE", "_THREE"]),
        ("module._LIMIT = 1", ["_LIMIT"]),
        ("del module._LIMIT", ["_LIMIT"]),
        ("self._limit = module._LIMIT", []),
        ('patch.setattr("package.Class.__enter__", refuse)', []),
        ('patch.setattr(module, "LIMIT", 1)', []),
        ('patch.setattr(module, "LIMIT", "_value")', []),
        ('for name in ("ONE", "two"):\n    patch.setattr(module, name, 1)', []),
    ],
)
def test_each_way_to_replace_a_private_name_is_found(tmp_path: Path, line: str, names: list[str]) -> None:
    (tmp_path / "test_sample.py").write_text(line)
    found = [item.partition(": ")[2] for item in private_patches.find_private_patches(tmp_path)]
    assert found == names


def test_failures_are_kept_for_the_end(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    (tmp_path / "test_sample.py").write_text(
        "def test_good():\n    pass\n\ndef test_bad():\n    assert 'reason' == 1\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    code, report = pytest_output.run(command, tmp_path, {})
    shown = capfdbinary.readouterr().out
    assert code == 1
    assert b".F" in shown
    assert b"reason" not in shown
    assert report.startswith(b"=")
    assert b"AssertionError: assert 'reason' == 1" in report


def test_neither_slow_tests_nor_programs_are_measured(tmp_path: Path) -> None:
    durations = quick.read_durations()
    slow, name = max(durations, key=lambda test: durations[test] * (test != quick.OTHERS)).split("::")
    (tmp_path / slow).parent.mkdir(parents=True)
    (tmp_path / slow).write_text(
        "import os\nfrom coverage import Coverage\n"
        f"def {name}():\n    assert Coverage.current() is None\n"
        f"def test_fast():\n    assert Coverage.current()\n    assert {measurement.VARIABLE!r} not in os.environ\n"
    )
    options = [f"--rcfile={quick.ROOT / 'pyproject.toml'}", f"--source={tmp_path}"]
    command = [sys.executable, "-m", "coverage", "run", *options, "-m", "pytest", "-p", "tests.measurement", slow]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    environment = {**inherited, "PYTHONPATH": str(quick.ROOT), measurement.VARIABLE: ""}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(tmp_path.glob(".coverage.*"))


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("gitmem/search/globs.py", "tests/search/test_globs.py"),
        ("gitmem/search", "tests/search"),
        ("gitmem/mcp/tools/toolsets.py", "tests/mcp/tools"),
        ("gitmem/fsio.py", "tests/test_fsio.py"),
        ("gitmem", "tests"),
        ("tests/git", "tests/git"),
        ("README.md", "tests"),
    ],
)
def test_the_tests_of_a_path_mirror_it(path: str, tests: str) -> None:
    assert quick.find_mirror(quick.ROOT / path) == quick.ROOT / tests


def test_a_quick_run_of_a_path_runs_its_tests(capfd: pytest.CaptureFixture[str]) -> None:
    arguments = quick.quick_arguments(["gitmem/search/metrics.py"], workers=1)
    done = subprocess.run([sys.executable, *arguments, "-p", "no:cacheprovider"], cwd=quick.ROOT, check=False)
    assert done.returncode == 0, capfd.readouterr()
    assert " passed" in capfd.readouterr().out


def test_a_quick_run_takes_the_fastest_tests_that_fit_into_the_budget() -> None:
    durations = {"a": 1.0, "b": 5.0, "c": 2.0, "d": 3.0, quick.OTHERS: 4.0}
    assert quick.find_slow(durations, limit=math.inf, budget=7.0) == {"b", "d"}
    assert quick.find_slow(durations, limit=2.0, budget=math.inf) == {"b", "d"}
    assert quick.find_slow(durations, limit=math.inf, budget=15.0) == set()
    assert quick.find_slow({}, limit=0.0, budget=0.0) == set()


def test_durations_are_read_from_the_report_of_a_run(tmp_path: Path) -> None:
    """The report of several workers, as pytest-xdist writes it."""
    (tmp_path / "test_sample.py").write_text(
        "import pytest, time\n@pytest.mark.parametrize('number', range(4))\ndef test_slow(number):\n"
        "    time.sleep(0.05)\ndef test_fast():\n    pass\n"
    )
    results = tmp_path / "results.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "xdist", "-n", "2", f"--junitxml={results}", "."]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # the others take longer to load than to test
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    durations = quick.sum_durations(results)
    assert durations.keys() == {"test_sample.py::test_slow", "test_sample.py::test_fast"}
    assert durations["test_sample.py::test_slow"] >= 0.2


def test_short_durations_are_summed_up() -> None:
    assert quick.summarize({"b": 1.234, "a": 0.01, "c": 0.012}) == {"b": 1.23, quick.OTHERS: 0.03}


@pytest.mark.parametrize("cores", [1, 2, 64])
def test_the_time_of_a_run_follows_from_the_durations(cores: int) -> None:
    seconds = sum(quick.read_durations().values()) / cores
    expected = (quick.OTHER_CHECKS_SECONDS + quick.COVERAGE_FACTOR * seconds) / 60
    assert quick.estimate_minutes(cores) == pytest.approx(expected, abs=0.51)


def test_a_floor_of_a_package_is_not_reached_by_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    whole = {"covered_lines": 99, "num_statements": 100, "covered_branches": 9, "num_branches": 10}
    half = {**whole, "covered_lines": 3, "num_statements": 20}
    files = {f"{folder}a.py": whole for folder in coverage_floors.LINES}
    assert coverage_floors.check_floors(files)
    assert not coverage_floors.check_floors({**files, "gitmem/search/b.py": half})
    assert "gitmem/search/: 85.0 % of the lines are covered, floor 95 %" in capsys.readouterr().out


def test_threads_start_one_after_the_other_and_run_what_they_should() -> None:
    class Slow(threading.Thread):
        """A thread that takes a while to start, and tells which others do at the same time."""

        starting: ClassVar[list[str]] = []
        together: ClassVar[list[str]] = []
        ran: ClassVar[list[str]] = []

        def start(self) -> None:
            self.starting.append(self.name)
            self.together.extend(name for name in self.starting if name != self.name)
            time.sleep(0.002)
            super().start()
            self.starting.remove(self.name)

        def run(self) -> None:
            self.ran.append(self.name)

    measurement.start_one_by_one(Slow)
    slow = [Slow(name=str(number)) for number in range(20)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(Slow.start, slow))
    for thread in slow:
        thread.join()
    assert sorted(Slow.ran) == sorted(thread.name for thread in slow)
    assert Slow.together == []
