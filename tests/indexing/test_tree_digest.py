"""The digest of a tree's index: the same from scratch and after any increments, and another one for other rows."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gitmem.indexing.compact import merge
from gitmem.indexing.fingerprint import current_fingerprint, view_key
from gitmem.indexing.memory_budget import MemoryBudget
from gitmem.indexing.missing_blobs import MissingBlob, find_missing_blobs
from gitmem.indexing.run import Run
from gitmem.indexing.tree_digest import (
    TreeDigest,
    find_last_digest,
    find_tree_digest,
    format_digest,
    is_consistent,
    parse_digest,
    write_last_digest,
)
from gitmem.indexing.views import peek_view
from gitmem.paths import IndexPaths
from gitmem.store.blob_leaves import digest_blobs, merkle_root
from gitmem.store.manifest import Manifest
from gitmem.store.packed_file import PackedContainer
from gitmem.store.rows import Rows
from gitmem.store.segment import MAGIC, Segment
from gitmem.store.snapshot import Snapshot
from gitmem.workspace import Workspace
from tests.actions.index_forgery import FORGERIES, pack_files
from tests.gitrepo import Repo
from tests.indexes import InlinePool, index, python_file, snapshot_of, workspace_of
from tests.sample import FILES

MANY = {f"many/{number}.py": python_file(f"function_{number}", "shared_name") for number in range(4)}


@pytest.fixture
def workspace(repo: Repo, fake_model: type[InlinePool]) -> Workspace:
    repo.commit({**FILES, **MANY})
    index(repo)
    return workspace_of(repo)


def digest_of(workspace: Workspace, snapshot: Snapshot) -> TreeDigest:
    tree = str(workspace.location.head_tree)
    view = peek_view(workspace.location, workspace.paths, tree)
    digest = find_tree_digest(snapshot, view, view_key(tree, workspace.location.content))
    assert digest is not None
    return digest


def index_parts(workspace: Workspace, folder: Path, parts: Sequence[Sequence[MissingBlob]], jobs: int) -> Manifest:
    """Index blobs in parts, each of which becomes a segment."""
    paths = IndexPaths(folder)
    paths.segments.mkdir(parents=True, exist_ok=True)
    run = Run(workspace.location, paths, max_file_bytes=1 << 20, jobs=jobs, budget=MemoryBudget(1 << 30))
    manifest = Manifest(current_fingerprint(workspace.settings))
    for part in parts:
        manifest = run.execute(part, manifest).manifest
    return manifest


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_increments_in_any_order_give_the_same_digest(
    workspace: Workspace, tmp_path: Path, data: st.DataObject
) -> None:
    tree = str(workspace.location.head_tree)
    view = peek_view(workspace.location, workspace.paths, tree)
    blobs = find_missing_blobs(view, Snapshot(workspace.paths, Manifest("")))
    blobs = data.draw(st.permutations(blobs))
    cuts = sorted(data.draw(st.lists(st.integers(1, len(blobs) - 1), max_size=4, unique=True)))
    parts = [blobs[start:end] for start, end in zip([0, *cuts], [*cuts, len(blobs)], strict=True)]
    folder = tmp_path / "parts"
    manifest = index_parts(workspace, folder, parts, data.draw(st.integers(1, 3)))
    if data.draw(st.booleans()):
        manifest = manifest.with_segments([merge(IndexPaths(folder), manifest.segments, folder / "segments")])
    snapshot = Snapshot(IndexPaths(folder), manifest)
    assert digest_of(workspace, snapshot) == digest_of(workspace, Snapshot(workspace.paths, _manifest(workspace)))


def _manifest(workspace: Workspace) -> Manifest:
    return snapshot_of(Repo(workspace.paths.root.parent)).manifest


def test_the_real_model_gives_the_same_digest_for_any_number_of_jobs(own: Repo, tmp_path: Path) -> None:
    workspace = workspace_of(own)
    snapshot = snapshot_of(own)
    view = peek_view(workspace.location, workspace.paths, str(workspace.location.head_tree))
    blobs = find_missing_blobs(view, Snapshot(workspace.paths, Manifest("")))
    manifest = index_parts(workspace, tmp_path / "parts", [blobs[1::2], blobs[::2]], 2)
    assert digest_of(workspace, Snapshot(IndexPaths(tmp_path / "parts"), manifest)) == digest_of(workspace, snapshot)


@pytest.mark.parametrize("forge", FORGERIES)
def test_every_change_of_a_row_changes_its_leaf(
    workspace: Workspace, tmp_path: Path, forge: Callable[[Rows], Rows]
) -> None:
    (segment,) = snapshot_of(Repo(workspace.paths.root.parent)).segments
    pack_files(forge(segment.load_rows()), tmp_path / "packs")
    (path,) = (tmp_path / "packs").iterdir()
    forged = Segment(PackedContainer(path, MAGIC, path.read_bytes()))
    one, two = (digest_blobs(item, range(item.blobs)) for item in (segment, forged))
    assert one.rows.tobytes() + one.vectors.tobytes() != two.rows.tobytes() + two.vectors.tobytes()


def test_an_incomplete_index_has_no_digest(workspace: Workspace, repo: Repo) -> None:
    repo.commit({"new.py": "new = 1\n"})
    tree = repo.oid("HEAD^{tree}")
    workspace = workspace_of(repo)
    view = peek_view(workspace.location, workspace.paths, tree)
    assert find_tree_digest(snapshot_of(repo), view, view_key(tree)) is None


@given(st.lists(st.binary(min_size=1, max_size=4), max_size=9), st.integers(0, 8), st.binary(min_size=1, max_size=4))
@example([], 0, b"x")
def test_a_merkle_root_stands_for_its_leaves(leaves: list[bytes], place: int, other: bytes) -> None:
    root = merkle_root(leaves)
    assert merkle_root([*leaves, other]) != root
    if place < len(leaves) and leaves[place] != other:
        assert merkle_root([*leaves[:place], other, *leaves[place + 1 :]]) != root
    if leaves != leaves[::-1]:
        assert merkle_root(leaves[::-1]) != root


def test_a_stored_digest_is_that_of_its_tree_only(workspace: Workspace) -> None:
    digest = digest_of(workspace, Snapshot(workspace.paths, _manifest(workspace)))
    assert parse_digest(format_digest(digest)) == digest
    assert is_consistent(digest)
    assert not is_consistent(digest._replace(blobs=digest.blobs + 1))
    assert parse_digest(b"[]") is parse_digest(b"{}") is parse_digest(b"\xff") is None
    write_last_digest(workspace.paths, digest)
    assert find_last_digest(workspace.paths, digest.key, digest.fingerprint) == digest
    assert find_last_digest(workspace.paths, digest.key, "another") is None
    workspace.paths.digest.write_bytes(b"damaged")
    assert find_last_digest(workspace.paths, digest.key, digest.fingerprint) is None
