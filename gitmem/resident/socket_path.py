"""Where the socket of a repository is, and which repository a folder belongs to, without git. Imports next to nothing.

The socket is in a private folder of the user: not in the repository, which may be read-only, on a network file system,
shared with a container, or too deep for the 104 bytes of a socket's path. Its name is device and inode of the common
git directory, so every path to a repository leads to the same socket.
"""

import os
import stat
import sys

TYPE_CHECKING = False  # `typing` takes a third of the start of Python to import
if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_PATH_BYTES = 107 if sys.platform == "linux" else 103
"""Longest path of a socket, without the NUL at its end."""

_MAX_POINTER_BYTES = 4096


def socket_folders(environment: "Mapping[str, str]") -> "list[str]":
    """Return the folders that may hold sockets of this user, in the order in which they are tried.

    The first is the folder that a session of the system provides. A process started without one uses the second.
    The variable `GITMEM_RUNTIME_DIR` replaces them all, so that servers of one user can be kept apart.
    """
    chosen = environment.get("GITMEM_RUNTIME_DIR", "")
    if chosen.startswith("/"):
        return [chosen]
    uid = os.geteuid()
    session = environment.get("XDG_RUNTIME_DIR", "")
    temporary = environment.get("TMPDIR", "")
    folders = [f"{session}/gitmem"] if session.startswith("/") else []
    folders += [f"/run/user/{uid}/gitmem"] if sys.platform == "linux" else []
    folders += [f"{temporary.rstrip('/')}/gitmem-{uid}"] if temporary.startswith("/") else []
    return list(dict.fromkeys([*folders, f"/tmp/gitmem-{uid}"]))  # noqa: S108 (its owner is checked)


def socket_name(common_dir: str) -> str:
    """Return the name of a repository's socket. Raises OSError if the git directory does not exist."""
    status = os.stat(common_dir)  # noqa: PTH116 (pathlib takes as long to import as Python to start)
    return f"{status.st_dev:x}-{status.st_ino:x}"


def socket_paths(environment: "Mapping[str, str]", name: str) -> "list[str]":
    """Return the paths at which the socket of a repository may be."""
    paths = [f"{folder}/{name}" for folder in socket_folders(environment)]
    return [path for path in paths if len(os.fsencode(path)) <= MAX_PATH_BYTES]


def find_repository(folder: str) -> "tuple[str, str] | None":
    """Return the root of the working tree that contains an absolute folder, and its common git directory.

    None if only git can tell: for a bare repository, a path inside a git directory, another file system, or a link.
    """
    device = os.stat(folder).st_dev  # noqa: PTH116
    while True:
        marker = f"{folder.rstrip('/')}/.git"
        try:
            status = os.lstat(marker)
        except FileNotFoundError:
            parent = os.path.dirname(folder)  # noqa: PTH120
            # git takes a folder with a file HEAD for a bare repository, and does not leave the file system.
            if parent == folder or os.path.lexists(f"{folder}/HEAD") or os.stat(parent).st_dev != device:  # noqa: PTH116
                return None
            folder = parent
            continue
        if stat.S_ISDIR(status.st_mode):
            return (folder, marker) if os.path.lexists(f"{marker}/HEAD") else None
        return (folder, _common_dir(folder, marker)) if stat.S_ISREG(status.st_mode) else None


def _common_dir(folder: str, marker: str) -> str:
    """Return the common git directory that a file `.git` leads to. See gitrepository-layout(5)."""
    git_dir = os.path.join(folder, _read_line(marker).removeprefix("gitdir: "))  # noqa: PTH118
    try:
        return os.path.join(git_dir, _read_line(f"{git_dir}/commondir"))  # noqa: PTH118
    except FileNotFoundError:
        return git_dir  # a submodule, or a separate git directory


def _read_line(path: str) -> str:
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a named pipe must not block
    try:
        return os.fsdecode(os.read(handle, _MAX_POINTER_BYTES).rstrip(b"\r\n"))
    finally:
        os.close(handle)
