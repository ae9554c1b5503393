"""Detect that the code of gitmem on disk is not the code that this process runs, after an upgrade or an edit."""

import os
from pathlib import Path
from typing import Final

import gitmem

CodeSignature = frozenset[tuple[str, int, int]]
"""Path, time of modification in nanoseconds, and size of each source file."""

_PACKAGE: Final = Path(gitmem.__file__).parent


def read_code_signature(package: Path = _PACKAGE) -> CodeSignature:
    """Return the signature of all source files below a folder. Costs a millisecond."""
    return frozenset(_files(os.fspath(package)))


def _files(folder: str) -> list[tuple[str, int, int]]:
    files = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                status = entry.stat()
                files.append((entry.path, status.st_mtime_ns, status.st_size))
            elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                files += _files(entry.path)
    return files
