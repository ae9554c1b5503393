"""The neighbour graph: an hnswlib index over a generation's vectors, for long-lived processes with many rows.

Never trusted: hnswlib checks nothing it reads, so its file is only loaded when its hash stands in our own header, and
only after it has been read back and compared when it was written. It maps stable row keys, not row numbers, so it
stays of use while segments come and go; rows it lacks are searched exactly beside it.
"""

import hashlib
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gitmem.errors import DamagedFile, StorageFailed
from gitmem.fsio import publish_file, remove_file, storage_failed, sync_file, write_atomic
from gitmem.paths import IndexPaths
from gitmem.store.format import build_container, damaged, find_container
from gitmem.store.keys import match_keys
from gitmem.store.snapshot import Snapshot

MAGIC: Final = b"GITMEMGR"
NEIGHBOURS: Final = 16
BUILD_WIDTH: Final = 100
SEARCH_WIDTH: Final = 300
_STEP: Final = 2_000
_SAMPLE: Final = 50
_DATA: Final = ".hnsw"


def is_available() -> bool:
    """Whether hnswlib is installed on this machine."""
    try:
        import hnswlib  # noqa: F401
    except ImportError:
        return False
    return True


class Graph:
    """An hnswlib index with the row keys its labels stand for."""

    def __init__(self, index: Any, keys: NDArray[np.uint64]) -> None:
        self._index = index
        self._turn = threading.Lock()
        self.keys = keys

    def nearest(self, vector: NDArray[np.float32], keep: int) -> NDArray[np.int64]:
        """Labels of about the `keep` vectors nearest to one, in no order."""
        keep = min(keep, len(self.keys))
        if not keep:
            return np.zeros(0, np.int64)
        with self._turn:  # the width belongs to the index, whoever asks
            self._index.set_ef(max(SEARCH_WIDTH, keep))
            labels, _ = self._index.knn_query(vector[None, :], k=keep, num_threads=1)
        found: NDArray[np.int64] = labels[0].astype(np.int64)
        return found


class RowGraph:
    """A graph seen from one snapshot: labels as rows. `lacking` are the rows it does not hold, ascending."""

    def __init__(self, graph: Graph, snapshot: Snapshot) -> None:
        self._graph = graph
        self._row_of = match_keys(graph.keys, snapshot.row_keys)
        held = np.zeros(snapshot.rows, bool)
        held[self._row_of[self._row_of >= 0]] = True
        self.missing = np.flatnonzero(~held)

    def nearest(self, vector: NDArray[np.float32], keep: int) -> NDArray[np.int64]:
        """About the `keep` rows nearest to a vector among those it holds, in no order, each once."""
        rows = self._row_of[self._graph.nearest(vector, keep)]
        return np.unique(rows[rows >= 0], return_index=True)[0]


def build_graph(snapshot: Snapshot, old: Graph | None, report: Callable[[int, int], None]) -> Graph:
    """Add what an older graph lacks, or start anew where half of it is dead. Reports rows done and rows to do."""
    import hnswlib

    keys = snapshot.row_keys
    if old is not None and np.isin(old.keys, keys).mean() < 0.5:
        old = None
    known = old.keys if old is not None else np.zeros(0, np.uint64)
    rows = np.flatnonzero(~np.isin(keys, known))
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


def write_graph(paths: IndexPaths, graph: Graph) -> str:
    """Publish a graph; returns its name. Raises StorageFailed, also where the file read back is not what was saved."""
    beside = paths.graphs / f".graph.{os.getpid()}.tmp"
    try:
        graph._index.save_index(str(beside))
        sync_file(beside)
        data = beside.read_bytes()
    except StorageFailed:
        remove_file(beside)
        raise
    except (OSError, RuntimeError) as problem:
        remove_file(beside)
        raise storage_failed(beside, problem) from problem
    name = hashlib.blake2b(data, digest_size=20).hexdigest()
    if not _reads_back(beside, graph):
        remove_file(beside)
        raise StorageFailed(f"cannot write `{beside}`: it is not complete", hint="free some space on that disk")
    publish_file(beside, paths.graph(name + _DATA))
    dimensions = int(graph._index.dim)
    fields = {"bytes": len(data), "dimensions": dimensions, "rows": len(graph.keys)}
    parts = build_container(MAGIC, fields, {"keys": graph.keys.astype("<u8").data})
    write_atomic(paths.graph(name), [memoryview(part) for part in parts])
    return name


def _reads_back(file: Path, graph: Graph) -> bool:
    """hnswlib reports no failure to write: load the file again and compare a sample."""
    import hnswlib

    index = hnswlib.Index(space="ip", dim=graph._index.dim)
    try:
        index.load_index(str(file))
    except RuntimeError:
        return False
    if index.get_current_count() != len(graph.keys):
        return False
    sample = np.linspace(0, len(graph.keys) - 1, min(_SAMPLE, len(graph.keys))).astype(np.int64)
    same: bool = np.array_equal(index.get_items(sample), graph._index.get_items(sample))
    return same


def find_graph(paths: IndexPaths, name: str, dimensions: int) -> Graph | None:
    """Load a graph, None where it is not there, damaged, or cannot be used on this machine."""
    if not name or not is_available():
        return None
    try:
        return _load_graph(paths, name, dimensions)
    except DamagedFile:
        return None


def _load_graph(paths: IndexPaths, name: str, dimensions: int) -> Graph | None:
    import hnswlib

    container = find_container(paths.graph(name), MAGIC)
    file = paths.graph(name + _DATA)
    if container is None or not file.is_file() or file.is_symlink():
        return None
    if container.fields.get("dimensions") != dimensions:
        raise damaged(container.path, "it has other dimensions than the index")
    keys = container["keys"].numbers("<u8")
    if hashlib.blake2b(file.read_bytes(), digest_size=20).hexdigest() != name:
        raise damaged(file, "its content is not what its name says")
    index = hnswlib.Index(space="ip", dim=dimensions)
    index.load_index(str(file))
    if index.get_current_count() != len(keys):
        raise damaged(file, "it holds another number of rows than it says")
    return Graph(index, keys)


def is_intact(paths: IndexPaths, name: str) -> bool:
    """Whether the files of a graph are there and have the content they were written with."""
    file = paths.graph(name + _DATA)
    try:
        container = find_container(paths.graph(name), MAGIC)
        if container is None or not file.is_file() or file.is_symlink():
            return False
        container.check()
    except DamagedFile:
        return False
    return hashlib.blake2b(file.read_bytes(), digest_size=20).hexdigest() == name


def graph_files(name: str) -> frozenset[str]:
    """The names of the files that make up a graph."""
    return frozenset({name, name + _DATA})


def drop_graphs(paths: IndexPaths, keep: str) -> None:
    """Remove every graph but one."""
    for file in paths.graphs.iterdir():
        if file.name.removesuffix(_DATA) != keep:
            remove_file(file)
