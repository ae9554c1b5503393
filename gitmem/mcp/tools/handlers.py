"""Handlers of all tools of one server: dispatch of calls, and the repositories that they share.

The repositories are held open between calls; for their locks see `open_repository`.
"""

import gc
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gitmem.display import visible
from gitmem.errors import GitmemError, NotARepository
from gitmem.events import measured
from gitmem.git.locate import locate
from gitmem.mcp.compat.systems import PREFIX, answer_call
from gitmem.mcp.tools.arguments import Arguments, check_arguments
from gitmem.mcp.tools.client_roots import ClientRoots
from gitmem.mcp.tools.descriptions import Tool
from gitmem.mcp.tools.tool_answer import ToolAnswer
from gitmem.mcp.tools.tool_call import ToolCall
from gitmem.registry import read_registry
from gitmem.resident.repositories import OpenRepositories

# This module is loaded before the handshake is answered, so the imports below are made inside functions: numpy, the
# index and the model take 150 ms. Afterwards `warm_up` loads them in a thread, while another one loads the SDK.
if TYPE_CHECKING:
    from gitmem.mcp.tools.served_repositories import ServedRepositories
    from gitmem.resident.open_repository import OpenRepository
    from gitmem.resident.open_tree import OpenTree
    from gitmem.workspace import Workspace

_SHOWN_NAMES: Final = 5
"""Repositories that a hint names."""

REPORT_TOOL: Final = "report_create"
"""Tool that writes a file into the working tree."""

_CHANGING_TOOLS: Final = ("memory_store", "conversation_append", "document_ingest", "delete")
"""Tools that change the memory."""

WRITING_TOOLS: Final = (*_CHANGING_TOOLS, REPORT_TOOL)
"""Tools that write into the server's own repository."""

_MEMORY_TOOLS: Final = (*_CHANGING_TOOLS, "list")
_HISTORY_TOOLS: Final = ("when", "changes", "search_history", "bisect_hint")
_STRUCTURE_TOOLS: Final = ("map", "impact")
ADMIN_TOOLS: Final = ("index_update", "index_cancel", "config_reload", "manager")
"""Tools that change no record, but the index or the processes of the user."""


class ToolHandlers:
    """Handles the calls of one server, from any number of threads."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.repositories = OpenRepositories(folder, environment)
        self._folder = folder
        self._environment = environment
        self._roots = ClientRoots()

    def answer(self, tool: Tool, arguments: Mapping[str, Any], call: ToolCall) -> ToolAnswer:
        """Check the arguments of a call and answer it. Raises: CallCancelled, GitmemError, ProtocolError."""
        if not tool.system:
            return ToolAnswer(self.handle(tool.name, check_arguments(tool.schema, arguments), call))
        from gitmem.mcp.compat.adapter import Served

        served = Served(lambda root: self._get_repository(root, call), self.repositories, call)
        with measured(f"mcp.{PREFIX}{tool.system}.{tool.name}") as operation:
            try:
                return answer_call(tool, arguments, served)
            finally:
                operation.paths = call.paths

    def handle(self, name: str, arguments: Arguments, call: ToolCall) -> str:
        """Handle a call of a tool with checked arguments and return the text of the answer.

        Raises: CallCancelled, GitmemError.
        """
        with measured(f"mcp.{name}") as operation:
            try:
                return self._handle(name, arguments, call)
            finally:
                operation.paths = call.paths

    def _handle(self, name: str, arguments: Arguments, call: ToolCall) -> str:
        call.check()
        if arguments.get("what") == "repositories":
            from gitmem.mcp.tools.repository_handlers import list_repositories

            return list_repositories(self._environment, arguments)
        if name in _MEMORY_TOOLS:
            from gitmem.mcp.tools.memory_handlers import HANDLERS as MEMORY_HANDLERS

            # Writing tools have no `root`: an agent changes the memory of the server's own repository and no other.
            workspace = self._get_repository(arguments.get("root", ""), call).reopen()
            call.check()
            text = MEMORY_HANDLERS[name](workspace, arguments)
            return text if arguments.get("format") == "json" else "\n".join([text, *map(format_note, call.notes)])
        if name == REPORT_TOOL:
            from gitmem.mcp.tools.report_handler import create

            # Like writing tools, it writes into the server's own repository alone.
            return create(self._get_repository("", call).reopen(), arguments)
        if name in _HISTORY_TOOLS:
            from gitmem.mcp.tools.history_handlers import HANDLERS as HISTORY_HANDLERS

            return HISTORY_HANDLERS[name](lambda root: self._get_repository(root, call), arguments, call)
        if name in _STRUCTURE_TOOLS:
            from gitmem.mcp.tools.structure_handlers import HANDLERS as STRUCTURE_HANDLERS

            return STRUCTURE_HANDLERS[name](self._served(call), arguments, call)
        if name in ADMIN_TOOLS:
            from gitmem.mcp.tools.admin_handlers import HANDLERS as ADMIN_HANDLERS
            from gitmem.mcp.tools.admin_handlers import AdminCall

            admin = AdminCall(self.repositories, lambda root: self._get_repository(root, call), call)
            return ADMIN_HANDLERS[name](admin, arguments)
        from gitmem.mcp.tools.search_handlers import HANDLERS as SEARCH_HANDLERS

        return SEARCH_HANDLERS[name](self._served(call), arguments, call)

    def _served(self, call: ToolCall) -> "ServedRepositories":
        from gitmem.mcp.tools.served_repositories import ServedRepositories

        return ServedRepositories(lambda root: self._get_repository(root, call), self.repositories)

    def workspace(self) -> "Workspace":
        """Return the server's own repository with its present settings. Raises: NotARepository, ConfigError."""
        return self._get_repository("", ToolCall()).reopen()

    def forget_roots(self) -> None:
        """Ask the client for its open folders again at the next call that needs them."""
        self._roots.forget()

    def warm_up(self, wait_for_sdk: Callable[[], object]) -> None:
        """Open the working tree, if there is an index, so that the first call need not wait for it.

        What can wait is left until the SDK is loaded: every thread delays that, and no call is answered before.
        """
        from gitmem.answering.search_query import Query
        from gitmem.freshness.tree_selection import WORKING_TREE
        from gitmem.workspace import find_index

        try:
            repository = self._get_repository("", ToolCall())
            if find_index(repository.workspace) is not None:
                # Any query reads the files that all queries read: the model's rows, the terms, the vectors' signatures.
                query = Query("where is the configuration read")

                def search(tree: "OpenTree") -> None:
                    tree.searcher.find(query, 1)
                    wait_for_sdk()  # watching the working tree starts after the last call that runs

                repository.with_tree(WORKING_TREE, (), ToolCall(received=-math.inf), search)
        except GitmemError:
            return  # the first call reports it
        # Everything loaded so far stays until the end. Frozen, it is skipped by the garbage collector, which would
        # otherwise stop a call for 90 ms to traverse it.
        gc.freeze()

    def close(self, seconds: float) -> None:
        """Stop the background work and close all repositories; wait at most `seconds` for each step."""
        self.repositories.close(seconds)

    def _get_repository(self, root: str, call: ToolCall) -> "OpenRepository":
        """Return the repository of a `root` argument.

        Raises: UsageError, NotARepository, CallCancelled.
        """
        from gitmem.mcp.tools.root_argument import find_root

        own = self._own_folder(call, has_root=bool(root))
        repository = self.repositories.get(
            find_root(own, root, self._environment, lambda: self._roots.read(call).repositories)
        )
        call.paths = repository.workspace.paths
        return repository

    def _own_folder(self, call: ToolCall, *, has_root: bool) -> Path:
        """Return the folder that the server serves: its own, or outside a repository the first open one of the client.

        Raises: NotARepository without either, unless the call has a root; CallCancelled.
        """
        if self.repositories.is_own_open:
            return self._folder
        try:
            locate(self._folder)
        except NotARepository as error:
            roots = self._roots.read(call)
            if roots.repositories:
                if not has_root:
                    call.notes.extend(self._describe_others(roots.repositories))
                return roots.repositories[0]
            if not has_root:
                names = [repository.name for repository in read_registry(self._environment)]
                known = ", ".join([*names[:_SHOWN_NAMES], *(["..."] if len(names) > _SHOWN_NAMES else [])])
                hint = "open a folder of a git repository in the client, or set the folder: gitmem -C FOLDER mcp"
                hint = f"pass `root`, one of: {known}; or {hint}" if known else hint
                raise NotARepository((roots.problem or error).message, hint=hint) from error
        return self._folder

    def _describe_others(self, repositories: Sequence[Path]) -> list[str]:
        """Return a note about the repositories that a call without `root` does not use, if there are any."""
        names = [*(repository.name for repository in read_registry(self._environment)), *(p.name for p in repositories)]
        first, *others = (f"`{path.name if names.count(path.name) == 1 else path}`" for path in repositories)
        return [f"this is {first}; also open, for `root`: {', '.join(others)}"] if others else []


def format_note(note: str) -> str:
    """Format a note as a line of an answer in text."""
    return f"note: {visible(note)}"
