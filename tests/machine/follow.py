"""An index that follows a world, compared at every step with git itself and with an index made from scratch."""

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

QUESTIONS: Final = tuple(f"where is the {word}" for word in WORDS[:3])
UNHURRIED: Final = 60_000
"""Milliseconds for healing: the machine may be slow, the answer has to be whole."""

GITLINK: Final = "160000"
SUBMODULE: Final = REASONS.index("submodule")


class Follower:
    """One world and its index. `embedded` counts the blobs it had to digest."""

    def __init__(self, folder: Path) -> None:
        self.world = World(folder)
        self._scratch = folder / "scratch"
        index_from_nothing(self._workspace(self.world.path))

    def step(self, command: str, number: int) -> None:
        """Do something to the world, then look from every working tree there is."""
        self.world.dice.seed(number)
        COMMANDS[command](self.world)
        places = [self.world.path, *(place for place in [self.world.linked] if (place / ".git").exists())]
        for place in places:
            told = [*self._compare_with_git(place), *self._compare_with_scratch(place)]
            assert not told, f"after `{command}` {number} in {place.name}: {told}"

    def _workspace(self, place: Path) -> Workspace:
        workspace = open_workspace(place, {})
        return workspace._replace(settings=workspace.settings._replace(heal_budget=UNHURRIED))

    def _compare_with_git(self, place: Path) -> list[str]:
        """The paths and blobs of the working tree as git lists and hashes them, one by one."""
        searcher = open_searcher(self._workspace(place), WORKING_TREE)
        if searcher.stale:
            return [f"{searcher.missing_files} files are missing, {searcher.notes}"]
        expected = listed(Repo(place))
        view = searcher.view
        entries = {path_text(view.path(entry)): entry for entry in range(len(view))}
        told = [f"{path} is not in the view" for path in expected.keys() - entries.keys()]
        gone = (path for path in entries.keys() - expected.keys() if int(view.reasons[entries[path]]) != SUBMODULE)
        told += [f"{path} is in the view" for path in gone]
        for path, entry in entries.items():
            indexed = int(view.reasons[entry]) == INDEXED
            if indexed and path in expected and view.oid(entry) != expected[path]:
                told.append(f"{path} has another blob")
        return told

    def _compare_with_scratch(self, place: Path) -> list[str]:
        """The same tree in an index that has seen nothing else: equal rows, equal answers."""
        mine = self._workspace(place)
        shutil.rmtree(self._scratch, ignore_errors=True)
        fresh = mine._replace(paths=IndexPaths(self._scratch))
        index_from_nothing(fresh)
        told = find_faults(mine.paths)
        if rows_in_view(open_searcher(mine, WORKING_TREE)) != rows_in_view(open_searcher(fresh, WORKING_TREE)):
            told.append("the rows differ")
        for question in QUESTIONS:
            if hits_of(mine, question) != hits_of(fresh, question):
                told.append(
                    f"`{question}` is answered otherwise: {hits_of(mine, question)}, {hits_of(fresh, question)}"
                )
        return told


def index_from_nothing(workspace: Workspace) -> None:
    """An index of HEAD."""
    create_index(workspace)
    refresh(workspace, workspace.location.head_tree)


def rows_in_view(searcher: Searcher) -> Counter[object]:
    """Every chunk that can be found, with all that the index says of it, by path."""
    view, held = searcher.view, group_rows(searcher.snapshot)
    return Counter(
        (view.path(entry), row)
        for entry in range(len(view))
        if int(view.reasons[entry]) == INDEXED
        for row in held[view.oid(entry), view.language(entry)]
    )


def hits_of(workspace: Workspace, question: str) -> list[tuple[str, int, int, float]]:
    """An answer's places and scores."""
    made = answer(workspace, Query(question, 20))
    return [(hit.path, hit.start_line, hit.end_line, round(hit.score, 3)) for hit, _ in made.hits]


def listed(repo: Repo) -> dict[str, str]:
    """Each file of a working tree and the blob a commit would make of it; links by the blob git has or would make.

    What the index says stands for files that git was told not to look at.
    """
    kept = {}
    for record in repo.git("ls-files", "-z", "-v", "-s").split("\0")[:-1]:
        head, path = record.split("\t", 1)
        sign, mode, oid, _ = head.split(" ")
        if mode != GITLINK:
            kept[path] = (sign, oid)
    others = repo.git("ls-files", "-z", "--others", "--exclude-standard").split("\0")[:-1]
    found = {}
    for path in [*kept, *others]:
        sign, oid = kept.get(path, ("?", ""))
        if sign.islower() or sign == "S":
            found[path] = oid
        elif not path.endswith("/") and not path.startswith(".claude/worktrees/"):
            place = repo.path / path
            try:
                kind = place.lstat().st_mode
            except (FileNotFoundError, NotADirectoryError):
                continue
            if stat.S_ISLNK(kind):
                found[path] = repo.git("hash-object", "--stdin", stdin=os.fsencode(place.readlink()))
            elif stat.S_ISREG(kind):
                found[path] = repo.git("hash-object", "--", path)
    return found
