"""Sockets that the HTTP server listens on: a port, or a socket file of this user."""

import os
import socket
import stat
from pathlib import Path

from gitmem.errors import UsageError


def listen_on_port(host: str, port: int) -> socket.socket:
    """Listen on a port of a host; 0 is any free port. Raises UsageError."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise UsageError(f"cannot listen on {host} port {port}: {error}", hint="gitmem mcp --http --port 0") from error


def listen_on_first_free(host: str, ports: range) -> socket.socket:
    """Listen on the first of some ports that no other process uses. Raises UsageError."""
    problem: UsageError | None = None
    for port in ports:
        try:
            return listen_on_port(host, port)
        except UsageError as error:
            problem = error
    raise problem or UsageError("no port to listen on")


def listen_on_socket_file(path: Path) -> socket.socket:
    """Listen on a socket file that only this user can open; the socket file of a dead server is replaced.

    Raises: UsageError.
    """
    listening = socket.socket(socket.AF_UNIX)
    try:
        if _is_orphaned(path):
            path.unlink()
        # `bind` creates the file. With the umask it never has wider permissions, as it would before a chmod.
        umask = os.umask(0o177)
        try:
            listening.bind(str(path))
        finally:
            os.umask(umask)
        listening.listen()
    except OSError as error:
        listening.close()
        raise UsageError(f"cannot listen on {path}: {error.strerror or error}") from error
    return listening


def _is_orphaned(path: Path) -> bool:
    """Return whether a path is a socket file of this user on which no process listens."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return False
    if not stat.S_ISSOCK(status.st_mode) or status.st_uid != os.geteuid():
        return False
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) != 0
