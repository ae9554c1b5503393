"""Index that follows a world; each step compares it with git and with an index built from scratch."""

import os
import shutil
import stat
from collections import Counter
from pathlib import Path
from typing import Final

from gitmem.answering.answer import answer
from gitmem.answering.search_query import Query
from gitmem.answering.searcher import Searcher, open_searcher
from gitmem.freshness.refresh import refresh
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.git.path_encoding import path_text
from gitmem.paths import IndexPaths
from gitmem.store.view_file import INDEXED, REASONS
from gitmem.workspace import Workspace, create_index, open_workspace
from tests.faults.oracle import find_faults, group_rows
from tests.gitrepo import Repo
from tests.machine.commands import COMMANDS, WORDS, World

QUERIES: Final = tuple(f"where is the {word}" for word in WORDS[:3])
LONG_BUDGET: Final = 60_000
"""Milliseconds for indexing before an answer, so that answers are complete on slow machines too."""

GITLINK: Final = "160000"
SUBMODULE: Final = REASONS.index("submodule")


class Follower:
    """One world and its index."""

    def __init__(self, folder: Path) -> None:
        self.world = World(folder)
        self._scratch = folder / "scratch"
        index_from_scratch(self._workspace(self.world.path))

    def step(self, command: str, number: int) -> None:
        """Run a command in the world, then compare the index in each working tree."""
        self.world.dice.seed(number)
        COMMANDS[command](self.world)
        places = [self.world.path, *(place for place in [self.world.linked] if (place / ".git").exists())]
        for place in places:
            differences = [*self._compare_with_git(place), *self._compare_with_scratch(place)]
            assert not differences, f"after `{command}` {number} in {place.name}: {differences}"

    def _workspace(self, place: Path) -> Workspace:
        workspace = open_workspace(place, {})
        return workspace._replace(settings=workspace.settings._replace(heal_budget=LONG_BUDGET))

    def _compare_with_git(self, place: Path) -> list[str]:
        """Return the differences from the paths and blobs of the working tree as git lists and hashes them."""
        searcher = open_searcher(self._workspace(place), WORKING_TREE)
        if searcher.stale:
            return [f"{searcher.missing_files} files are missing, {searcher.take_notes()}"]
        expected = list_blobs(Repo(place))
        view = searcher.view
        entries = {path_text(view.path(entry)): entry for entry in range(len(view))}
        differences = [f"{path} is not in the view" for path in expected.keys() - entries.keys()]
        extra = (path for path in entries.keys() - expected.keys() if int(view.reasons[entries[path]]) != SUBMODULE)
        differences += [f"{path} is in the view" for path in extra]
        for path, entry in entries.items():
            indexed = int(view.reasons[entry]) == INDEXED
            if indexed and path in expected and view.oid(entry) != expected[path]:
                differences.append(f"{path} has another blob")
        return differences

    def _compare_with_scratch(self, place: Path) -> list[str]:
        """Return the differences in rows and answers from an index of the same tree built from scratch."""
        mine = self._workspace(place)
        shutil.rmtree(self._scratch, ignore_errors=True)
        fresh = mine._replace(paths=IndexPaths(self._scratch))
        index_from_scratch(fresh)
        differences = find_faults(mine.paths)
        if rows_in_view(open_searcher(mine, WORKING_TREE)) != rows_in_view(open_searcher(fresh, WORKING_TREE)):
            differences.append("the rows differ")
        for query in QUERIES:
            if hits_of(mine, query) != hits_of(fresh, query):
                differences.append(f"`{query}` has other answers: {hits_of(mine, query)}, {hits_of(fresh, query)}")
        return differences


def index_from_scratch(workspace: Workspace) -> None:
    """Create an index and index HEAD."""
    create_index(workspace)
    refresh(workspace, workspace.location.head_tree)


def rows_in_view(searcher: Searcher) -> Counter[object]:
    """Return the path and complete row of every searchable chunk."""
    view, rows = searcher.view, group_rows(searcher.snapshot)
    return Counter(
        (view.path(entry), row)
        for entry in range(len(view))
        if int(view.reasons[entry]) == INDEXED
        for row in rows[view.oid(entry), view.language(entry)]
    )


def hits_of(workspace: Workspace, query: str) -> list[tuple[str, int, int, float]]:
    """Return the locations and scores of the hits of a query."""
    result = answer(workspace, Query(query, 20))
    return [(hit.path, hit.start_line, hit.end_line, round(hit.score, 3)) for hit, _ in result.hits]


def list_blobs(repo: Repo) -> dict[str, str]:
    """Return each file of a working tree with the id of the blob that a commit would store, links included.

    Files marked assume-unchanged or skip-worktree have the blob of the git index.
    """
    tracked = {}
    for record in repo.git("ls-files", "-z", "-v", "-s").split("\0")[:-1]:
        head, path = record.split("\t", 1)
        sign, mode, oid, _ = head.split(" ")
        if mode != GITLINK:
            tracked[path] = (sign, oid)
    others = repo.git("ls-files", "-z", "--others", "--exclude-standard").split("\0")[:-1]
    files = {}
    for path in [*tracked, *others]:
        sign, oid = tracked.get(path, ("?", ""))
        if sign.islower() or sign == "S":
            files[path] = oid
        elif not path.endswith("/") and not path.startswith(".claude/worktrees/"):
            place = repo.path / path
            try:
                kind = place.lstat().st_mode
            except (FileNotFoundError, NotADirectoryError):
                continue
            if stat.S_ISLNK(kind):
                files[path] = repo.git("hash-object", "--stdin", stdin=os.fsencode(place.readlink()))
            elif stat.S_ISREG(kind):
                files[path] = repo.git("hash-object", "--", path)
    return files
