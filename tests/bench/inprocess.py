"""gitmem called from Python, for what would be lost in the start of a process. The only module here that imports it."""

import os
from collections.abc import Callable
from pathlib import Path

from gitmem.actions.query import Request, answer, open_searcher
from gitmem.git.revisions import resolve
from gitmem.workspace import open_workspace, require_index
from tests.bench.scoring import Place


def open_answers(repository: Path) -> Callable[[str], list[Place]]:
    """A function that does for a question what `gitmem query` does, without refreshing."""
    workspace = open_workspace(repository, os.environ)

    def ask(text: str) -> list[Place]:
        made = answer(workspace, Request(text=text, limit=10, refresh=False))
        return [Place(hit.path, hit.start_line, hit.end_line) for hit, _ in made.hits]

    return ask


def open_search(repository: Path, *, graph: bool = False) -> Callable[[str], object]:
    """A function that searches an index held open, as a server does, with its neighbour graph where asked for."""
    workspace = open_workspace(repository, os.environ)
    request = Request(text="warm", limit=10, refresh=False)
    revision = resolve(workspace.location, "HEAD")
    searcher = open_searcher(workspace, request, revision, require_index(workspace), [])
    if graph and not searcher.load_graph():
        raise SystemExit("the graph was asked for and cannot be loaded")
    return lambda text: searcher.search(Request(text=text, limit=10, refresh=False), 10)
