"""Manifest: the one mutable file of the index. It lists the live segments and identifies their makers.

Reading it does not import numpy: `gitmem index` with nothing to do stops here.
"""

# Segments, views and graphs are immutable, and named by a hash of their content or origin. A new generation is
# published by replacing the manifest, in one atomic rename. So readers need no lock, and a run that dies leaves only
# unreferenced files. This is the scheme of the segments of Lucene and tantivy.

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from gitmem.fsio import read_file, write_atomic
from gitmem.named_tuple import NamedTuple
from gitmem.store.format import FIRST_FORMAT, Container, build_container
from gitmem.store.section import damaged

MAGIC: Final = b"GITMEMMF"
MAX_TREES: Final = 64
"""Number of trees recorded as fully indexed; an older tree costs a comparison, but no embedding."""


class SegmentEntry(NamedTuple):
    """Live segment. `name` is the hash of its bytes.

    `inode` and `modified` (in ns) identify the file that its writer completed. While they and the size are the same,
    its checksums need not be verified again.
    """

    name: str
    rows: int
    blobs: int
    bytes: int
    inode: int = 0
    modified: int = 0


class Manifest(NamedTuple):
    """Generation of the index: its live segments, and the fingerprint of their makers.

    `fingerprint` identifies chunker, rules and model together. `views` are the keys of the fully indexed views, the
    latest last. `complete` is false until the first run has finished. `graph` is the name of the neighbour graph, or
    empty.
    """

    fingerprint: str
    generation: int = 0
    segments: tuple[SegmentEntry, ...] = ()
    views: tuple[str, ...] = ()
    complete: bool = False
    graph: str = ""

    @property
    def rows(self) -> int:
        return sum(segment.rows for segment in self.segments)

    @property
    def blobs(self) -> int:
        return sum(segment.blobs for segment in self.segments)

    @property
    def bytes(self) -> int:
        return sum(segment.bytes for segment in self.segments)

    def with_view(self, key: str) -> "Manifest":
        """Return the next generation, in which the view of that key is fully indexed."""
        views = (*(known for known in self.views if known != key), key)[-MAX_TREES:]
        return self._replace(generation=self.generation + 1, views=views, complete=True)

    def as_complete(self) -> "Manifest":
        """Return the next generation after a run that could not read all of its view, so that the next run retries."""
        return self._replace(generation=self.generation + 1, complete=True)

    def with_segments(self, segments: Iterable[SegmentEntry]) -> "Manifest":
        """Return the next generation, made of these segments."""
        return self._replace(generation=self.generation + 1, segments=tuple(segments))


class _Fields(NamedTuple):
    """Fields of the file."""

    fingerprint: str
    generation: int
    complete: bool
    graph: str
    views: list[str]
    segments: list[list[Any]]


def find_manifest(path: Path) -> Manifest | None:
    """Read the manifest, or None without a file. Raises DamagedFile, NewerFormat."""
    data = read_file(path)
    if data is None:
        return None
    try:
        known = Container(path, MAGIC, data, oldest=FIRST_FORMAT).fields
        fields = _Fields(**{name: known[name] for name in _Fields._fields})
        if fields.graph and not _is_hash(fields.graph):
            raise damaged(path, "its graph is not named by a hash")
        if not all(map(_is_hash, fields.views)):
            raise damaged(path, "a view is not named by a hash")
        segments = tuple(_load_segment(path, entry) for entry in fields.segments)
        return Manifest(
            str(fields.fingerprint),
            int(fields.generation),
            segments,
            tuple(map(str, fields.views)),
            bool(fields.complete),
            str(fields.graph),
        )
    except (KeyError, TypeError, ValueError, OverflowError) as problem:
        raise damaged(path, "its fields are not those of a manifest") from problem


def _load_segment(path: Path, entry: list[Any]) -> SegmentEntry:
    name, rows, blobs, size, *stamp = entry
    if not _is_hash(name):
        raise damaged(path, "a segment is not named by a hash")
    inode, modified = (*stamp, 0, 0)[:2]  # format 1 has neither, and a later gitmem may add something
    return SegmentEntry(name, int(rows), int(blobs), int(size), int(inode), int(modified))


def _is_hash(name: object) -> bool:
    """Return whether a name has the form of an index file's name; such a name cannot lead out of its folder."""
    return isinstance(name, str) and re.fullmatch("[0-9a-f]{40}", name) is not None


def write_manifest(path: Path, manifest: Manifest, *, durable: bool = True) -> None:
    """Publish a generation; readers see it from then on. Without `durable` a power cut may lose or damage it."""
    fields = {
        "fingerprint": manifest.fingerprint,
        "generation": manifest.generation,
        "complete": manifest.complete,
        "graph": manifest.graph,
        "views": list(manifest.views),
        "segments": [list(entry) for entry in manifest.segments],
    }
    write_atomic(path, [bytes(part) for part in build_container(MAGIC, fields, {})], durable=durable)
