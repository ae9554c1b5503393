"""Names of trees: those of their blobs, at every revision, however the index came about."""

import pytest

from gitmem.chunking.chunk import chunk_blob
from gitmem.freshness.tree_selection import WORKING_TREE, TreeSelection
from gitmem.git.path_encoding import path_text
from gitmem.store.occurrences import pack_occurrences
from gitmem.store.snapshot import Snapshot
from tests.gitrepo import MakeRepo, Repo
from tests.indexes import InlinePool, index, snapshot_of
from tests.references.asking import open_tree, places

STEPS: tuple[dict[str, str], ...] = (
    {"a.py": "def first():\n    pass\n", "b.py": "from a import first\n\nfirst()\n", "notes.md": "# first\n"},
    {"b.py": "from a import first\n\n\ndef second():\n    first()\n", "c.go": "package c\n\nfunc First() {}\n"},
    {"sub/d.ts": "import { x } from './e';\n\nexport class D extends x {}\n", "a.py": "first = 1\n"},
)


def stored_names(snapshot: Snapshot) -> dict[tuple[bytes, str], bytes]:
    """Return the record of the names of each blob that has some."""
    return {
        key: record
        for segment in snapshot.segments
        for rows in [segment.load_rows()]
        for key, record in zip(rows.blobs.keys, rows.blobs.names, strict=True)
        if record
    }


def postings(snapshot: Snapshot, name: str) -> set[tuple[bytes, int]]:
    """Return the blobs in which a name occurs, with its roles in each."""
    return {
        (segment.load_rows().blobs.keys[blob][0], roles)
        for segment in snapshot.segments
        for found in [segment.find_name(name.encode())]
        if found is not None
        for blob, roles in zip(*(column.tolist() for column in found), strict=True)
    }


@pytest.fixture
def stepwise(repo: Repo, fake_model: type[InlinePool]) -> Repo:
    """Index three commits, each by a run of its own, so that segments are merged."""
    for files in STEPS:
        repo.commit(files)
        index(repo)
    return repo


def test_the_names_of_a_tree_are_those_of_its_blobs(stepwise: Repo) -> None:
    tree = open_tree(stepwise)
    seen = 0
    for entry, path in enumerate(tree.view.paths):
        content = (stepwise.path / path_text(path)).read_bytes()
        names = chunk_blob(content, tree.view.language(entry)).names
        stored = tree.names.file(entry).occurrences
        assert pack_occurrences(names) == stored_names(tree.snapshot).get(
            (bytes.fromhex(tree.view.oid(entry)), tree.view.language(entry)), b""
        )
        assert [each.name for each in stored.at(range(len(stored)))] == list(names.names)
        seen += len(stored)
    assert seen > 5


def test_step_by_step_and_from_scratch_the_names_are_the_same(stepwise: Repo, make_repo: MakeRepo) -> None:
    whole = make_repo("whole")
    whole.commit({f"{step}/{path}": text for step, files in enumerate(STEPS) for path, text in files.items()})
    index(whole)
    steps, scratch = snapshot_of(stepwise), snapshot_of(whole)
    assert stored_names(steps) == stored_names(scratch)
    for name in ("first", "First", "second", "x", "./e"):
        assert postings(steps, name) == postings(scratch, name), name
    assert postings(steps, "first")


def test_a_rename_changes_only_the_paths(stepwise: Repo, fake_model: type[InlinePool]) -> None:
    stepwise.commit({"lib.py": "class Lib:\n    pass\n", "user.py": "from lib import Lib\n\nLib()\n"})
    index(stepwise)
    before, digested = places(open_tree(stepwise), "Lib", "callers"), fake_model.digested
    stepwise.git("mv", "user.py", "renamed.py")
    stepwise.commit()
    index(stepwise)
    assert fake_model.digested == digested
    assert (before, places(open_tree(stepwise), "Lib", "callers")) == (["user.py:3"], ["renamed.py:3"])


def test_older_revisions_staged_and_uncommitted_files_answer_for_themselves(stepwise: Repo) -> None:
    stepwise.write({"b.py": "from a import first\n\nfirst(1)\n"})
    stepwise.git("add", "b.py")
    stepwise.write({"b.py": "\n\n\nfrom a import first\n\nfirst(2)\n"})
    expected = {
        TreeSelection("HEAD~2"): ["b.py:3"],
        TreeSelection("HEAD~1"): ["b.py:5"],
        TreeSelection(staged=True): ["b.py:3"],
        WORKING_TREE: ["b.py:6"],
    }
    for selection, lines in expected.items():
        assert places(open_tree(stepwise, selection), "first", "callers") == lines, selection
        assert [place[:10] for place in places(open_tree(stepwise, selection), "first", "text")] == ["notes.md:1"]
