"""Hooks in git's configuration, which git 2.54 and newer run in addition to hook files and to each other.

They conflict with no hook of another program.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gitmem.fsio import write_atomic
from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import run_git
from gitmem.install.hook_block import make_command
from gitmem.install.hook_state import EVENTS, INSTALLED, MISSING, OUTDATED, SKIPPED, HookState

SINCE: Final = (2, 54)
_SECTION: Final = "hook.gitmem"
_OPEN_LINE: Final = "belowOpenLine"
"""Key that marks a configuration file whose last line had no line feed.

Git adds the line feed with the section. The key is the only way to know later that it must go again.
"""


def config_file(location: RepositoryLocation) -> Path:
    """Return the configuration file of this repository, which linked working trees share."""
    return location.common_dir / "config"


def install_section(location: RepositoryLocation, program: Sequence[str]) -> None:
    """Write the section, unless it is complete and current."""
    states = read_states(location, program, SINCE)
    if states and all(hook.state in (INSTALLED, SKIPPED) for hook in states):
        return
    remove_section(location)
    open_line = not config_file(location).read_bytes().endswith(b"\n")
    # The command comes first: an event without a command is an error for every git that runs meanwhile.
    _config(location, f"{_SECTION}.command", make_command(program))
    for event in EVENTS:
        _config(location, "--add", f"{_SECTION}.event", event)
    # Without it, git would run all hooks of the event one after the other.
    _config(location, f"{_SECTION}.parallel", "true")
    if open_line:
        _config(location, f"{_SECTION}.{_OPEN_LINE}", "true")


def remove_section(location: RepositoryLocation) -> bool:
    """Remove the section; return False if there is none."""
    values = _read_section(location)
    if not values:
        return False
    _config(location, "--remove-section", _SECTION)
    if f"{_SECTION}.{_OPEN_LINE}".lower() in values:
        file = config_file(location)
        content = file.read_bytes().removesuffix(b"\n")
        write_atomic(file, [content], mode=file.stat().st_mode & 0o777)
    return True


def read_states(
    location: RepositoryLocation, program: Sequence[str], version: tuple[int, int]
) -> list[HookState] | None:
    """Return the state of each event in the configuration, None without a section."""
    values = _read_section(location)
    if not values:
        return None
    if version < SINCE:
        reason = f"git {version[0]}.{version[1]} does not read hooks from its configuration"
        return [HookState(event, OUTDATED, reason) for event in EVENTS]
    if values.get(f"{_SECTION}.enabled", ["true"])[-1] in ("false", "no", "off", "0"):
        advice = f"git config --unset {_SECTION}.enabled"
        return [HookState(event, SKIPPED, f"{_SECTION}.enabled switches it off", advice) for event in EVENTS]
    if values.get(f"{_SECTION}.command") != [make_command(program)]:
        return [HookState(event, OUTDATED, "the section was installed by another gitmem") for event in EVENTS]
    events = values.get(f"{_SECTION}.event", [])
    return [HookState(event, INSTALLED if event in events else MISSING, "git's configuration") for event in EVENTS]


def _read_section(location: RepositoryLocation) -> dict[str, list[str]]:
    """Return all values of each key of the section; keys are in lower case, as git prints them."""
    args = ["config", "--local", "--null", "--get-regexp", r"^hook\.gitmem\."]
    out = run_git(args, git_dir=location.common_dir, check=False).stdout.decode("utf-8", "surrogateescape")
    values: dict[str, list[str]] = {}
    for entry in filter(None, out.split("\0")):
        key, _, value = entry.partition("\n")
        values.setdefault(key, []).append(value)
    return values


def _config(location: RepositoryLocation, *args: str) -> None:
    run_git(["config", "--local", *args], git_dir=location.common_dir)
