"""Other programs that own hooks: where joining them is not safe, what a person adds to their configuration instead."""

from pathlib import Path
from typing import Final

_LINE: Final = "! command -v gitmem >/dev/null || gitmem hook {event}"
"""For a shell: nothing where gitmem is not installed, and it returns at once where it is."""

_GENERATED: Final = {b"lefthook": "lefthook", b"husky": "husky", b"overcommit": "overcommit"}
"""Words in hook files that their program writes anew unasked. pre-commit does so only when told to: it is joined."""


def find_owner(content: bytes) -> str | None:
    """Name the program that will write this hook file anew, None where nobody will."""
    found = content.lower()
    return next((name for word, name in _GENERATED.items() if word in found), None)


def advise_owner(owner: str, event: str) -> str:
    """What to add to the configuration of a program that writes hook files."""
    line = _LINE.format(event=event)
    if owner == "lefthook":
        return f"add to lefthook.yml: {event}: {{commands: {{gitmem: {{run: '{line}'}}}}}}"
    return f"let {owner} run: {line}"


def advise_hook(event: str) -> str:
    """What to add to a hook that cannot be wrapped."""
    return f"let it run: {_LINE.format(event=event)}"


def describe_folder(folder: Path) -> str:
    """Name what owns a folder that `core.hooksPath` names."""
    husky = ".husky" in (folder.name, folder.parent.name)
    return f"husky owns {folder}" if husky else f"core.hooksPath is {folder}"


def advise_folder(folder: Path, event: str) -> str:
    """What to add to a hook in a folder that is not this repository's alone."""
    inner = folder.name == "_" and folder.parent.name == ".husky"
    file = (folder.parent if inner else folder) / event
    return f"add to {file}: {_LINE.format(event=event)}"
