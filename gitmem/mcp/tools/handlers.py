"""What the tools do. Each takes checked arguments and returns text; errors are those of the actions."""

import gc
import threading
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gitmem.mcp.tools.arguments import Arguments
from gitmem.mcp.tools.progress_and_cancellation import Call

if TYPE_CHECKING:
    from gitmem.answering.answer import Answer
    from gitmem.answering.search_query import Query, SimilarQuery
    from gitmem.embedding.encoder import Encoder
    from gitmem.freshness.tree_selection import TreeSelection
    from gitmem.mcp.open_repository import OpenRepository, OpenTree
    from gitmem.records.filters import RecordFilters

WORKER_SECONDS: Final = 120.0
"""An indexing process is kept so long after a change was taken up: another one follows while somebody edits."""

WRITING_TOOLS: Final = ("memory_store", "conversation_append", "document_ingest", "delete")
"""Tools that change the memory."""

REPOSITORIES: Final = 4
"""Repositories held open besides one's own."""


class ToolHandlers:
    """Serves the tools of one server, from any number of threads."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = environment
        self._sessions: dict[Path, OpenRepository] = {}
        self._lock = threading.Lock()
        self._tools: dict[str, Callable[[Arguments, Call], str]] = {
            "search": self._search,
            "related": self._related,
            "get": self._get,
            "status": self._status,
            "list": self._list,
            **{name: partial(self._change, name) for name in WRITING_TOOLS},
        }

    def serve(self, name: str, arguments: Arguments, call: Call) -> str:
        """Serve one call of a tool. Raises Cancelled and GitmemError."""
        call.check()
        return self._tools[name](arguments, call)

    def warm(self) -> None:
        """Load what the first call would wait for, where there is an index."""
        from gitmem.errors import GitmemError
        from gitmem.freshness.tree_selection import WORKING_TREE
        from gitmem.workspace import find_index

        try:
            session = self._session("")
            if find_index(session.workspace) is not None:
                session.use(WORKING_TREE, (), Call(), _touch)
        except GitmemError:
            return  # the call that needs it will say what is wrong
        # What is loaded now stays for good. Going through it again for cycles would hold up a call for 25 ms.
        gc.collect()
        gc.freeze()

    def close(self, seconds: float) -> None:
        """Stop what goes on behind the calls, and wait so long for its end at most."""
        from gitmem.indexing.spare_worker import spare_worker

        spare_worker.seconds = 0.0
        spare_worker.end()
        with self._lock:
            for session in self._sessions.values():
                session.close(seconds)

    @cached_property
    def _encoder(self) -> "Encoder":
        """The model, loaded once for all trees."""
        from gitmem.embedding.bundled import BundledEncoder

        return BundledEncoder()

    def _session(self, root: str) -> "OpenRepository":
        """The repository that is asked about, opened once."""
        from gitmem.indexing.spare_worker import spare_worker
        from gitmem.mcp.open_repository import OpenRepository
        from gitmem.mcp.tools.root_argument import find_root

        folder = find_root(self._folder, root, self._environment)
        spare_worker.seconds = WORKER_SECONDS
        with self._lock:
            session = self._sessions.pop(folder, None) or OpenRepository(folder, self._environment, self._encoder)
            self._sessions[folder] = session
            others = [known for known in self._sessions if known != self._folder]
            for known in others[:-REPOSITORIES]:
                self._sessions.pop(known).close(0)
        return session

    def _search(self, arguments: Arguments, call: Call) -> str:
        from gitmem.answering.filter_names import parse_chunk_types, parse_languages
        from gitmem.answering.search_query import Query, SearchFilters
        from gitmem.freshness.tree_selection import TreeSelection
        from gitmem.memory.kinds import parse_kinds

        filters = SearchFilters(
            include=arguments["path"],
            exclude=arguments["exclude"],
            languages=parse_languages(arguments["language"]),
            chunk_types=parse_chunk_types(arguments["chunk_type"]),
            kinds=parse_kinds(arguments["kind"]),
            records=_record_filters(arguments["filters"]),
        )
        query = Query(
            arguments["query"],
            limit=arguments["limit"],
            mode=arguments["mode"],
            filters=filters,
            neighbors=arguments["neighbors"],
        )
        return self._answer(query, TreeSelection(arguments["rev"]), arguments, call)

    def _related(self, arguments: Arguments, call: Call) -> str:
        from gitmem.answering.search_query import SimilarQuery
        from gitmem.freshness.tree_selection import WORKING_TREE

        query = SimilarQuery(arguments["location"], arguments["limit"])
        return self._answer(query, WORKING_TREE, arguments, call)

    def _answer(
        self, query: "Query | SimilarQuery", selection: "TreeSelection", arguments: Arguments, call: Call
    ) -> str:
        from gitmem.answering.answer import answer_open
        from gitmem.answering.search_query import check_query

        def use(tree: "OpenTree") -> str:
            limit = check_query(query, selection, tree.workspace.settings)
            answer = answer_open(tree.searcher, query, limit, tree.reader)
            if answer.view.stale:
                tree.doubt()
            return _written(answer, arguments, tree.notes)

        return self._session(arguments["root"]).use(selection, query.filters.kinds, call, use)

    def _get(self, arguments: Arguments, call: Call) -> str:
        from gitmem.freshness.tree_selection import TreeSelection
        from gitmem.mcp.tools.get import read_named
        from gitmem.mcp.tools.record_excerpts import is_record_name

        session = self._session(arguments["root"])
        if all(map(is_record_name, arguments["ids"])):
            return read_named(session.reopen(), None, arguments)
        selection = TreeSelection(arguments["rev"])
        return session.use(selection, (), call, lambda tree: read_named(tree.workspace, tree, arguments))

    def _change(self, name: str, arguments: Arguments, call: Call) -> str:
        """Change the memory of the server's own repository, and of no other."""
        from gitmem.mcp.tools.memory_handlers import CHANGES

        workspace = self._session("").reopen()
        call.check()
        return CHANGES[name](workspace, arguments)

    def _list(self, arguments: Arguments, call: Call) -> str:
        from gitmem.mcp.tools.memory_handlers import list_records

        workspace = self._session(arguments["root"]).reopen()
        call.check()
        return list_records(workspace, arguments)

    def _status(self, arguments: Arguments, call: Call) -> str:
        from gitmem.answering.index_status import read_status
        from gitmem.mcp.tools.json_output import describe_status, dump, status_json

        status = read_status(self._session(arguments["root"]).reopen())
        call.check()
        return dump(status_json(status)) if arguments["format"] == "json" else describe_status(status)


def _record_filters(filters: Arguments) -> "RecordFilters":
    """What records must have."""
    from gitmem.records.filters import parse_filters

    return parse_filters(
        type_=filters["type"],
        source=filters["source"],
        sensitivity=filters["sensitivity"],
        visibility=filters["visibility"],
        conversation=filters["conversation"],
        since=filters["since"],
        until=filters["until"],
        min_confidence=filters["min_confidence"],
    )


def _written(made: "Answer", arguments: Arguments, notes: list[str]) -> str:
    if arguments["format"] == "json":
        from gitmem.mcp.tools.json_output import answer_as_json, dump

        return dump(answer_as_json(made, arguments["detail"], notes))
    from gitmem.mcp.tools.text_output import render_answer

    return render_answer(made, arguments["detail"], notes)


def _touch(tree: "OpenTree") -> None:
    """Read what every question reads: the model's rows, the words, the signs of the vectors."""
    from gitmem.answering.search_query import Query

    tree.searcher.find(Query("where is the configuration read"), 1)
