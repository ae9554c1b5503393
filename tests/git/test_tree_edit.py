"""Edited trees equal those of git."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.git.batch import ProgramReader
from gitmem.git.locate import RepositoryLocation, locate
from gitmem.git.object_format import FILE_MODE, format_tree, make_object, parse_tree
from gitmem.git.references import store_objects
from gitmem.git.tree_edit import edit_tree
from tests.gitrepo import MakeRepo, Repo, isolated_environment

NAMES = st.sampled_from([b"a", b"a.b", b"a0", b"ab", b"\xff", b"z z"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(b"/".join)
EDITS = st.lists(st.tuples(PATHS, st.one_of(st.none(), st.binary(max_size=5))), max_size=8)

formats = pytest.mark.parametrize("object_format", ["sha1", "sha256"])


class Trees:
    """Editor of trees of a repository, which stores the new objects."""

    def __init__(self, location: RepositoryLocation) -> None:
        self.location = location
        self.reader = ProgramReader(location, frozenset({b"tree"}))

    def edit(self, root: str | None, changes: dict[bytes, bytes | None]) -> str | None:
        object_format = self.location.object_format
        blobs = {path: make_object("blob", data, object_format) for path, data in changes.items() if data is not None}
        ids = {path: blobs[path].oid if path in blobs else None for path in changes}
        new, trees = edit_tree(root, ids, self.read, object_format)
        if blobs or trees:
            store_objects(self.location, [*{blob.oid: blob for blob in blobs.values()}.values(), *trees])
        return new

    def read(self, oid: str) -> bytes:
        data = self.reader.read(oid)
        assert data is not None
        return data


def listing(repo: Repo, tree: str | None) -> dict[bytes, bytes]:
    """Return the contents of a tree by path, read with git."""
    if tree is None:
        return {}
    lines = repo.git_bytes("ls-tree", "-r", "-z", tree).split(b"\0")[:-1]
    fields = (line.split(b"\t", 1) for line in lines)
    return {path: repo.git_bytes("cat-file", "blob", head.split()[2].decode()) for head, path in fields}


def passes_fsck(path: Path) -> bool:
    """Return whether git accepts the objects: order, modes, ids."""
    done = subprocess.run(["git", "fsck", "--strict"], cwd=path, env=isolated_environment(), capture_output=True)
    return done.returncode == 0


@formats
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=EDITS, second=EDITS)
def test_edits_have_the_effect_of_edits_of_a_dictionary(
    tmp_path_factory: pytest.TempPathFactory, object_format: str, first: list[object], second: list[object]
) -> None:
    repo = Repo.init(tmp_path_factory.mktemp("trees"), f"--object-format={object_format}")
    trees = Trees(locate(repo.path))
    expected: dict[bytes, bytes] = {}
    root: str | None = None
    for edits in (first, second):
        changes = _without_clashes(dict(edits), expected)  # type: ignore[arg-type]
        root = trees.edit(root, changes)
        expected.update({path: data for path, data in changes.items() if data is not None})
        for path, data in changes.items():
            if data is None:
                expected.pop(path, None)
    trees.reader.close()
    assert listing(repo, root) == expected
    assert passes_fsck(repo.path)


def _without_clashes(changes: dict[bytes, bytes | None], present: dict[bytes, bytes]) -> dict[bytes, bytes | None]:
    """Drop edits by which a name would be both a file and a folder."""
    accepted: dict[bytes, bytes | None] = {}
    for path, data in changes.items():
        others = [*present, *accepted]
        if not any(path.startswith(other + b"/") or other.startswith(path + b"/") for other in others):
            accepted[path] = data
    return accepted


@formats
def test_a_folder_is_deleted_with_its_content(make_repo: MakeRepo, object_format: str) -> None:
    repo = make_repo("repo", f"--object-format={object_format}")
    trees = Trees(locate(repo.path))
    root = trees.edit(None, {b"a/x": b"1", b"a/y/z": b"2", b"b": b"3"})
    assert listing(repo, trees.edit(root, {b"a": None})) == {b"b": b"3"}
    assert trees.edit(root, {b"a": None, b"b": None}) is None
    trees.reader.close()


def test_an_edit_without_effect_creates_no_tree() -> None:
    entries = format_tree(parse_tree(b"", "sha1"))
    tree = make_object("tree", b"%s f\0" % FILE_MODE + bytes(20), "sha1")
    assert entries == b""
    assert edit_tree(tree.oid, {b"f": "00" * 20}, lambda _: tree.data, "sha1") == (tree.oid, [])
