"""Run the mutants: `python -m tests.mutations [PART ...]`, where a part is text in the name of a mutated file.

Each mutant runs in a copy of the tree, with its own tests only. First, as the control, all those tests must pass on an
unchanged copy: otherwise a failure would prove nothing. The command fails if the control fails, if a mutant can no
longer be made, or if less than 95 % are caught.
"""

import os
import queue
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutations.mutant import ROOT, Mutant, load_mutants

REQUIRED_SHARE = 0.95
WORKERS = 2
SECONDS = 900.0
"""Time limit of one mutant: a fault that makes a test hang is caught too."""

_FAILED = 1
_NOT_COLLECTED = 2
"""Exit codes of pytest that mean that a fault was noticed."""

_COPIED = ("gitmem", "tests", "models", "hooks", ".claude-plugin", "pyproject.toml", "README.md", "docs",
           ".importlinter", "CHANGELOG.md", "CONTRIBUTING.md", ".pre-commit-hooks.yaml")  # fmt: skip


def main(parts: list[str]) -> int:
    """Run the control and all mutants whose file contains one of the parts; return the exit code."""
    mutants = [mutant for mutant in load_mutants() if not parts or any(part in mutant.file for part in parts)]
    problems = [problem for mutant in mutants if (problem := mutant.find_problem())]
    print(*problems, sep="\n", end="\n" if problems else "")
    if problems or not mutants:
        return 1
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        trees: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for number in range(WORKERS):
            copy_tree(Path(folder, f"tree{number}"))
            trees.put(Path(folder, f"tree{number}"))
        if not run_control(Path(folder, "tree0"), mutants):
            return 1
        with ThreadPoolExecutor(WORKERS) as threads:
            return report(list(threads.map(lambda mutant: run_mutant(trees, mutant), mutants)), mutants)


def copy_tree(tree: Path) -> None:
    """Copy what the tests need of the checkout."""
    tree.mkdir()
    for name in _COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy2(source, tree / name)


def run_control(tree: Path, mutants: list[Mutant]) -> bool:
    """Run the tests of all mutants on the unchanged copy; return whether they pass, and print the failures if not."""
    tests = sorted({test for mutant in mutants for test in mutant.tests.split()})
    result = run_tests(tree, tests, stop_at_first=False)
    print(f"control: {result.stdout.strip().splitlines()[-1] if result.stdout.strip() else result.stderr.strip()}")
    if result.returncode:
        print(result.stdout)
    return result.returncode == 0


def run_mutant(trees: "queue.SimpleQueue[Path]", mutant: Mutant) -> bool:
    """Run one mutant in a copy that no other uses, and restore the copy; return whether its tests noticed it."""
    tree = trees.get()
    path = tree / mutant.file
    original = path.read_bytes()
    mutant.apply(tree)
    try:
        caught = run_tests(tree, mutant.tests.split()).returncode in (_FAILED, _NOT_COLLECTED)
    except subprocess.TimeoutExpired:
        caught = True
    finally:
        path.write_bytes(original)
        trees.put(tree)
    verdict = "caught  " if caught else "SURVIVED"
    print(f"{verdict} {mutant.file}: {mutant.text.strip().splitlines()[0]}", flush=True)
    return caught


def run_tests(tree: Path, tests: list[str], *, stop_at_first: bool = True) -> "subprocess.CompletedProcess[str]":
    """Run pytest in the copy, which its modules are imported from."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        *(["-x"] if stop_at_first else []),
        *tests,
    ]
    # Files change several times a second, so that bytecode by modification time would be that of another mutant.
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    limit = SECONDS if stop_at_first else None
    return subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, check=False, timeout=limit
    )


def report(caught: list[bool], mutants: list[Mutant]) -> int:
    """Print the share of caught mutants and the survivors; return the exit code."""
    survivors = [mutant for mutant, was_caught in zip(mutants, caught, strict=True) if not was_caught]
    share = sum(caught) / len(mutants)
    print(f"{sum(caught)} of {len(mutants)} caught ({share:.0%})")
    for mutant in survivors:
        print(f"survivor: {mutant.file}: {mutant.text.strip()!r}: {mutant.survives or 'NOT EXPLAINED'}")
    explained = all(mutant.survives for mutant in survivors)
    return 0 if share >= REQUIRED_SHARE and explained else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
