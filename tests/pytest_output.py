"""Run pytest, print its progress at once, and keep its report of failures for later."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

_REPORT: Final = re.compile(rb"^=+ (?:ERRORS|FAILURES|short test summary info) =", re.MULTILINE)
_CHUNK_BYTES: Final = 1 << 16


def run(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> tuple[int, bytes]:
    """Run pytest with additional environment variables; return its exit code and its output from the report on."""
    pending = b""
    reporting = False
    with subprocess.Popen(
        command, cwd=folder, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        while chunk := os.read(process.stdout.fileno(), _CHUNK_BYTES):
            pending += chunk
            if not reporting:
                shown, reporting = _find_report(pending)
                write(pending[:shown])
                pending = pending[shown:]
    return process.returncode, pending


def _find_report(output: bytes) -> tuple[int, bool]:
    """Return how much of the output can be shown now, and whether the rest is the report."""
    if match := _REPORT.search(output):
        return match.start(), True
    last_line = output.rfind(b"\n") + 1
    # The rest of a heading may not have arrived.
    return (last_line if output.startswith(b"=", last_line) else len(output)), False


def write(output: bytes) -> None:
    """Print bytes of another process."""
    sys.stdout.flush()
    sys.stdout.buffer.write(output)
    sys.stdout.buffer.flush()
