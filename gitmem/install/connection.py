"""Try what a client will do: start the command of an entry, send `initialize`, and wait for the answer.

Clients search a PATH of their own. A program that only an active virtual environment has on PATH is missing there, so
its folder is left out.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

from gitmem.install.clients import NAME

ANSWER_SECONDS: Final = 60.0
"""Longest wait for the answer. Clients give up after 10 to 60 seconds; a loaded machine must not look broken."""

_END_SECONDS: Final = 5.0
_MAX_COLUMNS: Final = 200
_INITIALIZE: Final = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "gitmem doctor", "version": "1"},
    },
}


def client_path(environment: Mapping[str, str]) -> str:
    """Return the PATH that a client probably searches: that of the user without an active virtual environment."""
    folders = environment.get("PATH", os.defpath).split(os.pathsep)
    own = {os.path.realpath(Path(sys.executable).parent)} if sys.prefix != sys.base_prefix else set()
    active = environment.get("VIRTUAL_ENV")
    own |= {os.path.realpath(Path(active) / Path(sys.executable).parent.name)} if active else set()
    # A relative folder would find programs of the repository.
    usable = [folder for folder in folders if Path(folder).is_absolute() and os.path.realpath(folder) not in own]
    return os.pathsep.join(usable)


def find_own_folder(environment: Mapping[str, str]) -> str:
    """Return the first folder of a client's PATH that is in the user's home directory, "" without one."""
    home = environment.get("HOME", "")
    folders = [Path(folder) for folder in client_path(environment).split(os.pathsep) if folder and home]
    return next((str(folder) for folder in folders if folder.is_relative_to(home) and os.access(folder, os.W_OK)), "")


def find_program(environment: Mapping[str, str]) -> list[str]:
    """Return the command of this gitmem with absolute paths: from PATH, else beside this Python, else a module."""
    on_path = shutil.which(NAME, path=client_path(environment))
    if on_path:
        return [str(Path(on_path).absolute())]
    beside = Path(sys.executable).with_name(NAME)
    # -P keeps the current folder off sys.path: a repository must never supply modules to a server.
    return [str(beside)] if os.access(beside, os.X_OK) else [sys.executable, "-P", "-m", NAME]


def try_connection(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float = ANSWER_SECONDS
) -> str:
    """Start a command in a folder as a client would; return "" if it answers `initialize`, else the problem."""
    search = client_path(environment)
    program = shutil.which(command[0], path=search)
    if program is None:
        if Path(command[0]).is_absolute():
            return f"`{command[0]}` is not a program"
        is_active = shutil.which(command[0], path=environment.get("PATH", os.defpath)) is not None
        reason = "on PATH only inside its virtual environment" if is_active else "not on PATH"
        return f"`{command[0]}` is {reason}"
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                [program, *command[1:]],
                cwd=folder,
                env={**environment, "PATH": search},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        except OSError as problem:
            return f"`{program}` cannot be started: {problem.strerror}"
        try:
            return _read_answer(process, errors, seconds)
        finally:
            _end(process)


def _read_answer(process: subprocess.Popen[bytes], errors: IO[bytes], seconds: float) -> str:
    """Send the request and judge the first line of the answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    lines: list[bytes] = []
    stdout = process.stdout
    # In a thread: a read of a pipe has no portable time limit.
    reader = threading.Thread(target=lambda: lines.append(stdout.readline()), daemon=True)
    reader.start()
    with suppress(OSError):  # it has ended already; its output says why
        process.stdin.write(json.dumps(_INITIALIZE).encode() + b"\n")
        process.stdin.flush()
    reader.join(seconds)
    if not lines:
        return f"no answer within {seconds:g} seconds"
    if not lines[0]:
        code = process.wait(_END_SECONDS)
        return f"ended with code {code}: {_last_line(errors)}".removesuffix(": ")
    return "" if _is_answer(lines[0]) else f"answered `{_shorten(lines[0])}`, which is not MCP"


def _is_answer(line: bytes) -> bool:
    try:
        message: Any = json.loads(line)
        return bool(message["id"] == 0 and message["result"]["serverInfo"]["name"])
    except (ValueError, TypeError, KeyError):
        return False


def _last_line(errors: IO[bytes]) -> str:
    errors.seek(0)
    lines = [line for line in errors.read().splitlines() if line.strip()]
    first_error = next((line for line in lines if line.startswith(b"error:")), lines[-1] if lines else b"")
    return _shorten(first_error)


def _shorten(line: bytes) -> str:
    return line.decode("utf-8", "replace").strip()[:_MAX_COLUMNS]


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the server as clients do, by closing its input; kill it with its children if that does not help."""
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
