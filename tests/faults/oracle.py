"""What must be true of an index, whatever happened to the process that wrote it.

An index is sound when the manifest names only whole files, and so does that of an unfinished full run. It is right
when it says of a tree what an index of the same tree made from scratch says: the same set of (blob, chunk, vector,
words), the same paths.
"""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import pytest

from gitmem.errors import GitmemError
from gitmem.indexing.fingerprint import view_key
from gitmem.indexing.index_writer import find_unfinished
from gitmem.paths import IndexPaths
from gitmem.store.graph import is_intact
from gitmem.store.manifest import Manifest, find_manifest
from gitmem.store.packed_file import PackedContainer
from gitmem.store.segment import MAGIC, Segment, find_segment
from gitmem.store.snapshot import Snapshot
from gitmem.store.stored_view import find_view
from gitmem.store.view_file import INDEXED, View
from gitmem.workspace import Workspace
from tests.gitrepo import ISOLATION, Repo
from tests.indexes import DumpedRow, HashEncoder, InlinePool, dump_segment, index, workspace_of

Key = tuple[str, str]
"""A blob's id and the language asked for."""

Ledger = Mapping[Key, frozenset[DumpedRow]]
"""Everything a right index says of each blob."""

FAN: Final = 3
"""Segments of a full tier, where runs are to leave merges to the background."""

STEP_ROWS: Final = 12
"""Rows a segment where runs are to publish often."""


@contextmanager
def small_steps(*, grace: float | None = None) -> Iterator[None]:
    """Index in this process with the fake model, publishing every few rows; `grace` shortens the life of old files."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ISOLATION.items():
            patch.setenv(name, value)
        patch.setattr("gitmem.indexing.run.Pool", InlinePool)
        patch.setattr("gitmem.indexing.blob_batches.BATCH_BLOBS", 2)
        patch.setattr("gitmem.indexing.run.FLUSH_ROWS", STEP_ROWS)
        # Merges of as few segments, and none of several tiers within a run: they are left to the background.
        patch.setattr("gitmem.indexing.compact.FAN", FAN)
        patch.setattr("gitmem.indexing.compact.SMALL_ROWS", 0)
        # Of the segments some are deflated, and merged ones are not.
        patch.setattr("gitmem.store.segment_writer.DEFLATED_ROWS", STEP_ROWS)
        patch.setattr("gitmem.embedding.bundled.BundledEncoder", HashEncoder)
        # A process of its own would index with the real model, and go on after the world it belongs to is gone.
        patch.setattr("gitmem.freshness.background.start_background_refresh", lambda workspace: False)
        if grace is not None:
            for module in ("gitmem.indexing.index_writer", "gitmem.actions.gc"):
                patch.setattr(f"{module}.GRACE_SECONDS", grace)
            patch.setattr("gitmem.freshness.index_tree.VIEW_GRACE_SECONDS", grace)
        yield


def scratch_copy(repo: Repo, folder: Path) -> Repo:
    """The same repository and working tree in a clean directory, with no index."""
    if folder.exists():
        shutil.rmtree(folder)
    shutil.copytree(repo.path, folder, symlinks=True, ignore=shutil.ignore_patterns(".gitmem", "gitmem-made-here"))
    return Repo(folder)


def from_scratch(repo: Repo, folder: Path) -> Repo:
    """The same repository in a clean directory with an index made in one go."""
    made = scratch_copy(repo, folder)
    index(made)
    return made


def read_ledger(repo: Repo, folder: Path) -> Ledger:
    """What a right index says of every blob of every commit, those included that nothing reaches any more."""
    made = scratch_copy(repo, folder)
    from gitmem.freshness.refresh import refresh

    objects = made.git("cat-file", "--batch-all-objects", "--batch-check").splitlines()
    for commit in [line.split(" ")[0] for line in objects if " commit " in line]:
        refresh(workspace_of(made), made.oid(f"{commit}^{{tree}}"))
    workspace = workspace_of(made)
    manifest = find_manifest(workspace.paths.manifest)
    assert manifest is not None
    return group_rows(Snapshot(workspace.paths, manifest))


def group_rows(snapshot: Snapshot) -> dict[Key, frozenset[DumpedRow]]:
    """The rows of a snapshot by blob; blobs without rows are there too."""
    rows: dict[Key, frozenset[DumpedRow]] = {}
    for segment in snapshot.segments:
        for key, found in _group_segment(segment.path, segment.path.read_bytes()).items():
            rows[key] = rows.get(key, frozenset()) | found
    return rows


@lru_cache(maxsize=512)
def _group_segment(path: Path, content: bytes) -> dict[Key, frozenset[DumpedRow]]:
    """Remembered by content: harnesses look at the same segments again and again."""
    segment = Segment(PackedContainer(path, MAGIC, content))
    rows: dict[Key, set[DumpedRow]] = {(oid.hex(), asked): set() for oid, asked in segment.load_rows().blobs.keys}
    for row in dump_segment(segment):
        rows[row.blob, row.requested_language].add(row)
    return {key: frozenset(found) for key, found in rows.items()}


def find_faults(paths: IndexPaths) -> list[str]:
    """What is not whole among the files that the manifest names, read to the last byte."""
    try:
        manifest = find_manifest(paths.manifest)
    except GitmemError as problem:
        return [problem.message]
    return [] if manifest is None else [*_segment_faults(paths, manifest), *_view_faults(paths, manifest)]


def find_unfinished_faults(paths: IndexPaths) -> list[str]:
    """What is damaged among the segments of an unfinished full run. The next one takes them over unread.

    A power cut changes neither their inodes nor their times, so they would even be taken for verified ones. They may be
    missing: the file that names them is not synced, and may be an older one.
    """
    manifest = find_unfinished(paths)
    there = [entry for entry in manifest.segments if paths.segment(entry.name).exists()] if manifest else []
    return list(_segment_faults(paths, manifest._replace(segments=tuple(there), graph=""))) if manifest else []


def _segment_faults(paths: IndexPaths, manifest: Manifest) -> Iterator[str]:
    for entry in manifest.segments:
        try:
            segment = find_segment(paths.segments, entry)
            if segment is None:
                yield f"segment {entry.name} is missing"
            else:
                segment.check()
        except GitmemError as problem:
            yield problem.message
    if manifest.graph and not is_intact(paths, manifest.graph):
        yield f"graph {manifest.graph} is not sound"


def _view_faults(paths: IndexPaths, manifest: Manifest) -> Iterator[str]:
    for key in manifest.views:
        try:
            view = find_view(paths.view(key))
            if view is None:
                yield f"view {key} is missing"
            else:
                view.check()
        except GitmemError as problem:
            yield problem.message


def find_lies(workspace: Workspace, ledger: Ledger, *trees: str) -> list[str]:
    """Where the index says of a blob what is not so, or lacks a blob of a tree that it must hold wholly.

    Views that the manifest calls wholly indexed are looked at as well.
    """
    paths = workspace.paths
    manifest = find_manifest(paths.manifest)
    if manifest is None:
        return ["there is no manifest"] if trees else []
    held = group_rows(Snapshot(paths, manifest))
    lies = [f"blob {key} has other rows than from scratch" for key, rows in held.items() if ledger.get(key) != rows]
    for key in {*manifest.views, *map(view_key, trees)}:
        view = find_view(paths.view(key))
        if view is None:
            lies.append(f"view {key} is missing")
        else:
            lies += [f"blob {blob} of view {key} is missing" for blob in sorted(wanted_blobs(view) - held.keys())]
    return lies


def wanted_blobs(view: View) -> set[Key]:
    """The blobs that an index of this view must hold."""
    return {
        (view.oid(entry), view.language(entry)) for entry in range(len(view)) if view.reasons[entry] == INDEXED
    }  # fmt: skip


def differences(repo: Repo, fresh: Repo) -> list[str]:
    """What two indexes of the same HEAD say differently: paths, rows, and whatever is not whole."""
    first, second = workspace_of(repo), workspace_of(fresh)
    told = find_faults(first.paths)
    mine, theirs = _head_view(first), _head_view(second)
    if mine is None or theirs is None:
        return [*told, *([] if mine is theirs else ["one of them has no view of HEAD"])]
    if _entries(mine) != _entries(theirs):
        told.append("their views of HEAD differ")
    rows, expected = _rows_of(first, mine), _rows_of(second, theirs)
    told += [f"blob {key} differs" for key in sorted(rows.keys() | expected) if rows.get(key) != expected.get(key)]
    return told


def _head_view(workspace: Workspace) -> View | None:
    tree = workspace.location.head_tree
    return find_view(workspace.paths.view(view_key(tree))) if tree else None


def _entries(view: View) -> list[Any]:
    places = range(len(view))
    return [(view.paths[at], view.oid(at), view.language(at), int(view.reasons[at])) for at in places]


def _rows_of(workspace: Workspace, view: View) -> dict[Key, frozenset[DumpedRow]]:
    manifest = find_manifest(workspace.paths.manifest)
    assert manifest is not None
    wanted = wanted_blobs(view)
    held = group_rows(Snapshot(workspace.paths, manifest))
    return {key: rows for key, rows in held.items() if key in wanted}
