"""Install, look at and take out the hooks of a repository, in the way that its git understands."""

import os
from collections.abc import Sequence
from pathlib import Path

from gitmem.git.locate import Location
from gitmem.git.program import run_git
from gitmem.install.configured_hooks import SINCE, config_file, install_section, read_states, remove_section
from gitmem.install.hook_files import install_file, read_state, uninstall_files
from gitmem.install.hook_managers import advise_folder, describe_folder
from gitmem.install.hook_state import EVENTS, LEFT, HookReport, HookState


def install_hooks(location: Location, program: Sequence[str], version: tuple[int, int]) -> HookReport:
    """Have git call gitmem after what changes a repository. Doing it again brings it up to date.

    `program` starts gitmem where it is not on the path, `version` is git's. Raises StorageFailed, GitFailed.
    """
    if version >= SINCE:
        _uninstall_files(location)
        install_section(location, program)
    else:
        remove_section(location)
        folder = hooks_folder(location)
        if _is_own(location, folder):
            for event in EVENTS:
                install_file(folder, event, program, like=config_file(location))
    return read_hooks(location, program, version)


def uninstall_hooks(location: Location) -> bool:
    """Take out what was put in, in either way; False where there was nothing. Raises StorageFailed, GitFailed."""
    configured = remove_section(location)
    return _uninstall_files(location) or configured


def read_hooks(location: Location, program: Sequence[str], version: tuple[int, int]) -> HookReport:
    """How each event stands."""
    configured = read_states(location, program, version)
    if configured is not None:
        return HookReport(config_file(location), configured=True, states=tuple(configured))
    folder = hooks_folder(location)
    if _is_own(location, folder):
        states = [read_state(folder, event, program) for event in EVENTS]
    else:
        told = describe_folder(folder)
        states = [HookState(event, LEFT, told, advise_folder(folder, event)) for event in EVENTS]
    return HookReport(folder, configured=False, states=tuple(states))


def hooks_folder(location: Location) -> Path:
    """Where git looks for hook files, `core.hooksPath` considered; shared by all working trees."""
    where = location.worktree or location.git_dir
    out = run_git(["rev-parse", "--git-path", "hooks"], git_dir=location.git_dir, cwd=where).stdout
    return where / os.fsdecode(out.removesuffix(b"\n"))


def _is_own(location: Location, folder: Path) -> bool:
    """Whether a folder is this repository's alone, and no file of its working tree."""
    return Path(os.path.realpath(folder)).is_relative_to(location.common_dir)


def _uninstall_files(location: Location) -> bool:
    """In the folder of today, and in git's own one, where they were put before `core.hooksPath` was set."""
    folders = {location.common_dir / "hooks", hooks_folder(location)}
    found = [uninstall_files(folder) for folder in sorted(folders) if _is_own(location, folder)]
    return any(found)
