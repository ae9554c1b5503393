"""Neighbour graph: an hnswlib index of a generation's vectors, for long-lived processes with many rows.

Its labels refer to stable row keys, not to row numbers, so that the graph remains useful while segments come and go.
The search scans rows that are missing in it exactly.
"""

# HNSW (Malkov and Yashunin 2018, https://arxiv.org/abs/1603.09320) finds approximate nearest neighbours by greedy
# search in a layered proximity graph, in logarithmic instead of linear time. Vectors are normalised, so that the inner
# product is the cosine. Small indexes and one-shot processes use the exact scan over bit signatures instead, because
# they would not earn back the time to load the graph.
#
# hnswlib validates nothing that it reads, and reports no write errors. So its file is named by its hash, is compared
# with the graph in memory after it is written, and is loaded only if its content still has that hash. hnswlib is not
# available for every Python, so it is imported only by the functions that use it.

import hashlib
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from gitmem.arrays import NDArray, distinct, is_among
from gitmem.errors import DamagedFile, StorageFailed
from gitmem.fsio import publish_file, remove_file, sync_file, write_atomic
from gitmem.paths import IndexPaths
from gitmem.permissions import create_private
from gitmem.storage_errors import storage_failed
from gitmem.store.format import build_container, find_container
from gitmem.store.keys import match_keys
from gitmem.store.section import damaged
from gitmem.store.snapshot import Snapshot

MAGIC: Final = b"GITMEMGR"
NEIGHBOURS: Final = 16
"""Links per node (M in the paper)."""

BUILD_WIDTH: Final = 100
SEARCH_WIDTH: Final = 300
"""Numbers of candidates kept while inserting and searching (efConstruction and ef in the paper)."""

_STEP: Final = 2_000
"""Rows inserted between two progress reports."""

_BYTES_PER_NUMBER: Final = 5
_BYTES_PER_ROW: Final = 500
_FIXED_BYTES: Final = 96 << 20
"""Memory of a build: the vectors as stored and as numbers of four bytes; links, locks and labels; libraries."""

_SAMPLE: Final = 50
_DATA: Final = ".hnsw"


def is_available() -> bool:
    """Return whether hnswlib is installed."""
    try:
        _load_hnswlib()
    except ImportError:
        return False
    return True


def _load_hnswlib() -> Any:
    """Import hnswlib, an optional dependency that only processes with a graph need."""
    import hnswlib

    return hnswlib


class Graph:
    """hnswlib index, and the row keys [labels] that its labels refer to."""

    def __init__(self, index: Any, keys: NDArray[np.uint64]) -> None:
        self._index = index
        self._lock = threading.Lock()
        self.keys = keys

    def nearest(self, vector: NDArray[np.float32], limit: int) -> NDArray[np.int64]:
        """Return the labels of about the `limit` nearest vectors, unordered."""
        limit = min(limit, len(self.keys))
        if not limit:
            return np.zeros(0, np.int64)
        with self._lock:  # `ef` is a property of the index, which all threads share
            self._index.set_ef(max(SEARCH_WIDTH, limit))
            labels, _ = self._index.knn_query(vector[None, :], k=limit, num_threads=1)
        nearest: NDArray[np.int64] = labels[0].astype(np.int64)
        return nearest


class RowGraph:
    """Graph with labels mapped to the rows of one snapshot. `missing` are the rows that it lacks, ascending."""

    def __init__(self, graph: Graph, snapshot: Snapshot) -> None:
        self._graph = graph
        self._row_of = match_keys(graph.keys, snapshot.row_keys)
        present = np.zeros(snapshot.rows, bool)
        present[self._row_of[self._row_of >= 0]] = True
        self.missing = np.flatnonzero(~present)

    def nearest(self, vector: NDArray[np.float32], limit: int) -> NDArray[np.int64]:
        """Return about the `limit` nearest of its rows, each once, unordered."""
        rows = self._row_of[self._graph.nearest(vector, limit)]
        return distinct(rows[rows >= 0])


def build_graph(snapshot: Snapshot, old: Graph | None, report: Callable[[int, int], None]) -> Graph:
    """Add the rows that an older graph lacks, or rebuild it if more than half of its rows are dead.

    `report` receives the numbers of rows added and rows to add.
    """
    hnswlib = _load_hnswlib()
    keys = snapshot.row_keys
    if old is not None and is_among(old.keys, keys).mean() < 0.5:
        old = None  # deletion in HNSW only marks nodes, so dead rows keep costing search time
    known = old.keys if old is not None else np.zeros(0, np.uint64)
    rows = np.flatnonzero(~is_among(keys, known))
    if old is None:
        index = hnswlib.Index(space="ip", dim=snapshot.dimensions)
        index.init_index(max_elements=max(len(rows), 1), M=NEIGHBOURS, ef_construction=BUILD_WIDTH, random_seed=1)
    else:
        index = old._index
        index.resize_index(len(known) + max(len(rows), 1))
    for start in range(0, len(rows), _STEP):
        part = rows[start : start + _STEP]
        vectors = snapshot.unit_vectors(part)
        index.add_items(vectors, np.arange(len(known) + start, len(known) + start + len(part)))
        report(start + len(part), len(rows))
    return Graph(index, np.concatenate([known, keys[rows]]))


def build_bytes(rows: int, dimensions: int) -> int:
    """Return about how many bytes a process occupies that builds and writes a graph of some rows."""
    return _FIXED_BYTES + rows * (_BYTES_PER_ROW + _BYTES_PER_NUMBER * dimensions)


def write_graph(paths: IndexPaths, graph: Graph) -> str:
    """Publish a graph and return its name. The graph cannot be searched afterwards, only loaded again.

    Its memory is given back before the file is loaded and compared with it.

    Raises StorageFailed, also if the file differs from the graph.
    """
    dimensions, sample = int(graph._index.dim), _take_sample(graph)
    temporary = paths.graphs / f".graph.{os.getpid()}.tmp"
    remove_file(temporary)
    create_private(temporary)
    try:
        graph._index.save_index(str(temporary))
        sync_file(temporary)
        name, size = _hash_of(temporary), temporary.stat().st_size
    except StorageFailed:
        remove_file(temporary)
        raise
    except (OSError, RuntimeError) as problem:
        remove_file(temporary)
        raise storage_failed(temporary, problem) from problem
    graph._index = None
    if not _is_written(temporary, len(graph.keys), sample):
        remove_file(temporary)
        raise StorageFailed(f"cannot write `{temporary}`: incomplete file", hint="free some space on that disk")
    publish_file(temporary, paths.graph(name + _DATA))
    fields = {"bytes": size, "dimensions": dimensions, "rows": len(graph.keys)}
    parts = build_container(MAGIC, fields, {"keys": graph.keys.astype("<u8").data})
    write_atomic(paths.graph(name), [memoryview(part) for part in parts])
    return name


def _take_sample(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return some labels of a graph and their vectors."""
    labels = np.linspace(0, len(graph.keys) - 1, min(_SAMPLE, len(graph.keys))).astype(np.int64)
    return labels, np.array(graph._index.get_items(labels), np.float32)


def _is_written(file: Path, rows: int, sample: tuple[NDArray[np.int64], NDArray[np.float32]]) -> bool:
    """Return whether a file holds a graph: load it and compare a sample, because hnswlib reports no write errors."""
    hnswlib = _load_hnswlib()
    labels, vectors = sample
    index = hnswlib.Index(space="ip", dim=vectors.shape[1])
    try:
        index.load_index(str(file))
    except RuntimeError:
        return False
    if index.get_current_count() != rows:
        return False
    same: bool = np.array_equal(np.array(index.get_items(labels), np.float32), vectors)
    return same


def find_graph(paths: IndexPaths, name: str, dimensions: int) -> Graph | None:
    """Load a graph, or return None if it is missing, damaged, or hnswlib is not installed."""
    if not name or not is_available():
        return None
    try:
        return _load_graph(paths, name, dimensions)
    except DamagedFile:
        return None


def _load_graph(paths: IndexPaths, name: str, dimensions: int) -> Graph | None:
    hnswlib = _load_hnswlib()
    container = find_container(paths.graph(name), MAGIC)
    file = paths.graph(name + _DATA)
    if container is None or not file.is_file() or file.is_symlink():
        return None
    if container.fields.get("dimensions") != dimensions:
        raise damaged(container.path, "wrong number of dimensions")
    keys = container["keys"].numbers("<u8")
    if _hash_of(file) != name:
        raise damaged(file, "its content does not match its name")
    index = hnswlib.Index(space="ip", dim=dimensions)
    index.load_index(str(file))
    if index.get_current_count() != len(keys):
        raise damaged(file, "wrong number of rows")
    return Graph(index, keys)


def is_intact(paths: IndexPaths, name: str) -> bool:
    """Return whether the files of a graph exist and are undamaged."""
    file = paths.graph(name + _DATA)
    try:
        container = find_container(paths.graph(name), MAGIC)
        if container is None or not file.is_file() or file.is_symlink():
            return False
        container.check()
    except DamagedFile:
        return False
    return _hash_of(file) == name


def _hash_of(file: Path) -> str:
    """Return the hash of a file; a graph of a million rows has more than a gigabyte, so it is read in parts."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=20)).hexdigest()


def graph_files(name: str) -> frozenset[str]:
    """Return the names of the files of a graph."""
    return frozenset({name, name + _DATA})


def drop_graphs(paths: IndexPaths, keep: str) -> None:
    """Remove every graph but one."""
    for file in paths.graphs.iterdir():
        if file.name.removesuffix(_DATA) != keep:
            remove_file(file)
