"""Hooks in git's configuration, which git reads from 2.54 on: they stand beside all others and clash with none."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gitmem.git.locate import Location
from gitmem.git.program import run_git
from gitmem.install.hook_block import make_command
from gitmem.install.hook_state import EVENTS, INSTALLED, LEFT, MISSING, OUTDATED, HookState

SINCE: Final = (2, 54)
_SECTION: Final = "hook.gitmem"
_OPEN_LINE: Final = "belowOpenLine"
"""Set where the file ended without a line feed. Git adds one, and only this tells later that it is to go."""


def config_file(location: Location) -> Path:
    """The configuration of this repository, linked working trees included."""
    return location.common_dir / "config"


def install_section(location: Location, program: Sequence[str]) -> None:
    """Write the section, unless it is there. The command comes first: for git an event without one is an error."""
    found = read_states(location, program, SINCE)
    if found and all(hook.state in (INSTALLED, LEFT) for hook in found):
        return
    remove_section(location)
    open_line = not config_file(location).read_bytes().endswith(b"\n")
    _config(location, f"{_SECTION}.command", make_command(program))
    for event in EVENTS:
        _config(location, "--add", f"{_SECTION}.event", event)
    _config(location, f"{_SECTION}.parallel", "true")  # without it git would run no hook of an event beside another
    if open_line:
        _config(location, f"{_SECTION}.{_OPEN_LINE}", "true")


def remove_section(location: Location) -> bool:
    """Take the section out; False where there is none."""
    found = _read(location)
    if not found:
        return False
    _config(location, "--remove-section", _SECTION)
    if f"{_SECTION}.{_OPEN_LINE}".lower() in found:
        from gitmem.fsio import write_atomic

        file = config_file(location)
        content = file.read_bytes().removesuffix(b"\n")
        write_atomic(file, [content], mode=file.stat().st_mode & 0o777)
    return True


def read_states(location: Location, program: Sequence[str], version: tuple[int, int]) -> list[HookState] | None:
    """How each event stands in the configuration, None where there is no such section."""
    found = _read(location)
    if not found:
        return None
    if version < SINCE:
        told = f"git {version[0]}.{version[1]} does not read hooks from its configuration"
        return [HookState(event, OUTDATED, told) for event in EVENTS]
    if found.get(f"{_SECTION}.enabled", ["true"])[-1] in ("false", "no", "off", "0"):
        advice = f"git config --unset {_SECTION}.enabled"
        return [HookState(event, LEFT, f"{_SECTION}.enabled switches it off", advice) for event in EVENTS]
    if found.get(f"{_SECTION}.command") != [make_command(program)]:
        return [HookState(event, OUTDATED, "the configuration was made for another gitmem") for event in EVENTS]
    there = found.get(f"{_SECTION}.event", [])
    return [HookState(event, INSTALLED if event in there else MISSING, "git's configuration") for event in EVENTS]


def _read(location: Location) -> dict[str, list[str]]:
    args = ["config", "--local", "--null", "--get-regexp", r"^hook\.gitmem\."]
    out = run_git(args, git_dir=location.common_dir, check=False).stdout.decode("utf-8", "surrogateescape")
    found: dict[str, list[str]] = {}
    for entry in filter(None, out.split("\0")):
        key, _, value = entry.partition("\n")
        found.setdefault(key, []).append(value)
    return found


def _config(location: Location, *args: str) -> None:
    run_git(["config", "--local", *args], git_dir=location.common_dir)
