"""Install, read and remove the hooks of a repository, in the way its git supports."""

import os
from collections.abc import Sequence
from pathlib import Path

from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import run_git
from gitmem.install.configured_hooks import SINCE, config_file, install_section, read_states, remove_section
from gitmem.install.hook_files import install_file, read_state, uninstall_files
from gitmem.install.hook_managers import (
    OWNERS,
    advise_folder,
    advise_owner,
    calls_gitmem,
    describe_folder,
    find_call,
    users_file,
)
from gitmem.install.hook_state import EVENTS, INSTALLED, OUTDATED, SKIPPED, HookReport, HookState


def install_hooks(location: RepositoryLocation, program: Sequence[str], version: tuple[int, int]) -> HookReport:
    """Make git start gitmem after changes of the repository. A second call updates the hooks.

    `program` is the command of this gitmem, used if there is none on PATH. `version` is git's.
    Raises: StorageFailed, GitFailed.
    """
    # Only one of the two ways is installed: an upgrade or downgrade of git must not start gitmem twice per event.
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


def uninstall_hooks(location: RepositoryLocation) -> bool:
    """Remove the hooks of either kind; return False if there were none. Raises StorageFailed, GitFailed."""
    configured = remove_section(location)
    return _uninstall_files(location) or configured


def read_hooks(location: RepositoryLocation, program: Sequence[str], version: tuple[int, int]) -> HookReport:
    """Return the state of each event."""
    configured = read_states(location, program, version)
    if configured is not None:
        return HookReport(config_file(location), configured=True, states=tuple(configured))
    folder = hooks_folder(location)
    if _is_own(location, folder):
        root = location.worktree or location.git_dir
        states = [_ask_owner(read_state(folder, event, program), root) for event in EVENTS]
    else:
        states = [_read_foreign(folder, event) for event in EVENTS]
    return HookReport(folder, configured=False, states=tuple(states))


def find_callers(location: RepositoryLocation) -> list[Path]:
    """Return the files of other programs in which a user made them start gitmem, which `uninstall_hooks` leaves."""
    root, folder = location.worktree or location.git_dir, hooks_folder(location)
    foreign = [] if _is_own(location, folder) else [users_file(folder, event) for event in EVENTS]
    files = [file for file, event in zip(foreign, EVENTS, strict=False) if calls_gitmem(file, event)]
    found = [find_call(owner, root, event) for owner in OWNERS for event in EVENTS]
    return list(dict.fromkeys([*files, *(file for file in found if file)]))


def starts_gitmem(location: RepositoryLocation, event: str, version: tuple[int, int]) -> bool:
    """Return whether git itself starts some gitmem at an event, without another program."""
    report = read_hooks(location, [], version)
    state = next(hook for hook in report.states if hook.event == event)
    # Hooks of another gitmem run as well, unless they are in a configuration that this git does not read.
    return state.state in (INSTALLED, OUTDATED) and (not report.configured or version >= SINCE)


def _ask_owner(hook: HookState, root: Path) -> HookState:
    """Return the state of an event whose hook another program may write: whether that program starts gitmem."""
    if not hook.owner:
        return hook
    if find_call(hook.owner, root, hook.event):
        return hook._replace(state=INSTALLED, detail=f"run by {hook.owner}")
    return hook._replace(advice=advise_owner(hook.owner, root, hook.event))


def _read_foreign(folder: Path, event: str) -> HookState:
    """Return the state of an event in a folder that does not belong to this repository alone."""
    file = users_file(folder, event)
    if calls_gitmem(file, event):
        return HookState(event, INSTALLED, f"in {file}")
    return HookState(event, SKIPPED, describe_folder(folder), advise_folder(folder, event))


def hooks_folder(location: RepositoryLocation) -> Path:
    """Return the folder of git's hook files, which all working trees share. It honours `core.hooksPath`."""
    top = location.worktree or location.git_dir
    out = run_git(["rev-parse", "--git-path", "hooks"], git_dir=location.git_dir, cwd=top).stdout
    return top / os.fsdecode(out.removesuffix(b"\n"))


def _is_own(location: RepositoryLocation, folder: Path) -> bool:
    """Return whether a folder belongs to this repository alone and is not part of its working tree."""
    return Path(os.path.realpath(folder)).is_relative_to(location.common_dir)


def _uninstall_files(location: RepositoryLocation) -> bool:
    """Remove hook files; return False if there were none."""
    # `core.hooksPath` may have been set after the installation, so look in git's default folder, too.
    folders = {location.common_dir / "hooks", hooks_folder(location)}
    removed = [uninstall_files(folder) for folder in sorted(folders) if _is_own(location, folder)]
    return any(removed)
