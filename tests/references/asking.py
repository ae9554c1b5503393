"""Index repositories with the fake pool and ask for usages in them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitmem.answering.answer import ViewState
from gitmem.answering.searcher import Searcher, open_searcher
from gitmem.answering.usage_answer import UsageAnswer, UsageQuery, usages_of
from gitmem.freshness.tree_selection import WORKING_TREE, TreeSelection
from gitmem.git.objects import open_reader
from tests.gitrepo import Repo
from tests.indexes import InlinePool, index, workspace_of


@contextmanager
def indexed_files(path: Path, files: Mapping[str, str]) -> Iterator[Searcher]:
    """Commit and index files, and open the tree."""
    repo = Repo.init(path)
    repo.commit(files)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gitmem.indexing.run.Pool", InlinePool)
        index(repo)
        yield open_tree(repo)


def open_tree(repo: Repo, selection: TreeSelection = WORKING_TREE) -> Searcher:
    """Open a tree of an indexed repository."""
    return open_searcher(workspace_of(repo), selection, ("code",))


def ask(searcher: Searcher, text: str, *relations: str, depth: int = 1, limit: int = 100) -> UsageAnswer[ViewState]:
    """Return the usages of a name or place."""
    query = UsageQuery(text, relations or ("definitions", "callers"), depth, limit)
    with open_reader(searcher.tree.location, bulk=False, files=searcher.files) as reader:
        return usages_of(searcher, query, reader)


def places(searcher: Searcher, text: str, relation: str, depth: int = 1) -> list[str]:
    """Return `path:line` of each usage, with the number of definitions if it is not one, and `+` for a library's.

    A member that the one asked for overrides follows in brackets, if the place calls it.
    """
    (related,) = ask(searcher, text, relation, depth=depth).relations
    return [
        f"{place.path}:{place.line}"
        + (f" {place.candidates}" if place.candidates != 1 and place.depth else "")
        + ("+" if place.open else "")
        + (f" ({place.through})" if place.through else "")
        for place in related.places
    ]
