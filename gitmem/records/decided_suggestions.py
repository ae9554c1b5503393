"""Suggestions that a person has accepted or skipped. The file is a cache: losing it shows them again."""

from collections.abc import Sequence
from typing import Final

from gitmem.fsio import append_file, read_file, write_atomic
from gitmem.workspace import Workspace, create_index, is_our_index

MAX_DECIDED: Final = 20_000
KEY_CHARS: Final = 16
"""Hexadecimal digits of a key. With 64 bits, two of 20,000 suggestions collide once in 90 billion repositories."""

_LINE: Final = KEY_CHARS + 1


def read_decided(workspace: Workspace) -> set[str]:
    """Return the keys of the suggestions that were decided on. Raises: StorageFailed, UnsafeIndex."""
    data = read_file(workspace.paths.decided, MAX_DECIDED * _LINE * 2) if is_our_index(workspace) else None
    return set((data or b"").decode("ascii", "replace").split())


def remember_decided(workspace: Workspace, keys: Sequence[str]) -> None:
    """Add keys. Raises: StorageFailed, UnsafeIndex."""
    create_index(workspace)
    path = workspace.paths.decided
    size = append_file(path, "".join(f"{key}\n" for key in keys).encode("ascii"))
    if size > MAX_DECIDED * _LINE:
        # The older half is forgotten. Another process may append meanwhile; its suggestion is then shown once more.
        lines = (read_file(path) or b"").splitlines(keepends=True)
        write_atomic(path, lines[len(lines) // 2 :], durable=False)
