"""Repositories of the folders that the client has open (MCP `roots`), for a server that starts outside a repository.

The client is asked at the first call that needs them, and again after it has reported a change. A failure is not
remembered, so that the next call asks again.
"""

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

from gitmem.errors import NotARepository
from gitmem.git.locate import locate
from gitmem.mcp.tools.tool_call import ToolCall
from gitmem.named_tuple import NamedTuple


class Roots(NamedTuple):
    """Repositories of the open folders, each once, in the order of the client; and what is wrong with the others."""

    repositories: Sequence[Path] = ()
    problem: NotARepository | None = None


class ClientRoots:
    """Open folders of one client."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        """Guards the two attributes below."""
        self._roots: Roots | None = None
        self._changes = 0

    def read(self, call: ToolCall) -> Roots:
        """Return the repositories of the open folders; ask the client if they are not known."""
        with self._lock:
            if self._roots is not None:
                return self._roots
            changes = self._changes
        # Without the lock: the client may take its time, and every call may ask it.
        uris = call.read_roots()
        if uris is None:
            return Roots()
        roots = find_repositories(uris)
        with self._lock:
            if changes == self._changes:
                self._roots = roots
        return roots

    def forget(self) -> None:
        """Ask again at the next call, because the client has reported a change."""
        with self._lock:
            self._roots = None
            self._changes += 1


def find_repositories(uris: Sequence[str]) -> Roots:
    """Return the repositories that contain the folders of `file` URIs; other URIs are ignored."""
    repositories: dict[Path, None] = {}
    problem: NotARepository | None = None
    for folder in filter(None, map(parse_uri, uris)):
        try:
            location = locate(folder)
        except NotARepository as error:
            problem = problem or error
        else:
            repositories[location.worktree or location.git_dir] = None
    return Roots(tuple(repositories), problem)


def parse_uri(uri: str) -> Path | None:
    """Return the absolute path of a `file` URI of this machine, None for any other."""
    try:
        parts = urlsplit(uri)
    except ValueError:  # not a URI, for example an unclosed bracket
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    # Not `url2pathname`: a file name may consist of any bytes, and `?` and `#` in it are escaped.
    path = os.fsdecode(unquote_to_bytes(parts.path))
    return Path(path) if path.startswith("/") and "\0" not in path else None
