"""Messages between an index run and its worker processes: a batch of blobs there, their rows back."""

from collections.abc import Sequence
from dataclasses import replace
from typing import BinaryIO, Final

from gitmem.chunking.chunk_size import DEFAULT_BOUNDS, ChunkBounds, bounds_for
from gitmem.errors import Cancelled
from gitmem.indexing.stop_request import StopRequest
from gitmem.named_tuple import NamedTuple
from gitmem.processes.frames import read_frame, write_frame
from gitmem.store.manifest import SegmentEntry

_STOPPED: Final = None
"""Answer of a worker that met a request to stop."""


class BlobContent(NamedTuple):
    """Content of a blob, and the language requested for it (empty: the content decides)."""

    language: str
    content: bytes


Batch = Sequence[BlobContent]


class BlobOutcome(NamedTuple):
    """Result for one blob: its language, an outcome of `store.columns.OUTCOMES` and its number of rows.

    `names` is the record of the names in it, see `store.occurrences`.
    """

    language: str
    outcome: str
    rows: int
    names: bytes = b""


class PackedPostings(NamedTuple):
    """`store.rows.Postings` with its arrays as bytes: `term_ids` and `rows` are `<i4`, `counts` are `<u1`."""

    terms: list[bytes]
    term_ids: bytes
    rows: bytes
    counts: bytes


class PackedRows(NamedTuple):
    """Rows of a batch, as in `store.rows.Rows`, with arrays as bytes.

    `blobs` has one entry per blob of the batch, in order. Columns are `<u4`, but `scale` and `norm` are `<f2`.
    `vectors` are int8 [rows, dimensions], `contents` uint8 [rows, CONTENT_BYTES]. `postings` has one entry per field of
    `store.columns.FIELDS`. `texts` are those of the rows if their vectors are still missing. `resident` is the
    memory of the worker in bytes. `losses` says how workers ended that worked on these blobs before.
    """

    blobs: list[BlobOutcome]
    columns: dict[str, bytes]
    labels: list[bytes]
    vectors: bytes
    dimensions: int
    postings: dict[str, PackedPostings]
    contents: bytes = b""
    resident: int = 0
    losses: Sequence[str] = ()
    texts: Sequence[bytes] = ()


class KnownSegments(NamedTuple):
    """Segments with vectors of one model, by their folder and their entries in the manifest. For workers."""

    folder: str
    entries: Sequence[SegmentEntry]


class BatchRequest(NamedTuple):
    """Batch with the request that ends its run, segments whose vectors it may use again, and sizes of chunks.

    Unless it `embeds`, the worker answers with texts instead of vectors.
    """

    batch: Batch
    stop: StopRequest | None = None
    known: KnownSegments | None = None
    bounds: ChunkBounds = DEFAULT_BOUNDS
    embeds: bool = True


def write_batch(stream: BinaryIO, request: BatchRequest) -> None:
    """Send a batch."""
    batch, stop, known, bounds, embeds = request
    known_values = (known.folder, [tuple(entry) for entry in known.entries]) if known else None
    sizes = (bounds.max_bytes, bounds.overlap, bounds.past_run)
    blobs = [tuple(blob) for blob in batch]
    write_frame(stream, (tuple(stop) if stop else None, known_values, sizes, embeds, blobs))


def read_batch(stream: BinaryIO) -> BatchRequest:
    """Receive a batch. Raises EOFError if the other process is gone."""
    stop, known, sizes, embeds, blobs = read_frame(stream)
    segments = KnownSegments(known[0], tuple(SegmentEntry(*entry) for entry in known[1])) if known else None
    batch = [BlobContent(*blob) for blob in blobs]
    max_bytes, overlap, past_run = sizes
    bounds = replace(bounds_for(max_bytes, overlap), past_run=past_run)
    return BatchRequest(batch, StopRequest(*stop) if stop else None, segments, bounds, embeds)


def write_stopped(stream: BinaryIO) -> None:
    """Answer that the batch was dropped because the run shall end."""
    write_frame(stream, _STOPPED)


def write_rows(stream: BinaryIO, rows: PackedRows) -> None:
    """Send the rows of a batch."""
    blobs = [tuple(blob) for blob in rows.blobs]
    postings = {field: tuple(packed) for field, packed in rows.postings.items()}
    write_frame(stream, tuple(rows._replace(blobs=blobs, postings=postings)))  # type: ignore[arg-type]


def read_rows(stream: BinaryIO) -> PackedRows:
    """Receive the rows of a batch.

    Raises: Cancelled if the worker met a request to stop, EOFError if the other process is gone, ValueError or
    TypeError if garbled.
    """
    answer = read_frame(stream)
    if answer is _STOPPED:
        raise Cancelled("the run was stopped by `gitmem cancel`")
    rows = PackedRows(*answer)
    return rows._replace(
        blobs=[BlobOutcome(*blob) for blob in rows.blobs],
        postings={field: PackedPostings(*packed) for field, packed in rows.postings.items()},
    )
