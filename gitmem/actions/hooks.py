"""Install, look at and remove the git hooks that start gitmem in the background."""

import sys

from gitmem.git.version import read_version
from gitmem.install.hook_setup import install_hooks, read_hooks, uninstall_hooks
from gitmem.install.hook_state import HookReport
from gitmem.workspace import Workspace, require_index


def install(workspace: Workspace) -> HookReport:
    """Have git start gitmem after what changes this repository. Raises NoIndex, StorageFailed, GitFailed."""
    require_index(workspace)
    return install_hooks(workspace.location, _program(), read_version())


def uninstall(workspace: Workspace) -> bool:
    """Take the hooks out; False where there were none. Raises StorageFailed, GitFailed."""
    return uninstall_hooks(workspace.location)


def read_state(workspace: Workspace) -> HookReport:
    """How each hook stands."""
    return read_hooks(workspace.location, _program(), read_version())


def _program() -> list[str]:
    """What starts this very gitmem where none is on the path; `-P`: no folder of a repository is imported from."""
    return [sys.executable, "-P", "-m", "gitmem"]
