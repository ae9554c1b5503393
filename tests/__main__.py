"""All checks in one: lint, format, types, import contracts, tests and the coverage floors.

usage: python -m tests [pytest arguments]

With pytest arguments only the tests run, without coverage.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINES_FLOOR = 90.0
BRANCHES_FLOOR = 80.0

CHECKS = (
    ("lint", ["ruff", "check", "."]),
    ("format", ["ruff", "format", "--check", "."]),
    ("types", ["mypy"]),
    ("imports", ["importlinter.cli"]),
)


def main(arguments: list[str]) -> int:
    """Run everything; the exit code is that of the first check that failed, in order of running."""
    if arguments:
        return run("tests", ["pytest", *arguments])
    failed = [name for name, module in CHECKS if run(name, module)]
    if run_tests():
        failed.append("tests")
    print("failed: " + ", ".join(failed) if failed else "all checks passed", flush=True)
    return 1 if failed else 0


def run(name: str, module: list[str], environment: dict[str, str] | None = None) -> int:
    """Run one tool as a module of this Python."""
    print(f"== {name}", flush=True)
    start = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    command = start if module == ["importlinter.cli"] else [sys.executable, "-m", *module]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **(environment or {})}).returncode


def run_tests() -> int:
    """The default suite on all cores, then both floors. Many tests wait for disks and processes: one more may work."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {"COVERAGE_FILE": str(Path(folder) / "data")}
        workers = str((os.cpu_count() or 1) + 1)
        code = run("tests", ["coverage", "run", "-m", "pytest", "-q", "-n", workers, "-m", "not long"], environment)
        report = Path(folder) / "report.json"
        run("coverage", ["coverage", "combine", "-q"], environment)
        run("report", ["coverage", "json", "-q", "-o", str(report)], environment)
        run("table", ["coverage", "report", "--skip-covered", "--sort=cover"], environment)
        return code or (0 if report.exists() and floors_hold(json.loads(report.read_text())["totals"]) else 1)


def floors_hold(totals: dict[str, int]) -> bool:
    """Lines and branches apart: one number for both would let one hide behind the other."""
    lines = 100 * totals["covered_lines"] / totals["num_statements"]
    branches = 100 * totals["covered_branches"] / totals["num_branches"]
    print(f"lines {lines:.1f} % (floor {LINES_FLOOR}), branches {branches:.1f} % (floor {BRANCHES_FLOOR})")
    return lines >= LINES_FLOOR and branches >= BRANCHES_FLOOR


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
