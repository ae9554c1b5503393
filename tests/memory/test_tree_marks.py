"""The trees of the memory are recognised without their commits, and those of a user are not taken for them."""

from pathlib import Path

import pytest

from gitmem.git.batch import ProgramReader
from gitmem.git.locate import locate
from gitmem.memory.record_paths import REFERENCE
from gitmem.memory.tree_marks import is_memory_tree
from gitmem.records.conversations import append_turn
from gitmem.records.documents import add_document
from gitmem.records.notes import add_note
from gitmem.workspace import open_workspace
from tests.gitrepo import MakeRepo, Repo


def recognised(repo: Repo, revision: str) -> dict[str, bool]:
    """Return for each tree of a revision, by its path, whether it counts as one of the memory."""
    location = locate(repo.path)
    lines = repo.git("ls-tree", "-rtd", "--format=%(objectname) %(path)", revision).splitlines()
    trees = {"": repo.oid(f"{revision}^{{tree}}")} | {path: oid for oid, path in map(str.split, lines)}
    with ProgramReader(location, frozenset({b"blob", b"tree"})) as reader:
        return {
            path: is_memory_tree(repo.git_bytes("cat-file", "tree", oid), reader.read, location.object_format)
            for path, oid in trees.items()
        }


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_every_tree_of_the_memory_is_recognised(make_repo: MakeRepo, object_format: str) -> None:
    repo = make_repo("repo", f"--object-format={object_format}")
    workspace = open_workspace(repo.path, {})
    add_note(workspace, "a note")
    add_document(workspace, "a document", {"source": "s", "source_id": "1"})
    append_turn(workspace, "plan", "user", "a turn", None)
    found = recognised(repo, REFERENCE)
    assert len(found) == 1 + 1 + 2 + 2 + 3
    assert all(found.values())


@pytest.mark.parametrize(
    "files",
    [
        {"a.py": "1"},
        {"v1/api.py": "1"},
        {"v1/notes/readme": "1"},
        {"notes/ab/plain": "1", "documents/x": "1"},
        {"ab/00000001": "not a record", "cd/00000002": "nor this"},
        {"mem_0123456789ab/file": "1"},
        {"mem_0123456789ab": "1", "other": "1"},
    ],
    ids=" ".join,
)
def test_a_tree_of_a_user_is_not(repo: Repo, files: dict[str, str]) -> None:
    repo.commit(files)
    assert not any(recognised(repo, "HEAD").values())


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.init(tmp_path / "repo")
