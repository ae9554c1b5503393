"""`gitmem hooks`: install, show and remove the git hooks that start gitmem in the background."""

import sys

from gitmem.git.version import read_version
from gitmem.install.hook_setup import install_hooks, read_hooks, uninstall_hooks
from gitmem.install.hook_state import HookReport
from gitmem.workspace import Workspace, require_index


def install(workspace: Workspace) -> HookReport:
    """Install the hooks of this repository. Raises NoIndex, StorageFailed, GitFailed."""
    require_index(workspace)
    return install_hooks(workspace.location, _program(), read_version())


def uninstall(workspace: Workspace) -> bool:
    """Remove the hooks; return False if there were none. Raises StorageFailed, GitFailed."""
    return uninstall_hooks(workspace.location)


def read_state(workspace: Workspace) -> HookReport:
    """Return the state of each hook."""
    return read_hooks(workspace.location, _program(), read_version())


def _program() -> list[str]:
    """Return the command of this gitmem, for a PATH without one."""
    # -P keeps the current folder off sys.path: a repository must never supply modules to a hook.
    return [sys.executable, "-P", "-m", "gitmem"]
