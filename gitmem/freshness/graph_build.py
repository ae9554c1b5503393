"""Build or extend the neighbour graph of an index, while others read and write the index."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from gitmem.errors import Busy, DamagedFile
from gitmem.indexing.index_writer import open_index_writer
from gitmem.locks import writer_lock
from gitmem.store.format import find_container
from gitmem.store.graph import RowGraph, build_graph, drop_graphs, find_graph, is_available, write_graph
from gitmem.store.manifest import Manifest
from gitmem.workspace import Workspace, open_snapshot, require_index


def build(workspace: Workspace, report: Callable[[int, int], None]) -> str:
    """Bring the graph up to date and return a sentence for the user. `report` gets finished and total rows.

    The user asked for it, so the threshold for an automatic build does not apply.

    One process builds at a time, others wait for it. The writer lock is held only to publish the manifest that names
    the new graph.

    Raises: NoIndex, StorageFailed.
    """
    require_index(workspace)
    with writer_lock(_builder_lock(workspace), wait=True):
        return _build(workspace, report)


def _builder_lock(workspace: Workspace) -> Path:
    return workspace.paths.state / "graph-builder"


def _build(workspace: Workspace, report: Callable[[int, int], None]) -> str:
    manifest = require_index(workspace)
    if not is_available():
        return "hnswlib is not available for this Python; every search is exact"
    if not manifest.rows:
        return "the index has no chunks"
    snapshot = open_snapshot(workspace, manifest)
    old = find_graph(workspace.paths, manifest.graph, snapshot.dimensions)
    if old is not None and not len(RowGraph(old, snapshot).missing):
        return f"the graph holds all {manifest.rows} chunks"
    before = len(old.keys) if old is not None else 0
    graph = build_graph(snapshot, old, report)
    name = write_graph(workspace.paths, graph)
    with open_index_writer(workspace.paths, wait=True) as writer:
        newest = writer.manifest
        if newest is None or newest.fingerprint != manifest.fingerprint:
            return "the index was rebuilt with another model in the meantime; run the command again"
        writer.publish(_with_graph(newest, name))
        drop_graphs(workspace.paths, name)
    return f"the graph holds {len(graph.keys)} chunks ({len(graph.keys) - before if before else len(graph.keys)} added)"


def start_if_behind(workspace: Workspace) -> str:
    """Start `gitmem index --graph` in the background if the graph lacks many rows; return a sentence or "".

    The process outlives this one and inherits none of its descriptors.
    """
    manifest = require_index(workspace)
    if not is_behind(workspace, manifest):
        return ""
    try:
        with writer_lock(_builder_lock(workspace), wait=False):
            pass
    except Busy:
        return "the neighbour graph is being built; until then search is exact"
    folder = str(workspace.location.worktree or workspace.location.git_dir)
    command = [sys.executable, "-P", "-m", "gitmem", "-C", folder, "--quiet", "index", "--graph"]
    null = subprocess.DEVNULL
    subprocess.Popen(command, stdin=null, stdout=null, stderr=null, start_new_session=True)
    return "the neighbour graph is built in the background; until then search is exact"


def is_behind(workspace: Workspace, manifest: Manifest) -> bool:
    """Return whether an index is large enough for a graph and its graph lacks more than a tenth of the rows."""
    if manifest.rows < workspace.settings.graph_threshold or not is_available():
        return False
    try:
        header = find_container(workspace.paths.graph(manifest.graph), b"GITMEMGR") if manifest.graph else None
    except DamagedFile:
        return True
    return header is None or int(header.fields.get("rows", 0)) < 0.9 * manifest.rows


def _with_graph(manifest: Manifest, name: str) -> Manifest:
    return manifest._replace(generation=manifest.generation + 1, graph=name)
