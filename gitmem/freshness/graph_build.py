"""Build or extend the neighbour graph of an index, beside its readers and writers."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from gitmem.errors import Busy
from gitmem.indexing.index_writer import open_index_writer
from gitmem.locks import writer_lock
from gitmem.store.manifest import Manifest
from gitmem.workspace import Workspace, open_snapshot, require_index


def build(workspace: Workspace, report: Callable[[int, int], None]) -> str:
    """Bring the graph up to date, reporting rows done and rows to do; returns a sentence about what was done.

    One process builds at a time, others wait for it. The writer lock is held only while the manifest takes up the new
    graph's name. Raises NoIndex, StorageFailed.
    """
    require_index(workspace)
    with writer_lock(_builder_lock(workspace), wait=True):
        return _build(workspace, report)


def _builder_lock(workspace: Workspace) -> Path:
    return workspace.paths.state / "graph-builder"


def _build(workspace: Workspace, report: Callable[[int, int], None]) -> str:
    from gitmem.store.graph import RowGraph, build_graph, drop_graphs, find_graph, is_available, write_graph

    manifest = require_index(workspace)
    if not is_available():
        return "hnswlib is not available for this Python; every search is exact"
    threshold = workspace.settings.graph_threshold
    if manifest.rows < threshold:
        return f"{manifest.rows} chunks are searched exactly; a graph is built from {threshold} on"
    snapshot = open_snapshot(workspace, manifest)
    old = find_graph(workspace.paths, manifest.graph, snapshot.dimensions)
    if old is not None and not len(RowGraph(old, snapshot).lacking):
        return f"the graph holds all {manifest.rows} chunks"
    before = len(old.keys) if old is not None else 0
    graph = build_graph(snapshot, old, report)
    name = write_graph(workspace.paths, graph)
    with open_index_writer(workspace.paths, wait=True) as writer:
        newest = writer.manifest
        if newest is None or newest.fingerprint != manifest.fingerprint:
            return "the index was built anew with another model meanwhile; run it again"
        writer.publish(_with_graph(newest, name))
        drop_graphs(workspace.paths, name)
    return f"the graph holds {len(graph.keys)} chunks ({len(graph.keys) - before if before else len(graph.keys)} added)"


def start_if_behind(workspace: Workspace) -> str:
    """Start building the graph in a process of its own where it lacks much; returns a sentence, empty where not.

    The process outlives this one and has none of its descriptors; what it does is `gitmem index --graph`.
    """
    manifest = require_index(workspace)
    if not is_behind(workspace, manifest):
        return ""
    try:
        with writer_lock(_builder_lock(workspace), wait=False):
            pass
    except Busy:
        return "the neighbour graph is being built; until then search is exact"
    where = str(workspace.location.worktree or workspace.location.git_dir)
    command = [sys.executable, "-P", "-m", "gitmem", "-C", where, "--quiet", "index", "--graph"]
    null = subprocess.DEVNULL
    subprocess.Popen(command, stdin=null, stdout=null, stderr=null, start_new_session=True)
    return "the neighbour graph is built in the background; until then search is exact"


def is_behind(workspace: Workspace, manifest: Manifest) -> bool:
    """Whether an index is large enough for a graph and its graph lacks more than a tenth of it."""
    from gitmem.errors import DamagedFile
    from gitmem.store.format import find_container
    from gitmem.store.graph import is_available

    if manifest.rows < workspace.settings.graph_threshold or not is_available():
        return False
    try:
        header = find_container(workspace.paths.graph(manifest.graph), b"GITMEMGR") if manifest.graph else None
    except DamagedFile:
        return True
    return header is None or int(header.fields.get("rows", 0)) < 0.9 * manifest.rows


def _with_graph(manifest: Manifest, name: str) -> Manifest:
    return manifest._replace(generation=manifest.generation + 1, graph=name)
