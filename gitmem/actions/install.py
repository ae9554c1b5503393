"""Make clients start the server in a repository, and undo it."""

import shutil
import sys
from collections.abc import Mapping
from typing import Final, NamedTuple

from gitmem.errors import StorageFailed, UnsafeIndex, UsageError
from gitmem.install.clients import CLIENTS, GUIDE, NAME
from gitmem.install.registration import ADDED, OTHER, register, unregister
from gitmem.workspace import Workspace

DEFAULT: Final = "claude"
"""The client that `gitmem init` serves."""


class Told(NamedTuple):
    """A file and what became of it."""

    file: str
    state: str

    def describe(self) -> str:
        """In words, empty where nothing was done."""
        if self.state == ADDED:
            return self.file
        return f"{self.file} has another entry of this name, which was left" if self.state == OTHER else ""


def install_client(workspace: Workspace, name: str, *, guide: bool = False) -> list[Told]:
    """Enter the server into a client's file of this working tree, and on request a block into its instructions.

    Raises: UsageError where a file is none that can be changed, StorageFailed.
    """
    client = CLIENTS[name]
    told = [Told(client.file, register(workspace.location, client.file, client.edit))]
    if guide:
        told.append(Told(client.guide, register(workspace.location, client.guide, GUIDE)))
    return told


def show_client(name: str, *, guide: bool = False) -> str:
    """What a client's files would hold if they held nothing else."""
    client = CLIENTS[name]
    parts = [(client.file, client.edit)] + ([(client.guide, GUIDE)] if guide else [])
    return "\n".join(f"# {file}\n{edit.add('')}" for file, edit in parts)


def uninstall_clients(workspace: Workspace) -> tuple[list[str], list[str]]:
    """Take out of every file what was put there; returns the files, and what could not be taken out."""
    changed, problems = unregister(workspace.location)
    root = workspace.location.worktree
    return [str(path.relative_to(root) if root and path.is_relative_to(root) else path) for path in changed], problems


def enter_project(workspace: Workspace) -> list[str]:
    """Enter the server for Claude Code in passing; returns what to tell of it. A file that cannot be changed stays."""
    if workspace.location.worktree is None:
        return []
    try:
        told = install_client(workspace, DEFAULT)
    except (UsageError, StorageFailed, UnsafeIndex) as problem:
        return [f"{CLIENTS[DEFAULT].title}: {problem.message}"]
    return [f"{CLIENTS[DEFAULT].title}: {what}" for one in told if (what := one.describe())]


def offer_local(environment: Mapping[str, str]) -> str:
    """How to enter this very program for oneself alone, where clients would not find it by its name; else empty."""
    if shutil.which(NAME, path=environment.get("PATH")):
        return ""
    return f"claude mcp add --scope local {NAME} -- {sys.executable} -m gitmem mcp"
