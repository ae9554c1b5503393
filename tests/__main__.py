"""Run all checks: lint, format, types, import contracts, prose, properties, tests and the coverage floors.

usage: python -m tests                     all checks, about 10 minutes on two idle cores
       python -m tests --quick [PATH ...]  lint, types and the fast tests, under a minute; with paths only their tests
       python -m tests --measure           the default suite, to write tests/durations.json for --quick
       python -m tests ARGUMENTS           pytest with these arguments, without the other checks
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
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
    ("types", ["-m", "mypy"]),
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
        return quick.measure(workers=os.cpu_count() or 1)
    if arguments:
        return run("tests", ["-m", "pytest", *arguments])
    print("All checks take about 10 minutes on two idle cores. Faster: python -m tests --quick [PATH]", flush=True)
    failed = [name for name, command in CHECKS if run(name, command)]
    return finish([*failed, *run_tests()])


def finish(failed: list[str]) -> int:
    """Print the result in the last line."""
    print("failed: " + ", ".join(failed) if failed else "all checks passed", flush=True)
    return 1 if failed else 0


def run(name: str, arguments: list[str]) -> int:
    """Run one tool with this Python."""
    print(f"== {name}", flush=True)
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, check=False).returncode


def run_tests() -> list[str]:
    """Run the default suite under coverage; return the names of the failed checks.

    Many tests wait for processes, so one worker more than there are cores is faster. The failures are printed last,
    below the coverage.
    """
    with temporary_files() as folder:
        data = folder / "data"
        workers = str((os.cpu_count() or 1) + 1)
        arguments = ["-m", "coverage", "run", "-m", "pytest", "-q", "-p", "tests.measurement", "-n", workers]
        print("== tests", flush=True)
        environment = {"COVERAGE_FILE": str(data), "TMPDIR": str(folder)}
        # A short path: names of sockets have at most some hundred bytes.
        arguments += ["-m", "not long", f"--basetemp={folder / 't'}"]
        code, report = pytest_output.run([sys.executable, *arguments], ROOT, environment)
        print("\n== coverage", flush=True)
        covered = coverage_floors.hold(data)
    pytest_output.write(report)
    return [name for name, passed in (("coverage", covered), ("tests", code == 0)) if not passed]


@contextmanager
def temporary_files() -> Iterator[Path]:
    """Make a folder for the temporary files of a run, in memory if there is room."""
    in_memory = MEMORY_FILES.is_dir() and shutil.disk_usage(MEMORY_FILES).free >= NEEDED_BYTES
    with tempfile.TemporaryDirectory(dir=MEMORY_FILES if in_memory else None) as folder:
        yield Path(folder)


def run_quick(paths: list[str]) -> list[str]:
    """Run the checks that take seconds and the fast tests; return the names of the failed checks."""
    with subprocess.Popen([sys.executable, "-m", "mypy"], cwd=ROOT, stdout=subprocess.PIPE, text=True) as types:
        failed = [name for name, command in CHECKS[:2] if run(name, command)]
        if run("tests", quick.quick_arguments(paths, workers=os.cpu_count() or 1)):
            failed.append("tests")
        found, _ = types.communicate()  # checked meanwhile
    print(f"== types\n{found}", end="", flush=True)
    return [*failed, "types"] if types.returncode else failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
