"""Files of views that another program truncates, writes or replaces: damage that is repaired, and never a crash."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gitmem.answering.search_query import Query
from gitmem.answering.searcher import open_searcher
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.indexing.fingerprint import view_key
from gitmem.resident.call import Call
from gitmem.resident.open_repository import OpenRepository
from gitmem.resident.open_tree import OpenTree
from gitmem.resident.watching.state_watcher import StateWatcher
from gitmem.store.join_file import join_file
from gitmem.store.stored_view import find_view
from gitmem.workspace import require_index
from tests.faults.chaos import DONE, REFUSED, run_copy
from tests.faults.worlds import fill
from tests.gitrepo import Repo
from tests.indexes import HashEncoder, brief_hits, index, search, workspace_of

QUERY = Query("base load", limit=20)

pytestmark = [
    pytest.mark.usefixtures("fake_model"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, to survive a crash"),
]


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository with two indexed commits: a base, its join, and the differences of the second commit from it."""
    monkeypatch.setattr("gitmem.store.blob_match.MAX_UNJOINED", 0)
    made = Repo.init(tmp_path / "repo")
    fill(made, "base", 10)
    index(made)
    fill(made, "more", 2)
    index(made)
    return made


def view_files(repo: Repo) -> dict[str, Path]:
    """Return the files that the view of HEAD consists of, by kind."""
    paths = workspace_of(repo).paths
    differences = paths.view(view_key(repo.oid("HEAD^{tree}")))
    view = find_view(differences)
    assert view is not None
    return {"differences": differences, "base": view.base.file, "join": join_file(view.base.file)}


def cut(file: Path) -> None:
    os.truncate(file, 0)


def overwrite(file: Path) -> None:
    """Write noise into the file itself, as long as what was there."""
    with file.open("r+b") as opened:
        opened.write(b"\xff" * file.stat().st_size)
    os.utime(file, ns=(0, 0))  # another time, however coarse the clock is


def replace(file: Path) -> None:
    """Give another file the name."""
    copy = file.with_name("copy")
    copy.write_bytes(b"no view")
    copy.replace(file)


@pytest.fixture
def served(repo: Repo) -> Iterator[OpenRepository]:
    """Return an open repository that has answered once."""
    opened = OpenRepository(repo.path, {}, HashEncoder(), StateWatcher())
    ask(opened)
    yield opened
    opened.close(5)


def ask(served: OpenRepository) -> tuple[list[tuple[str, float]], list[str]]:
    """Return the hits of a query and the notes of the call."""
    call = Call()

    def use(tree: OpenTree) -> list[tuple[str, float]]:
        return [(hit.path, hit.score) for hit in tree.searcher.find(QUERY, 20).hits]

    return served.with_tree(WORKING_TREE, (), call, use), call.notes


@pytest.mark.parametrize("harm", [cut, overwrite, replace])
def test_a_server_answers_whatever_becomes_of_a_view(
    repo: Repo, served: OpenRepository, harm: Callable[[Path], None]
) -> None:
    """Also if HEAD moves, so that the views are opened again, and a view is derived from the harmed one."""

    def ask_again() -> None:
        expected, _ = ask(served)
        for number, kind in enumerate(("differences", "base", "join")):
            file = view_files(repo)[kind]
            harm(file)
            hits, notes = ask(served)
            assert hits == expected
            # What is open stays as it was if another file takes its name; and no join stays open.
            assert [note.endswith("; rebuilt") for note in notes] == [True] * (harm is not replace and kind != "join")
            assert ask(served) == (expected, [])
            if file.exists():  # else a rebuilt view has another base
                harm(file)
            fill(repo, f"base{number}", 1)
            expected, _ = ask(served)
            assert f"base{number}/part0.py" in {path for path, _ in expected}

    code, words = run_copy(ask_again)
    assert (code, words) == (DONE, ""), words


def test_a_view_that_is_cut_short_between_opening_and_search_is_damage(repo: Repo) -> None:
    for kind in ("differences", "base"):
        searcher = open_searcher(workspace_of(repo), WORKING_TREE)
        cut(view_files(repo)[kind])
        assert run_copy(lambda searcher=searcher: searcher.find(QUERY, 5))[0] == REFUSED  # type: ignore[misc]


def test_a_view_that_another_view_replaced_is_built_again(repo: Repo) -> None:
    """Its checksums are right, so only the tree that it names tells it apart."""
    expected = brief_hits(search(repo, "more load"))
    first, second = (workspace_of(repo).paths.view(key) for key in require_index(workspace_of(repo)).views)
    shutil.copyfile(first, second)
    assert brief_hits(search(repo, "more load")) == expected
    assert first.read_bytes() != second.read_bytes()
