"""Handlers of all tools of one server: dispatch of calls, and the repositories that they share.

The repositories are held open between calls; for their locks see `open_repository`.
"""

import gc
import threading
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gitmem.errors import GitmemError
from gitmem.mcp.tools.arguments import Arguments
from gitmem.mcp.tools.progress_and_cancellation import ToolCall

# This module is loaded before the handshake is answered, so the imports below are made inside functions: numpy, the
# index and the model take 150 ms. Afterwards `warm_up` loads them in a thread, while another one loads the SDK.
if TYPE_CHECKING:
    from gitmem.embedding.encoder import Encoder
    from gitmem.mcp.open_repository import OpenRepository

SPARE_WORKER_SECONDS: Final = 120.0
"""Time for which an idle indexing process is kept for the next change: while someone edits, there is one soon."""

WRITING_TOOLS: Final = ("memory_store", "conversation_append", "document_ingest", "delete")
"""Tools that change the memory."""

_MEMORY_TOOLS: Final = (*WRITING_TOOLS, "list")

MAX_OTHER_REPOSITORIES: Final = 4
"""Repositories held open in addition to the server's own."""


class ToolHandlers:
    """Handles the calls of one server, from any number of threads."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = environment
        self._repositories: dict[Path, OpenRepository] = {}
        """Open repositories by folder, the least recently used first."""
        self._lock = threading.Lock()
        """Guards the table of repositories."""

    def handle(self, name: str, arguments: Arguments, call: ToolCall) -> str:
        """Handle a call of a tool with checked arguments and return the text of the answer.

        Raises: CallCancelled, GitmemError.
        """
        call.check()
        if name in _MEMORY_TOOLS:
            from gitmem.mcp.tools.memory_handlers import HANDLERS as MEMORY_HANDLERS

            # Writing tools have no `root`: an agent changes the memory of the server's own repository and no other.
            workspace = self._get_repository(arguments.get("root", "")).reopen()
            call.check()
            return MEMORY_HANDLERS[name](workspace, arguments)
        from gitmem.mcp.tools.search_handlers import HANDLERS as SEARCH_HANDLERS

        return SEARCH_HANDLERS[name](self._get_repository, arguments, call)

    def warm_up(self) -> None:
        """Open the working tree, if there is an index, so that the first call need not wait for it."""
        from gitmem.answering.search_query import Query
        from gitmem.freshness.tree_selection import WORKING_TREE
        from gitmem.workspace import find_index

        try:
            repository = self._get_repository("")
            if find_index(repository.workspace) is not None:
                # Any query reads the files that all queries read: the model's rows, the terms, the vectors' signatures.
                query = Query("where is the configuration read")
                repository.with_tree(WORKING_TREE, (), ToolCall(), lambda tree: tree.searcher.find(query, 1))
        except GitmemError:
            return  # the first call reports it
        # Everything loaded so far stays until the end. Frozen, it is skipped by the garbage collector, which would
        # otherwise stop a call for 25 ms to traverse it.
        gc.collect()
        gc.freeze()

    def close(self, seconds: float) -> None:
        """Stop the background work and close all repositories; wait at most `seconds` for each step."""
        from gitmem.indexing.spare_worker import spare_worker

        spare_worker.seconds = 0.0
        spare_worker.end()
        with self._lock:
            for repository in self._repositories.values():
                repository.close(seconds)

    @cached_property
    def _encoder(self) -> "Encoder":
        """Model, loaded once for all trees."""
        from gitmem.embedding.bundled import BundledEncoder

        return BundledEncoder()

    def _get_repository(self, root: str) -> "OpenRepository":
        """Return the repository of a `root` argument; open it if necessary, and close the least recently used one.

        Raises: UsageError, NotARepository.
        """
        from gitmem.indexing.spare_worker import spare_worker
        from gitmem.mcp.open_repository import OpenRepository
        from gitmem.mcp.tools.root_argument import find_root

        folder = find_root(self._folder, root, self._environment)
        spare_worker.seconds = SPARE_WORKER_SECONDS
        with self._lock:
            repository = self._repositories.pop(folder, None)
            if repository is None:
                repository = OpenRepository(folder, self._environment, self._encoder)
            self._repositories[folder] = repository
            others = [other for other in self._repositories if other != self._folder]
            for other in others[:-MAX_OTHER_REPOSITORIES]:
                self._repositories.pop(other).close(0)
        return repository
