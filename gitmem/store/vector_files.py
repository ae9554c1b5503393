"""Vectors by the hash of their text, for one model: what a remote provider has computed once is not sent again.

Each file holds the vectors of one or more requests and never changes. The segments have the same vectors, but only
those of blobs that are indexed now, and only once a run has published them.
"""

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.errors import DamagedFile, NewerFormat, OldFormat
from gitmem.fsio import make_folder, remove_file, touch_file, write_atomic
from gitmem.named_tuple import NamedTuple
from gitmem.store.columns import CONTENT_BYTES
from gitmem.store.format import Buffer, Container, build_container, find_container
from gitmem.store.section import Section, damaged

MAGIC: Final = b"GMVECTOR"
SUFFIX: Final = ".vectors"

MAX_SMALL_FILES: Final = 64
"""Number of small files from which they are merged: a long run writes one for each request."""

_LARGE_BYTES: Final = 4 << 20
"""Size from which a file is merged no more. It bounds the memory of a merge, and how often a vector is written."""

_HASHES: Final = f"S{CONTENT_BYTES}"
"""Type of an array of hashes. numpy ignores zeros at the end, but all hashes have the same length."""

StoredVector = tuple[NDArray[np.int8], np.float16]
"""Quantised vector, and its scale."""

IsUsed = Callable[[NDArray[np.uint8]], NDArray[np.bool_]]
"""Returns which content hashes, [hashes, CONTENT_BYTES], are still used."""


class VectorFiles:
    """Stored vectors of one model. A vector that fails its checksum counts as unknown, so its text is sent again."""

    def __init__(self, folder: Path, model: str, dimensions: int) -> None:
        """Open the files of a model below `folder`; `model` is its fingerprint. Raises StorageFailed."""
        self.dimensions = dimensions
        self._folder = model_folder(folder, model)
        self._files: list[_VectorFile] = []
        touch_file(self._folder)  # by which garbage collection knows the last use of the model
        for path in iter_vector_files(self._folder):
            self._open(path)
        self._merge_small_files()

    def find(self, contents: Collection[bytes]) -> dict[bytes, StoredVector]:
        """Return the vectors of texts by their hashes, without those of unknown texts."""
        found: dict[bytes, StoredVector] = {}
        for file in self._files:
            missing = [content for content in contents if content not in found]
            if not missing:
                break
            found |= file.find(missing)
        return found

    def add(self, contents: Sequence[bytes], vectors: NDArray[np.int8], scales: NDArray[np.float16]) -> None:
        """Store the vectors of texts, durably, before anything else is sent. Raises StorageFailed."""
        if contents:
            self._write(dict(zip(contents, zip(vectors, scales, strict=True), strict=True)))
            self._merge_small_files()

    def _write(self, stored: dict[bytes, StoredVector]) -> Path:
        path = _write_file(self._folder, self.dimensions, stored)
        self._files = [file for file in self._files if file.path != path]
        self._open(path)
        return path

    def _open(self, path: Path) -> None:
        """Open a file; remove it if it cannot even be said which vectors it has."""
        try:
            file = _find_file(path)
            if file is not None and file.dimensions == self.dimensions:
                self._files.append(file)
        except (NewerFormat, OldFormat):
            return
        except DamagedFile:
            remove_file(path)

    def _merge_small_files(self) -> None:
        """If there are many small files, write their vectors as one file, then remove them."""
        small = [file for file in self._files if file.size < _LARGE_BYTES]
        if len(small) < MAX_SMALL_FILES:
            return
        stored: dict[bytes, StoredVector] = {}
        for file in small:
            stored |= file.find(file.contents.tolist())
        # Only files that were read are removed: another process may have written one since.
        paths = {file.path for file in small}
        self._files = [file for file in self._files if file.path not in paths]
        if stored:
            paths.discard(self._write(stored))
        for path in paths:
            remove_file(path)


class _VectorFile(NamedTuple):
    """Open file with its sorted hashes. Vectors and scales are read, and verified, when they are needed."""

    path: Path
    dimensions: int
    contents: NDArray[np.bytes_]
    vectors: Section
    scales: Section

    @property
    def size(self) -> int:
        return len(self.vectors)

    def find(self, contents: Sequence[bytes]) -> dict[bytes, StoredVector]:
        """Return the vectors of those texts that are here and intact."""
        # `tolist` cuts zeros at the end of a hash.
        wanted = [content.ljust(CONTENT_BYTES, b"\0") for content in contents]
        hashes = np.array(wanted, _HASHES)
        places = np.minimum(np.searchsorted(self.contents, hashes), len(self.contents) - 1)
        known = np.flatnonzero(self.contents[places] == hashes)
        if not len(known):
            return {}
        names = [wanted[place] for place in known.tolist()]
        try:
            vectors, scales = self._read(places[known])
        except DamagedFile:
            return self._find_intact(names, places[known])
        return dict(zip(names, zip(vectors, scales, strict=True), strict=True))

    def _find_intact(self, names: Sequence[bytes], rows: NDArray[np.int64]) -> dict[bytes, StoredVector]:
        """Read one by one: a damaged block costs the vectors in it, not those of the whole file."""
        found: dict[bytes, StoredVector] = {}
        for name, row in zip(names, rows, strict=True):
            try:
                vectors, scales = self._read(np.array([row]))
            except DamagedFile:
                continue
            found[name] = (vectors[0], scales[0])
        return found

    def _read(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
        """Return vectors and scales of some rows. Raises DamagedFile."""
        vectors = self.vectors.pick(rows, self.dimensions).view(np.int8)
        return vectors, self.scales.pick(rows, 2).view("<f2")[:, 0]


def model_folder(folder: Path, model: str) -> Path:
    """Return the folder of a model; it exists once a vector of the model has been stored."""
    return folder / hashlib.sha256(model.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def iter_model_folders(folder: Path) -> Iterator[Path]:
    """Yield the folders of all models."""
    if folder.is_dir():
        yield from (path for path in folder.iterdir() if path.is_dir())


def iter_vector_files(folder: Path) -> list[Path]:
    """Return the files of a model."""
    return sorted(folder.glob(f"*{SUFFIX}"))


def drop_unused(path: Path, is_used: IsUsed, *, write: bool) -> int:
    """Remove the vectors of unused texts from a file; return the bytes that are freed. Without `write` only count.

    The used ones are written to another file first: a kill in between leaves vectors twice, but loses none.

    Raises: StorageFailed.
    """
    try:
        file = _find_file(path)
    except (NewerFormat, OldFormat, DamagedFile):
        return 0  # the next run that opens a damaged file removes it
    if file is None:
        return 0
    keep = is_used(np.frombuffer(file.contents.tobytes(), np.uint8).reshape(-1, CONTENT_BYTES))
    if write and not keep.all():
        used = file.find(file.contents[keep].tolist()) if keep.any() else {}
        if used:
            _write_file(path.parent, file.dimensions, used)
        remove_file(path)
    return int((~keep).sum()) * (CONTENT_BYTES + file.dimensions + 2)


def _write_file(folder: Path, dimensions: int, stored: dict[bytes, StoredVector]) -> Path:
    # Sorted, so that a reader finds a hash by bisection without a table in memory.
    contents = sorted(stored)
    sections: dict[str, Buffer] = {
        "contents": b"".join(contents),
        "vectors": b"".join(stored[content][0].tobytes() for content in contents),
        "scales": np.array([stored[content][1] for content in contents], "<f2").tobytes(),
    }
    for each in (folder.parent, folder):
        make_folder(each)
    # Under one name a program can serve another model later, whose vectors have another length.
    digest = hashlib.sha256(b"".join([b"%d\0" % dimensions, *contents]))
    path = folder / f"{digest.hexdigest()[:32]}{SUFFIX}"
    fields = {"dimensions": dimensions, "texts": len(contents)}
    write_atomic(path, [memoryview(part) for part in build_container(MAGIC, fields, sections)])
    return path


def _find_file(path: Path) -> _VectorFile | None:
    """Open a file; return None if it no longer exists. Raises: DamagedFile, NewerFormat, OldFormat."""
    container = find_container(path, MAGIC)
    return None if container is None else _parse(container)


def _parse(container: Container) -> _VectorFile:
    """Return an open file. Raises DamagedFile."""
    texts, dimensions = container.fields.get("texts"), container.fields.get("dimensions")
    if not isinstance(dimensions, int) or dimensions <= 0:
        raise damaged(container.path, "wrong number of dimensions")
    sizes = {"contents": CONTENT_BYTES, "vectors": dimensions, "scales": 2}
    if not isinstance(texts, int) or texts <= 0:
        raise damaged(container.path, "wrong number of texts")
    if any(name not in container or len(container[name]) != texts * size for name, size in sizes.items()):
        raise damaged(container.path, "sections of the wrong length")
    contents = np.frombuffer(container["contents"].all(), _HASHES)
    return _VectorFile(container.path, dimensions, contents, container["vectors"], container["scales"])
