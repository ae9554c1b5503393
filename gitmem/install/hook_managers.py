"""Other programs that own hooks: whether they start gitmem, and the command that makes them, if joining is not safe."""

import re
import shlex
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.errors import GitmemError
from gitmem.fsio import read_file

_LINE: Final = "! command -v gitmem >/dev/null || gitmem hook {event}"
"""Shell command that does nothing without gitmem, and returns at once with it."""

_GENERATED: Final = {b"lefthook": "lefthook", b"husky": "husky", b"overcommit": "overcommit"}
"""Words in hook files that their program rewrites unasked, which would drop our lines.

pre-commit rewrites its hooks only on request, so its hooks are joined.
"""

_LEFTHOOK_FOLDERS: Final = ("", ".config")
_LEFTHOOK_NAMES: Final = ("lefthook", ".lefthook", "lefthook-local", ".lefthook-local")
_LEFTHOOK_ENDINGS: Final = ("yml", "yaml", "toml", "json")
_CONFIGS: Final = {
    "lefthook": tuple(
        str(Path(folder, f"{name}.{ending}"))
        for folder in _LEFTHOOK_FOLDERS
        for name in _LEFTHOOK_NAMES
        for ending in _LEFTHOOK_ENDINGS
    ),
    "overcommit": (".overcommit.yml", ".local-overcommit.yml"),
}
"""Files, relative to the root of the working tree, that say what a program runs."""

OWNERS: Final = tuple(_CONFIGS)
"""Programs whose configuration is looked at."""

_MAX_BYTES: Final = 1 << 20


def find_owner(content: bytes) -> str | None:
    """Return the name of the program that will rewrite this hook file, None if no known program will."""
    lower = content.lower()
    return next((name for word, name in _GENERATED.items() if word in lower), None)


def find_call(owner: str, root: Path, event: str) -> Path | None:
    """Return the file in which the configuration of a program starts gitmem at an event, None if none does."""
    return next((root / name for name in _CONFIGS.get(owner, ()) if calls_gitmem(root / name, event)), None)


def calls_gitmem(file: Path, event: str) -> bool:
    """Return whether a file has a line, not commented out, that starts gitmem at an event."""
    return bool(re.search(rb"(?m)^(?!\s*#).*\bgitmem hook %s\b" % event.encode(), _read(file)))


def advise_owner(owner: str, root: Path, event: str) -> str:
    """Return a command to paste that adds gitmem to the configuration of a program that writes hook files."""
    line = _LINE.format(event=event)
    if owner != "lefthook":
        return f"let {owner} run: {line}"
    # lefthook joins its own file with this personal one. A second entry of an event in one file would be an error.
    local = _lefthook_local(root)
    if local.suffix != ".yml" or re.search(rb"(?m)^%s:" % event.encode(), _read(local)):
        return f"add to `commands` of `{event}` in {local}: a command `gitmem` that runs: {line}"
    lines = ["", f"{event}:", "  commands:", "    gitmem:", f'      run: "{line}"']
    return _append(local, lines)


def _lefthook_local(root: Path) -> Path:
    """Return the personal configuration of lefthook: an existing one, or a new one next to the shared one."""
    files = [root / name for name in _CONFIGS["lefthook"]]
    local = [file for file in files if file.stem.endswith("-local")]
    shared = next((file for file in files if file not in local and file.exists()), root / "lefthook.yml")
    new = shared.with_name(f"{shared.stem}-local.yml")
    return next((file for file in local if file.exists()), new)


def advise_hook(event: str) -> str:
    """Return the advice for a hook that cannot be wrapped."""
    return f"let it run: {_LINE.format(event=event)}"


def describe_folder(folder: Path) -> str:
    """Return the owner of a folder that `core.hooksPath` names."""
    husky = ".husky" in (folder.name, folder.parent.name)
    return f"husky owns {folder}" if husky else f"core.hooksPath is {folder}"


def users_file(folder: Path, event: str) -> Path:
    """Return the file of an event that a user edits, for a hook in a folder that `core.hooksPath` names."""
    # husky generates `.husky/_`; its users edit the files of the same names in `.husky`.
    return (folder.parent if _is_generated(folder) else folder) / event


def advise_folder(folder: Path, event: str) -> str:
    """Return the advice for a hook in a folder that does not belong to this repository alone: for husky to paste."""
    file, line = users_file(folder, event), _LINE.format(event=event)
    return _append(file, ["", line]) if _is_generated(folder) else f"add to {file}: {line}"


def _is_generated(folder: Path) -> bool:
    return folder.name == "_" and folder.parent.name == ".husky"


def _append(file: Path, lines: list[str]) -> str:
    """Return a shell command that appends lines. The first is empty, because a file may lack its last line feed."""
    return shlex.join(["printf", "%s\\n", *lines]) + f" >> {shlex.quote(str(file))}"


def _read(file: Path) -> bytes:
    with suppress(GitmemError):
        return read_file(file, _MAX_BYTES) or b""
    return b""
