"""Programs whose output goes to a terminal."""

import os
import pty
import select
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def run_on_terminal(command: Sequence[str], cwd: Path, variables: Mapping[str, str]) -> tuple[int, str]:
    """Run a program with its output on a terminal; return exit code and everything that the terminal got."""
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        command, cwd=cwd, env={**os.environ, "TERM": "xterm", **variables},
        stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal,
    )  # fmt: skip
    os.close(terminal)
    output = b""
    while True:
        select.select([controller], [], [])
        try:
            data = os.read(controller, 65536)
        except OSError:  # Linux reports the end of a terminal as an error
            break
        if not data:
            break
        output += data
    os.close(controller)
    return process.wait(), output.decode()
