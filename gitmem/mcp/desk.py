"""What the tools do. Each takes checked arguments and returns text; errors are those of the actions."""

import json
import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gitmem.mcp.calls import Call

if TYPE_CHECKING:
    from gitmem.actions.query import Answer, Request
    from gitmem.actions.searcher import Searcher
    from gitmem.embedding.encoder import Encoder
    from gitmem.mcp.session import Opened, Session
    from gitmem.workspace import Workspace

Arguments = Mapping[str, Any]

WORKER_SECONDS: Final = 120.0
"""An indexing process is kept so long after a change was taken up: another one follows while somebody edits."""

REPOSITORIES: Final = 4
"""Repositories held open besides one's own."""


class Desk:
    """Serves the tools of one server, from any number of threads."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = environment
        self._sessions: dict[Path, Session] = {}
        self._lock = threading.Lock()
        self._tools: dict[str, Callable[[Arguments, Call], str]] = {
            "search": self._search,
            "related": self._related,
            "get": self._get,
            "status": self._status,
        }

    def serve(self, name: str, arguments: Arguments, call: Call) -> str:
        """Serve one call of a tool. Raises Cancelled and GitmemError."""
        call.check()
        return self._tools[name](arguments, call)

    def warm(self) -> None:
        """Load what the first call would wait for, where there is an index."""
        from gitmem.actions.query import Request
        from gitmem.errors import GitmemError
        from gitmem.workspace import find_index

        try:
            session = self._session("")
            if find_index(session.workspace) is not None:
                session.use(Request("warm"), Call(), _touch)
        except GitmemError:
            return  # the call that needs it will say what is wrong

    def close(self, seconds: float) -> None:
        """Stop what goes on behind the calls, and wait so long for its end at most."""
        from gitmem.indexing.pool import spare

        spare.seconds = 0.0
        spare.end()
        with self._lock:
            for session in self._sessions.values():
                session.close(seconds)

    @cached_property
    def _encoder(self) -> "Encoder":
        """The model, loaded once for all trees."""
        from gitmem.embedding.bundled import BundledEncoder

        return BundledEncoder()

    def _session(self, root: str) -> "Session":
        """The repository that is asked about, opened once."""
        from gitmem.indexing.pool import spare
        from gitmem.mcp.roots import find_root
        from gitmem.mcp.session import Session

        folder = find_root(self._folder, root, self._environment)
        spare.seconds = WORKER_SECONDS
        with self._lock:
            session = self._sessions.pop(folder, None) or Session(folder, self._environment, self._encoder)
            self._sessions[folder] = session
            others = [known for known in self._sessions if known != self._folder]
            for known in others[:-REPOSITORIES]:
                self._sessions.pop(known).close(0)
        return session

    def _search(self, arguments: Arguments, call: Call) -> str:
        from gitmem.actions.kinds import parse_sources
        from gitmem.actions.names import parse_kinds, parse_languages
        from gitmem.actions.query import Request

        request = Request(
            text=arguments["query"],
            limit=arguments["limit"],
            rev=arguments["rev"],
            include=arguments["path"],
            exclude=arguments["exclude"],
            languages=parse_languages(arguments["language"]),
            kinds=parse_kinds(arguments["type"]),
            mode=arguments["mode"],
            sources=parse_sources(arguments["kind"]),
        )

        def find(searcher: "Searcher", limit: int) -> Any:
            query, hits = searcher.search(request, limit)
            return query.terms, hits

        return self._answer(request, arguments, call, lambda _: find)

    def _related(self, arguments: Arguments, call: Call) -> str:
        from gitmem.actions.query import Request
        from gitmem.actions.related import find_related

        request = Request(f"{arguments['path']}:{arguments['line']}", arguments["limit"])
        return self._answer(request, arguments, call, lambda workspace: find_related(workspace, request))

    def _answer(
        self, request: "Request", arguments: Arguments, call: Call, finder: "Callable[[Workspace], Any]"
    ) -> str:
        from gitmem.actions.query import answer_from, check_request

        def use(tree: "Opened") -> str:
            settings = tree.workspace.settings
            limit = check_request(request, settings.search_max_limit, settings.search_default_limit)
            made = answer_from(tree.searcher, request, limit, finder(tree.workspace), tree.reader)
            return _written(made, arguments, tree.notes)

        return self._session(arguments["root"]).use(request, call, use)

    def _get(self, arguments: Arguments, call: Call) -> str:
        from gitmem.actions.forms import describe_view
        from gitmem.actions.query import Request, view_state
        from gitmem.mcp.places import read_places
        from gitmem.mcp.render import render_blocks

        request = Request("get", rev=arguments["rev"])

        def use(tree: "Opened") -> str:
            blocks, problems = read_places(tree.searcher, tree.reader, arguments["ids"])
            told = describe_view(view_state(request, tree.searcher))
            return render_blocks(blocks, told, [*tree.notes, *problems], advice="ask for fewer lines")

        return self._session(arguments["root"]).use(request, call, use)

    def _status(self, arguments: Arguments, call: Call) -> str:
        from gitmem.actions.status import read_status
        from gitmem.mcp.describe import describe_status, status_json

        status = read_status(self._session(arguments["root"]).reopen())
        call.check()
        return _dump(status_json(status)) if arguments["format"] == "json" else describe_status(status)


def _written(made: "Answer", arguments: Arguments, notes: list[str]) -> str:
    if arguments["format"] == "json":
        from gitmem.mcp.describe import answer_as_json

        return _dump(answer_as_json(made, arguments["detail"], notes))
    from gitmem.mcp.render import render_answer

    return render_answer(made, arguments["detail"], notes)


def _dump(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _touch(tree: "Opened") -> None:
    """Read what every question reads: the model's rows, the words, the signs of the vectors."""
    from gitmem.actions.query import Request

    tree.searcher.search(Request("where is the configuration read"), 1)
