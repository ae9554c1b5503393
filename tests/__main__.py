"""Run all checks: lint, format, types, import contracts, prose, properties, tests and the coverage floors.

usage: python -m tests                     all checks
       python -m tests --quick [PATH ...]  lint, types and the fast tests, under a minute; with paths only their tests
       python -m tests --random            all checks, with new random examples for hypothesis
       python -m tests --measure           the default suite, to write tests/durations.json for --quick
       python -m tests ARGUMENTS           pytest with these arguments, without the other checks
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests import coverage_floors, pytest_output, quick

ROOT = Path(__file__).resolve().parent.parent
MEMORY_FILES: Final = Path("/dev/shm")
"""File system in memory. On it the tests take a quarter less processor time, and none wait for the disk."""

NEEDED_BYTES: Final = 4 << 30
"""Free space that the tests may need there: several times their use."""

IMPORT_LINTER = ["-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
CHECKS = (
    ("lint", ["-m", "ruff", "check", "."]),
    ("format", ["-m", "ruff", "format", "--check", "."]),
    ("imports", IMPORT_LINTER),
    ("prose", ["-m", "tests.prose_check"]),
    ("properties", ["-m", "tests.property_tags"]),
)


def main(arguments: list[str]) -> int:
    """Run the checks that the arguments name; return 0 if all of them pass."""
    # Hundreds of tests start gitmem as a program. Without bytecode files each of them compiles it again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if arguments[:1] == ["--quick"]:
        return finish(run_quick(arguments[1:]))
    if arguments == ["--measure"]:
        with temporary_files() as folder:
            return quick.measure(os.cpu_count() or 1, folder)
    if arguments not in ([], ["--random"]):
        return run("tests", ["-m", "pytest", *arguments])
    minutes = quick.estimate_minutes(os.cpu_count() or 1)
    print(
        f"All checks take about {minutes} minutes on an idle machine. Faster: python -m tests --quick [PATH]",
        flush=True,
    )
    return finish(run_all("random" if arguments else "repeatable"))


def finish(failed: list[str]) -> int:
    """Print the result in the last line."""
    print("failed: " + ", ".join(failed) if failed else "all checks passed", flush=True)
    return 1 if failed else 0


def run(name: str, arguments: list[str], environment: Mapping[str, str] | None = None) -> int:
    """Run one tool with this Python, with additional environment variables."""
    print(f"== {name}", flush=True)
    environment = {**os.environ, **(environment or {})}
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, check=False).returncode


def run_all(examples: str) -> list[str]:
    """Run all checks; return the names of those that failed. The failures of the tests are printed last."""
    with start_types() as types:
        failed = [name for name, command in CHECKS if run(name, command)]
        failed_tests, report = run_tests(examples)
        failed += [*finish_types(types), *failed_tests]
    pytest_output.write(report)
    return failed


def start_types() -> subprocess.Popen[str]:
    """Start mypy, which takes a minute of one core if its cache is empty: meanwhile others use the other cores."""
    return subprocess.Popen([sys.executable, "-m", "mypy"], cwd=ROOT, stdout=subprocess.PIPE, text=True)


def finish_types(process: subprocess.Popen[str]) -> list[str]:
    """Print the result of mypy; return its name if it failed."""
    output, _ = process.communicate()
    print(f"== types\n{output}", end="", flush=True)
    return ["types"] if process.returncode else []


def run_tests(examples: str) -> tuple[list[str], bytes]:
    """Run the default suite under coverage; return the names of the failed checks, and the report of the failures.

    `examples` is a profile of hypothesis: `repeatable` or `random` (see conftest.py).
    Many tests wait for processes, so one worker more than there are cores is faster.
    """
    with temporary_files() as folder:
        data = folder / "data"
        workers = str((os.cpu_count() or 1) + 1)
        arguments = ["-m", "coverage", "run", "-m", "pytest", "-q", "-p", "tests.measurement", "-n", workers]
        print("== tests", flush=True)
        arguments += ["-m", "not long", f"--hypothesis-profile={examples}", *quick.temporary_options(folder)]
        environment = {"COVERAGE_FILE": str(data), "TMPDIR": str(folder)}
        code, report = pytest_output.run([sys.executable, *arguments], ROOT, environment)
        print("\n== coverage", flush=True)
        covered = coverage_floors.hold(data)
    return [name for name, passed in (("coverage", covered), ("tests", code == 0)) if not passed], report


@contextmanager
def temporary_files() -> Iterator[Path]:
    """Make a folder for the temporary files of a run, in memory if there is room."""
    in_memory = MEMORY_FILES.is_dir() and shutil.disk_usage(MEMORY_FILES).free >= NEEDED_BYTES
    with tempfile.TemporaryDirectory(dir=MEMORY_FILES if in_memory else None) as folder:
        yield Path(folder)


def run_quick(paths: list[str]) -> list[str]:
    """Run the checks that take seconds and the fast tests; return the names of the failed checks."""
    with start_types() as types, temporary_files() as folder:
        failed = [name for name, command in CHECKS[:2] if run(name, command)]
        arguments = quick.quick_arguments(paths, workers=os.cpu_count() or 1)
        if run("tests", [*arguments, *quick.temporary_options(folder)], {"TMPDIR": str(folder)}):
            failed.append("tests")
        return [*failed, *finish_types(types)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
