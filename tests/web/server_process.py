"""The server as a process, for tests: started, found and ended, in an environment of its own."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from gitmem.web.control import find_server
from tests.web.served import registry_environment

GITMEM: Final = (sys.executable, "-P", "-m", "gitmem")
PATIENCE: Final = 60.0


def server_environment(folder: Path) -> dict[str, str]:
    """Return the environment of a user with a registry in a folder, and with an own folder for sockets."""
    sockets = Path("/tmp") / f"gm-{os.getpid()}-{time.monotonic_ns()}"  # short: the path of a socket is limited
    sockets.mkdir(mode=0o700)
    return {**registry_environment(folder), "GITMEM_RUNTIME_DIR": str(sockets)}


def run(environment: Mapping[str, str], *args: str, folder: Path = Path("/")) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*GITMEM, *args], env=environment, cwd=folder, capture_output=True, text=True, check=False)


def wait_for(condition: Callable[[], Any]) -> Any:
    """Return the first true value of a condition."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError("nothing happened in time")


@contextmanager
def serving(environment: Mapping[str, str], *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server that is ready."""
    process = subprocess.Popen([*GITMEM, "serve", *options], env=environment, cwd="/", stderr=subprocess.PIPE)
    assert process.stderr is not None
    try:
        wait_for(lambda: find_server(environment) or process.poll() is not None)
        yield process
    finally:
        process.terminate()
        process.wait(20)
        process.stderr.close()
