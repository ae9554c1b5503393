"""`gitmem install`: register the MCP server with agents' clients in a repository, and undo it."""

import shutil
import sys
from collections.abc import Mapping
from typing import Final, NamedTuple

from gitmem.errors import StorageFailed, UnsafeIndex, UsageError
from gitmem.install.clients import CLIENTS, GUIDE, NAME
from gitmem.install.registration import ADDED, CONFLICT, register, unregister
from gitmem.workspace import Workspace

DEFAULT: Final = "claude"
"""Client that `gitmem init` registers the server with."""


class FileResult(NamedTuple):
    """A client's file and the result of the change."""

    file: str
    state: str

    def describe(self) -> str:
        """Return a line for the user, "" if nothing changed."""
        if self.state == ADDED:
            return self.file
        return f"{self.file} has another entry of this name, which was kept" if self.state == CONFLICT else ""


def install_client(workspace: Workspace, name: str, *, guide: bool = False) -> list[FileResult]:
    """Add the server to a client's file of this working tree; with `guide` add a block to its instructions file.

    Raises: UsageError if a file cannot be edited, StorageFailed.
    """
    # Each client has its own file format, which install.clients describes as an edit.
    client = CLIENTS[name]
    results = [FileResult(client.file, register(workspace.location, client.file, client.edit))]
    if guide:
        results.append(FileResult(client.guide, register(workspace.location, client.guide, GUIDE)))
    return results


def show_client(name: str, *, guide: bool = False) -> str:
    """Return the content of a client's files with nothing but the server."""
    client = CLIENTS[name]
    parts = [(client.file, client.edit)] + ([(client.guide, GUIDE)] if guide else [])
    return "\n".join(f"# {file}\n{edit.add('')}" for file, edit in parts)


def uninstall_clients(workspace: Workspace) -> tuple[list[str], list[str]]:
    """Remove the server from every client's file; return the changed files and the problems."""
    changed, problems = unregister(workspace.location)
    root = workspace.location.worktree
    return [str(path.relative_to(root) if root and path.is_relative_to(root) else path) for path in changed], problems


def register_project(workspace: Workspace) -> list[str]:
    """Register the server with Claude Code; return lines for the user, also if its file cannot be edited."""
    if workspace.location.worktree is None:
        return []
    # A broken file of another program must not stop the indexing that `init` is about.
    try:
        results = install_client(workspace, DEFAULT)
    except (UsageError, StorageFailed, UnsafeIndex) as problem:
        return [f"{CLIENTS[DEFAULT].title}: {problem.message}"]
    return [f"{CLIENTS[DEFAULT].title}: {line}" for result in results if (line := result.describe())]


def offer_local(environment: Mapping[str, str]) -> str:
    """Return the command that registers this program by its absolute path, "" if `gitmem` is on PATH."""
    if shutil.which(NAME, path=environment.get("PATH")):
        return ""
    # In local scope Claude Code stores the absolute path in the user's own settings, not in the repository.
    return f"claude mcp add --scope local {NAME} -- {sys.executable} -m gitmem mcp"
