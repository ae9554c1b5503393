"""Synthetic repository of any size, for machines without a large one: shuffled real code.

A seeded generator distributes the functions and classes of Python's standard library over files and renames them, so
every file and every symbol differs. The same Python and size give the same repository. Words repeat more than in real
code, so a real repository (`--repo`) is more representative.
"""

import ast
import random
import subprocess
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Final

PER_FILE: Final = 3
LINES: Final = (5, 80)
SKIPPED: Final = {"site-packages", "test", "tests", "idlelib", "lib2to3", "turtledemo", "encodings"}
DATE: Final = "1767225600 +0000"


def write_repository(target: Path, files: int) -> None:
    """Make a git repository whose branch `main` has one commit with `files` files; check out nothing."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(target)], check=True)
    importer = subprocess.Popen(["git", "-C", str(target), "fast-import", "--quiet"], stdin=subprocess.PIPE)
    assert importer.stdin
    importer.stdin.write(
        f"commit refs/heads/main\ncommitter bench <bench@localhost> {DATE}\ndata 9\nsynthetic\n".encode()
    )
    for path, text in iter_files(files):
        data = text.encode()
        importer.stdin.write(f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n")
    importer.stdin.close()
    if importer.wait():
        raise RuntimeError("git fast-import failed")


def iter_files(files: int) -> Iterator[tuple[str, str]]:
    """Yield path and text of each file."""
    dice = random.Random(files)
    pool = list(iter_definitions())
    names = sorted({word for name, _ in pool for word in name.lower().split("_") if len(word) > 2})
    for number in range(files):
        parts = [rename(*dice.choice(pool), "_".join(dice.sample(names, 2))) for _ in range(PER_FILE)]
        stem = "_".join(dice.sample(names, 2))
        yield (
            f"{names[number // 400 % len(names)]}/part{number // 20:05}/{stem}{number}.py",
            "\n\n\n".join(parts) + "\n",
        )


def iter_definitions() -> Iterator[tuple[str, str]]:
    """Yield name and text of the standard library's top-level functions and classes of a usual length."""
    root = Path(sysconfig.get_path("stdlib"))
    for path in sorted(root.rglob("*.py")):
        if SKIPPED.isdisjoint(path.relative_to(root).parts):
            yield from definitions_of(path.read_text(encoding="utf-8", errors="replace"))


def definitions_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of a module's top-level functions and classes of a usual length."""
    lines = text.splitlines()
    with warnings.catch_warnings(action="ignore"):  # about escapes in the standard library
        tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            end = node.end_lineno or node.lineno
            if LINES[0] <= end - node.lineno + 1 <= LINES[1]:
                yield node.name, "\n".join(lines[node.lineno - 1 : end])


def rename(name: str, text: str, addition: str) -> str:
    """Rename the definition at the start of a text."""
    return text.replace(name, f"{name}_{addition}", 1)
