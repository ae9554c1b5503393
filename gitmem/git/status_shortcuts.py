"""Shortcuts of `git status` that the user has configured: the untracked cache, and a file system monitor.

Both are git's own and give the same answers sooner. gitmem uses them as git would, except that it starts no monitor
that is not running, and no program that the configuration of the repository names: that file comes with a copied
repository, whoever made it.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from gitmem.named_tuple import NamedTuple

KEYS: Final = ("core.fsmonitor", "core.untrackedcache", "feature.manyfiles", "status.showuntrackedfiles")
"""Entries of git's configuration that are read, in lower case."""

_TRUE: Final = frozenset({None, "true", "yes", "on", "1"})
_FALSE: Final = frozenset({"", "false", "no", "off", "0"})
_SCOPES_OF_THE_USER: Final = ("system", "global")
_DAEMON_SOCKET: Final = "fsmonitor--daemon.ipc"
"""Name of the socket of git's own monitor in the git directory. In other places, for example for a network drive, it
is not looked for."""

_CONNECT_SECONDS: Final = 0.05


class StatusShortcuts(NamedTuple):
    """Shortcuts that may be used.

    With `cached` git keeps an untracked cache, with `lists_all` for a list of all untracked files instead of folders.
    `program` is the user's monitor, "" for none. With `daemon` the user wants git's own monitor.
    """

    cached: bool = False
    lists_all: bool = False
    program: str = ""
    daemon: bool = False

    @property
    def untracked(self) -> str:
        """Return the mode of `--untracked-files` in which git can use its cache; all files if there is none."""
        return "normal" if self.cached and not self.lists_all else "all"

    def monitor(self, git_dir: Path) -> str:
        """Return the value of `core.fsmonitor` for a command of git."""
        if self.daemon and _answers(git_dir / _DAEMON_SOCKET):
            return "true"
        return self.program or "false"


def parse_shortcuts(entries: Iterable[tuple[str, str | None, str]]) -> StatusShortcuts:
    """Return the shortcuts from git's configuration (key, value, scope); of several entries for a key the last wins."""
    values = {key: (value, scope) for key, value, scope in entries}
    is_cached = _is_true(values, "feature.manyfiles")
    if "core.untrackedcache" in values:
        is_cached = _is_true(values, "core.untrackedcache")
    program, scope = values.get("core.fsmonitor", ("", ""))
    return StatusShortcuts(
        cached=is_cached,
        lists_all=values.get("status.showuntrackedfiles", ("", ""))[0] == "all",
        program=program if program and scope in _SCOPES_OF_THE_USER and _is_program(program) else "",
        daemon=_is_true(values, "core.fsmonitor"),
    )


def _is_true(values: dict[str, tuple[str | None, str]], key: str) -> bool:
    value = values.get(key, ("", ""))[0]
    return (value.lower() if value else value) in _TRUE


def _is_program(value: str) -> bool:
    """Return whether a value names a program outside the repository: git runs a relative path in the working tree."""
    word = next(iter(value.split()), "")
    if not word or value.lower() in _TRUE | _FALSE or word.removeprefix("-").isdecimal():
        return False
    return "/" not in word or word.startswith(("/", "~"))


def _answers(path: Path) -> bool:
    """Return whether a process listens at a socket."""
    import socket  # needed by few users

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_CONNECT_SECONDS)
        try:
            connection.connect(str(path))
        except OSError:
            return False
    return True
