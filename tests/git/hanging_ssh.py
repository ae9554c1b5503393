"""Program in place of ssh that never answers, and writes down its processes."""

import os
import time
from pathlib import Path

LONG = 60.0
"""Seconds after which a process counts as one that goes on for ever."""


class HangingSsh:
    """The program in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._pids = folder / "pids"
        self.program = folder / "ssh"
        self.program.write_text(f"#!/bin/sh\necho $$ >>{self._pids}\nexec sleep 1000\n")
        self.program.chmod(0o700)

    def await_started(self) -> None:
        """Wait until git has started the program."""
        deadline = time.monotonic() + LONG
        while not self._processes():
            assert time.monotonic() < deadline, "git starts no ssh"
            time.sleep(0.01)

    def await_ended(self) -> None:
        """Wait until all of its processes have ended; fails if they do not."""
        assert self._processes()
        for process in self._processes():
            deadline = time.monotonic() + LONG
            while _is_running(process) and time.monotonic() < deadline:
                time.sleep(0.01)
            assert not _is_running(process), "ssh goes on for ever"

    def _processes(self) -> list[int]:
        # The last line may still be incomplete.
        return [int(line) for line in self._pids.read_text().split("\n")[:-1]] if self._pids.exists() else []


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{process}/stat")
    return not status.exists() or status.read_text().rpartition(") ")[2][0] != "Z"
