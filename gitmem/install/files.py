"""Hooks as files of the hooks folder: a file of our own, lines in a script of the shell, or a wrapper around the rest.

A hook that is there keeps its mode and all that it does. Nothing is ever written through a symbolic link, a hook that
is switched off stays off, and the name beside is never taken from another file.
"""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.errors import StorageFailed
from gitmem.fsio import (
    keep_beside,
    make_folder,
    read_file,
    remove_empty_folder,
    remove_file,
    rename_file,
    write_atomic,
)
from gitmem.install.block import (
    BESIDE,
    WITH_FILE,
    WITH_FOLDER,
    WRAPPER,
    find_note,
    holds,
    join,
    make_file,
    make_wrapper,
    part,
    renew,
)
from gitmem.install.managers import advise_hook, advise_owner, find_owner
from gitmem.install.state import INSTALLED, LEFT, MISSING, OUTDATED, HookState

_SHELLS: Final = frozenset({"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"})
_CHECK_SECONDS: Final = 10


def install_file(folder: Path, event: str, program: Sequence[str], *, like: Path) -> HookState:
    """Have git call gitmem at an event. New files get the permissions of `like`. Raises StorageFailed."""
    file = folder / event
    content = _read(file)
    if content is not None and find_note(content) is not None:
        _write(file, renew(content, event, program), like=file)
    elif content is None and not _exists(file):
        _write_new(file, program, like)
    elif content is not None and find_owner(content):
        pass
    elif content is not None and _is_script(file, content):
        _write(file, join(content, event, program), like=file)
    else:
        _wrap(file, program, like)
    return read_state(folder, event, program)


def read_state(folder: Path, event: str, program: Sequence[str]) -> HookState:
    """How an event stands; a hook that pre-commit moved aside is one that it calls."""
    for file, where in ((folder / event, ""), (folder / f"{event}.legacy", ", called by pre-commit")):
        content = _read(file)
        if content is None or (note := find_note(content)) is None:
            continue
        if not holds(content, event, program):
            return HookState(event, OUTDATED, f"{file} was made for another gitmem")
        if not file.stat().st_mode & 0o100:
            return HookState(event, OUTDATED, f"{file} is not executable")
        how = {WITH_FILE: "a file of its own", WITH_FOLDER: "a file of its own", WRAPPER: "before the hook beside it"}
        return HookState(event, INSTALLED, how.get(note, "in the hook that was there") + where)
    return _read_other(folder / event)


def _read_other(file: Path) -> HookState:
    """How an event stands whose hook is not ours."""
    beside = file.with_name(file.name + BESIDE)
    if owner := find_owner(_read(file) or b""):
        return HookState(file.name, LEFT, f"{owner} writes {file}", advise_owner(owner, file.name))
    if _exists(file) and _exists(beside) and not _is_same(file, beside):
        return HookState(file.name, LEFT, f"{beside} is in the way", advise_hook(file.name))
    return HookState(file.name, MISSING, f"{file} is another's" if _exists(file) else "")


def uninstall_files(folder: Path) -> bool:
    """Take out every line of ours, whatever name its file has by now; False where there was none.

    Raises: StorageFailed.
    """
    found = [file for file in _iter_files(folder) if find_note(_read(file) or b"") is not None]
    with_folder = False
    for file in found:
        content = _read(file) or b""
        with_folder |= find_note(content) == WITH_FOLDER
        _restore(file, content)
    for beside in [file for file in _iter_files(folder) if file.name.endswith(BESIDE)]:
        _put_back(beside, beside.with_name(beside.name.removesuffix(BESIDE)))
    if with_folder and not any(folder.iterdir()):
        remove_empty_folder(folder)
    return bool(found)


def _restore(file: Path, content: bytes) -> None:
    before = part(content, file.name.partition(".")[0])
    beside = file.with_name(file.name.partition(".")[0] + BESIDE)
    if before is not None:
        _write(file, before, like=file)
    elif find_note(content) == WRAPPER and _exists(beside):
        _put_back(beside, file)
    else:
        remove_file(file)


def _put_back(beside: Path, file: Path) -> None:
    """Give the hook that a wrapper stands in for its name back; one that somebody put there since stays."""
    if _exists(file) and find_note(_read(file) or b"") != WRAPPER and not _is_same(file, beside):
        return
    rename_file(beside, file)
    remove_file(beside)  # two names of one file are left as they are by a rename


def _write_new(file: Path, program: Sequence[str], like: Path) -> None:
    if _exists(file.with_name(file.name + BESIDE)):  # a run that was killed before it had written the wrapper
        _write(file, make_wrapper(file.name, program), like=like, executable=True)
        return
    note = WITH_FILE if file.parent.is_dir() else WITH_FOLDER
    make_folder(file.parent, mode=like.parent.stat().st_mode & 0o777)
    _write(file, make_file(file.name, program, note), like=like, executable=True)


def _wrap(file: Path, program: Sequence[str], like: Path) -> None:
    """Stand in for a hook that is not for a shell to read; it stays as it is where it cannot have a second name."""
    beside = file.with_name(file.name + BESIDE)
    if keep_beside(file, beside) or _is_same(file, beside):
        _write(file, make_wrapper(file.name, program), like=like, executable=True)


def _is_script(file: Path, content: bytes) -> bool:
    """Whether a shell reads this file, and all of it: some scripts are for a shell and another language at once."""
    if file.is_symlink() or not file.stat().st_mode & 0o100 or b"\0" in content:
        return False
    first = content.partition(b"\n")[0]
    words = first.removeprefix(b"#!").strip(b" \t").split(b" ") if first.startswith(b"#!") else [b"/bin/sh"]
    names = [Path(word.decode("utf-8", "replace")).name for word in words]
    if names[:1] == ["env"]:
        words, names = words[1:], names[1:]
    if not names or names[0] not in _SHELLS:
        return False
    check = [*words[:1], b"-n", bytes(file)]
    try:
        done = subprocess.run(check, stdin=subprocess.DEVNULL, capture_output=True, timeout=_CHECK_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _read(file: Path) -> bytes | None:
    """The bytes of a hook; None where there is none, or a link or a folder stands there, which is never opened."""
    with suppress(StorageFailed):
        return None if file.is_symlink() else read_file(file)
    return None


def _exists(file: Path) -> bool:
    return file.is_symlink() or file.exists()


def _is_same(file: Path, beside: Path) -> bool:
    """Whether both names are of one file: what a run leaves that was killed before it had written the wrapper."""
    return _exists(beside) and os.path.samestat(file.lstat(), beside.lstat())


def _iter_files(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from sorted(file for file in folder.iterdir() if not file.is_dir() or file.is_symlink())


def _write(file: Path, content: bytes, *, like: Path, executable: bool = False) -> None:
    mode = like.stat().st_mode & 0o777
    write_atomic(file, [content], mode=mode | (mode & 0o444) >> 2 if executable else mode)
