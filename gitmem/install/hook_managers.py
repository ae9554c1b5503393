"""Other programs that own hooks, and the line to add to their configuration if joining their hook is not safe."""

from pathlib import Path
from typing import Final

_LINE: Final = "! command -v gitmem >/dev/null || gitmem hook {event}"
"""Shell command that does nothing without gitmem, and returns at once with it."""

_GENERATED: Final = {b"lefthook": "lefthook", b"husky": "husky", b"overcommit": "overcommit"}
"""Words in hook files that their program rewrites unasked, which would drop our lines.

pre-commit rewrites its hooks only on request, so its hooks are joined.
"""


def find_owner(content: bytes) -> str | None:
    """Return the name of the program that will rewrite this hook file, None if no known program will."""
    lower = content.lower()
    return next((name for word, name in _GENERATED.items() if word in lower), None)


def advise_owner(owner: str, event: str) -> str:
    """Return the advice for the configuration of a program that writes hook files."""
    line = _LINE.format(event=event)
    if owner == "lefthook":
        return f"add to lefthook.yml: {event}: {{commands: {{gitmem: {{run: '{line}'}}}}}}"
    return f"let {owner} run: {line}"


def advise_hook(event: str) -> str:
    """Return the advice for a hook that cannot be wrapped."""
    return f"let it run: {_LINE.format(event=event)}"


def describe_folder(folder: Path) -> str:
    """Return the owner of a folder that `core.hooksPath` names."""
    husky = ".husky" in (folder.name, folder.parent.name)
    return f"husky owns {folder}" if husky else f"core.hooksPath is {folder}"


def advise_folder(folder: Path, event: str) -> str:
    """Return the advice for a hook in a folder that does not belong to this repository alone."""
    # husky generates `.husky/_`; its users edit the files of the same names in `.husky`.
    generated = folder.name == "_" and folder.parent.name == ".husky"
    file = (folder.parent if generated else folder) / event
    return f"add to {file}: {_LINE.format(event=event)}"
