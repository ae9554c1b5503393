"""Build or extend the neighbour graph of an index, while others read and write the index."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from gitmem.embedding.card import Card
from gitmem.errors import Busy, ConfigError, DamagedFile
from gitmem.indexing.fingerprint import dimensions_of
from gitmem.indexing.index_writer import open_index_writer
from gitmem.locks import writer_lock
from gitmem.paths import bundled
from gitmem.store.format import find_container
from gitmem.store.graph import RowGraph, build_bytes, build_graph, drop_graphs, find_graph, is_available, write_graph
from gitmem.store.manifest import Manifest
from gitmem.workspace import Workspace, open_snapshot, require_index


def build(workspace: Workspace, report: Callable[[int, int], None]) -> str:
    """Bring the graph up to date and return a sentence for the user. `report` gets finished and total rows.

    The user asked for it, so the threshold for an automatic build does not apply.

    One process builds at a time, others wait for it. The writer lock is held only to publish the manifest that names
    the new graph.

    Raises: NoIndex, StorageFailed, ConfigError if it needs more memory than `gitmem.maxMemory`.
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
    if shortage := _find_shortage(workspace, manifest):
        raise ConfigError(shortage[0], hint=shortage[1])
    snapshot = open_snapshot(workspace, manifest)
    old = find_graph(workspace.paths, manifest.graph, snapshot.dimensions)
    missing = len(RowGraph(old, snapshot).missing) if old is not None else 0
    if old is not None and not missing:
        return f"the graph holds all {manifest.rows} chunks"
    # A graph keeps rows that are gone. Without them it may fit.
    if old is not None and _needed_bytes(manifest, len(old.keys) + missing) > workspace.settings.max_memory:
        old = None
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


def _needed_bytes(manifest: Manifest, rows: int) -> int:
    return build_bytes(rows, dimensions_of(manifest.fingerprint) or Card(bundled("models")).dimensions)


def _find_shortage(workspace: Workspace, manifest: Manifest) -> tuple[str, str] | None:
    """Return a message and a hint if `gitmem.maxMemory` is too small for a graph of an index, else None."""
    needed, limit = _needed_bytes(manifest, manifest.rows), workspace.settings.max_memory
    if needed <= limit:
        return None
    message = f"a graph of {manifest.rows:,} chunks needs about {needed >> 20:,} MiB of memory"
    return (
        f"{message}, `gitmem.maxMemory` allows {limit >> 20:,}",
        f"git config gitmem.maxMemory {-(-needed * 5 // 4 >> 20)}m",
    )


def start_if_behind(workspace: Workspace) -> str:
    """Start `gitmem index --graph` in the background if the graph lacks many rows; return a sentence or "".

    The process outlives this one and inherits none of its descriptors.
    """
    manifest = require_index(workspace)
    if not is_behind(workspace, manifest):
        return ""
    if shortage := _find_shortage(workspace, manifest):
        return f"{shortage[0]}; until then search is exact"
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
