"""Pipe long output on a terminal into a pager, chosen as git chooses it: GIT_PAGER, core.pager, PAGER, `less`."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gitmem.cli import console
from gitmem.cli.error_output import say
from gitmem.cli.invocation import Invocation
from gitmem.cli.style import PAGER_IN_USE
from gitmem.git.program import run_git

_DEFAULT: Final = "less"
_DEFAULTS: Final = {"LESS": "FRX", "LV": "-c"}
"""Options of the pagers that git sets too: leave at once if the output fits, keep colours, do not clear the screen."""

_SHELL_SYNTAX: Final = re.compile(r"[|&;<>()$`\\\"' \t\n*?\[#~=%]")
_NOT_FOUND: Final = 127


class Pager:
    """Running pager that receives standard output, and standard error if that is a terminal."""

    def __init__(self, process: "subprocess.Popen[bytes]", command: str) -> None:
        self._process = process
        self._command = command
        # A descriptor, not the stream, is redirected: some output bypasses the text layer.
        self._saved = {number: os.dup(number) for number in (1, 2) if number == 1 or os.isatty(2)}
        assert process.stdin is not None
        for number in self._saved:
            os.dup2(process.stdin.fileno(), number)
        process.stdin.close()

    def close(self) -> None:
        """Give the terminal back and wait until the user leaves the pager."""
        for number, saved in self._saved.items():
            _flush(number)
            os.dup2(saved, number)
            os.close(saved)
        while True:
            try:
                code = self._process.wait()
                break
            except KeyboardInterrupt:  # the pager handles ctrl-C itself; leaving first would hand over a raw terminal
                continue
        os.environ.pop(PAGER_IN_USE, None)
        if code == _NOT_FOUND:
            say(f"error: the pager `{self._command}` cannot be run; show the output without it: gitmem --no-pager")


def start_pager(invocation: Invocation) -> None:
    """Send all further output into the pager, until the command ends."""
    variables, client = console.environment(), console.client_console()
    command = choose_pager(variables, invocation.folder)
    if not command:
        return
    if client is not None:
        variables.setdefault("COLUMNS", str(console.terminal_columns()))
        client.start_pager(command)
        variables[PAGER_IN_USE] = "true"
        return
    pager = start(command)
    if pager is not None:
        invocation.at_end(pager.close)


def choose_pager(environment: Mapping[str, str], folder: str) -> str:
    """Return the command of the pager, "" if the user wants none."""
    command = environment.get("GIT_PAGER")
    if command is None:
        configured = run_git(["config", "--get", "core.pager"], cwd=Path(folder), check=False)
        command = os.fsdecode(configured.stdout).removesuffix("\n") if configured.code == 0 else None
    if command is None:
        command = environment.get("PAGER", _DEFAULT)
    return "" if command == "cat" else command


def needs_shell(command: str) -> bool:
    """Return whether a shell must run the command of a pager."""
    return _SHELL_SYNTAX.search(command) is not None


def start(command: str) -> Pager | None:
    """Start a pager on the output of this process; return None if there is none to start."""
    sys.stdout.flush()
    sys.stderr.flush()
    # The pager and its pipe hide the width of the terminal from this process.
    os.environ.setdefault("COLUMNS", str(console.terminal_columns()))
    environment = {**_DEFAULTS, **os.environ}
    through_shell = needs_shell(command)
    try:
        process = subprocess.Popen(command, shell=through_shell, stdin=subprocess.PIPE, env=environment)
    except OSError as error:
        if command != _DEFAULT:  # without `less`, output is simply not paged
            say(f"note: the pager `{command}` cannot be run: {error.strerror}")
        return None
    os.environ[PAGER_IN_USE] = "true"
    return Pager(process, command)


def _flush(number: int) -> None:
    """Flush a standard stream. If the pager is gone, discard the rest: it must not end up on the terminal."""
    stream = sys.stdout if number == 1 else sys.stderr
    try:
        stream.flush()
    except BrokenPipeError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, number)
        os.close(null)
        stream.flush()
