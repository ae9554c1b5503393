"""Compare rows from elsewhere with the blobs that they are said to be of: chunk and embed the blobs again.

Nothing is trusted that a blob does not give. Only vectors of a remote model are not computed again, which would send
the text to it: they are compared with own vectors of equal texts.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import numpy as np

from gitmem.arrays import NDArray, is_among
from gitmem.embedding.card import Card
from gitmem.embedding.provider import Provider, selected_provider
from gitmem.embedding.text_encoder import Patience, TextEncoder, Watch
from gitmem.fsio import make_folder, remove_tree
from gitmem.git.locate import RepositoryLocation
from gitmem.indexing.embedding_stage import EmbeddingStage, open_stage
from gitmem.indexing.fingerprint import chunk_bounds, dimensions_of, with_dimensions
from gitmem.indexing.known_vectors import KnownVectors
from gitmem.indexing.memory_budget import MemoryBudget
from gitmem.indexing.missing_blobs import MissingBlob
from gitmem.indexing.run import Run
from gitmem.indexing.worker_protocol import KnownSegments
from gitmem.locks import writer_lock
from gitmem.named_tuple import NamedTuple
from gitmem.paths import IndexPaths, bundled
from gitmem.settings import Settings
from gitmem.store.blob_leaves import Leaves, digest_blobs, find_differing_vectors
from gitmem.store.columns import RETRIED
from gitmem.store.leaf_table import Key, segment_keys
from gitmem.store.manifest import Manifest
from gitmem.store.segment import Segment
from gitmem.store.snapshot import Snapshot

_LIKENESS: Final = 0.98
"""Cosine from which on two vectors of one text count as equal: a service may compute them on other machines."""


class Leaf(NamedTuple):
    """Digests of the rows of a blob and of their vectors, see `store.blob_leaves`."""

    rows: bytes
    vectors: bytes


class OwnBlob(NamedTuple):
    """Rows of a blob in a segment, and their digests."""

    segment: Segment
    blob: int
    leaf: Leaf


class OwnRows(NamedTuple):
    """Rows that were made from the blobs themselves, by key; without `has_vectors` their vectors were not."""

    blobs: Mapping[Key, OwnBlob]
    has_vectors: bool


class _NoModel:
    """Model that gives every text the same vector, so that chunking can be repeated without asking anybody."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions

    def embed(self, texts: Sequence[str], _patience: Patience, _watch: Watch, /) -> NDArray[np.float32]:
        return np.eye(1, self._dimensions, dtype=np.float32).repeat(len(texts), axis=0)


@contextmanager
def make_rows(
    location: RepositoryLocation, paths: IndexPaths, settings: Settings, fingerprint: str, keys: Sequence[Key],
    dimensions: int,
) -> Iterator[OwnRows]:  # fmt: skip
    """Chunk and, if no remote model is asked for it, embed blobs in a temporary index, which is removed at the end.

    Blobs that the repository lacks are left out. Raises the errors of a run.
    """
    provider = selected_provider(settings)
    scratch = IndexPaths(paths.scratch)
    make_folder(paths.state)
    with writer_lock(paths.scratch_lock, wait=True):
        remove_tree(scratch.root)
        try:
            for folder in (scratch.root, scratch.segments):
                make_folder(folder)
            # An empty index: no stored vector may stand for one that is to be computed again.
            run = Run(
                location, scratch, max_file_bytes=settings.max_file_bytes, jobs=settings.jobs,
                budget=MemoryBudget(settings.max_memory), bounds=chunk_bounds(settings),
                stage=_open_stage(settings, scratch, provider, fingerprint, dimensions),
            )  # fmt: skip
            blobs = [MissingBlob(oid.hex(), language) for oid, language in keys]
            made = run.execute(blobs, Manifest(fingerprint)) if blobs else None
            segments = Snapshot(scratch, made.manifest).segments if made else ()
            yield OwnRows(_digest_all(segments), not provider.is_remote)
        finally:
            remove_tree(scratch.root)


def _open_stage(
    settings: Settings, scratch: IndexPaths, provider: Provider, fingerprint: str, dimensions: int
) -> EmbeddingStage | None:
    if not provider.is_remote:
        return open_stage(settings, scratch, fingerprint)
    return EmbeddingStage(TextEncoder(provider, _NoModel(dimensions), dimensions), scratch)


def _digest_all(segments: Sequence[Segment]) -> dict[Key, OwnBlob]:
    known_blobs: dict[Key, OwnBlob] = {}
    for segment in segments:
        blobs = np.flatnonzero(~is_among(segment.outcomes, RETRIED))
        keys, leaves = segment_keys(segment), digest_blobs(segment, blobs)
        for blob, rows, vectors in zip(blobs.tolist(), leaves.rows, leaves.vectors, strict=True):
            known_blobs[keys[blob]] = OwnBlob(segment, blob, Leaf(rows.tobytes(), vectors.tobytes()))
    return known_blobs


class Comparison(NamedTuple):
    """Result for a pack: the first blob whose rows are wrong and how, and the numbers of compared blobs and vectors."""

    wrong: Key | None
    reason: str
    blobs: int
    vectors: int


def compare_pack(pack: Segment, blobs: Sequence[int], theirs: Leaves, own: OwnRows, known: KnownVectors) -> Comparison:
    """Compare some blobs of a pack with own rows; `theirs` are their leaves. `known` has own vectors.

    Raises DamagedFile.
    """
    keys = segment_keys(pack)
    blobs_compared = vectors = 0
    for place, blob in enumerate(blobs):
        mine = own.blobs.get(keys[blob])
        if mine is None:  # this repository lacks the blob
            continue
        blobs_compared += 1
        reason = ""
        if mine.leaf.rows != theirs.rows[place].tobytes():
            reason = "its rows are not those that the blob gives"
        elif own.has_vectors:
            vectors += int(pack.first[blob + 1] - pack.first[blob])
            is_equal = mine.leaf.vectors == theirs.vectors[place].tobytes()
            if not is_equal and find_differing_vectors(pack, blob, mine.segment, mine.blob):
                reason = "its vectors are not those that the model gives"
        else:
            same, different = _compare_known(pack, blob, known)
            vectors += same
            if different:
                reason = "its vectors differ from own ones of equal texts"
        if reason:
            return Comparison(keys[blob], reason, blobs_compared, vectors)
    return Comparison(None, "", blobs_compared, vectors)


def _compare_known(pack: Segment, blob: int, known: KnownVectors) -> tuple[int, int]:
    """Return how many of a blob's vectors equal own ones of the same texts, and how many do not."""
    rows = np.arange(int(pack.first[blob]), int(pack.first[blob + 1]))
    if not len(rows):
        return 0, 0
    known_blobs = known.find(pack.pick_contents(rows), pack.dimensions)
    is_known = np.ones(len(rows), np.bool_)
    is_known[known_blobs.missing] = False
    # The scale of a vector does not change its direction, by which texts are compared.
    one, two = pack.vectors(rows)[is_known].astype(np.float64), known_blobs.vectors[is_known].astype(np.float64)
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
    alike = (one * two).sum(axis=1) >= _LIKENESS * lengths
    return int(alike.sum()), int((~alike).sum())


def expected_dimensions(settings: Settings, fingerprint: str) -> int:
    """Return the length of the vectors of an index; 0 for that of a provider that nobody here has asked yet."""
    provider = selected_provider(settings)
    return Card(bundled("models")).dimensions if provider.is_bundled else dimensions_of(fingerprint)


def full_fingerprint(settings: Settings, fingerprint: str, dimensions: int) -> str:
    """Return the fingerprint of an index that takes vectors of this length, see `fingerprint.with_dimensions`."""
    is_known = selected_provider(settings).is_bundled or dimensions_of(fingerprint)
    return fingerprint if is_known else with_dimensions(fingerprint, dimensions)


def open_known(paths: IndexPaths, manifest: Manifest) -> KnownVectors:
    """Open the vectors of an index for comparison."""
    return KnownVectors(KnownSegments(str(paths.segments), manifest.segments))
