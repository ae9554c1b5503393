"""Messages between an index run and its worker processes: a batch of blobs there, their rows back.

A frame is the length of its payload (8 bytes, little endian) and a `marshal` of plain tuples, lists, dictionaries,
bytes, strings and numbers; a named tuple is sent as a tuple of its fields. `marshal` is the fastest encoding of the
standard library. It differs between versions of Python, but both ends are always one version of one program. It must
not be fed by strangers, so the pipe is private to both processes.
"""

import marshal
from collections.abc import Sequence
from typing import Any, BinaryIO, Final, NamedTuple

from gitmem.errors import Cancelled
from gitmem.indexing.stop_request import StopRequest

_STOPPED: Final = None
"""Answer of a worker that met a request to stop."""

HEADER_BYTES: Final = 8
MAX_FRAME: Final = 1 << 34
"""Larger than any batch: the largest file that can be indexed has 1 GiB."""


class BlobContent(NamedTuple):
    """Content of a blob, and the language requested for it (empty: the content decides)."""

    language: str
    content: bytes


Batch = Sequence[BlobContent]


class BlobOutcome(NamedTuple):
    """Result for one blob: its language, an outcome of `store.columns.OUTCOMES` and its number of rows."""

    language: str
    outcome: str
    rows: int


class PackedPostings(NamedTuple):
    """`store.rows.Postings` with its arrays as bytes: `term_ids` and `rows` are `<i4`, `counts` are `<u1`."""

    terms: list[bytes]
    term_ids: bytes
    rows: bytes
    counts: bytes


class PackedRows(NamedTuple):
    """Rows of a batch, as in `store.rows.Rows`, with arrays as bytes.

    `blobs` has one entry per blob of the batch, in order. Columns are `<u4`, but `scale` and `norm` are `<f2`.
    `vectors` are int8 [rows, dimensions]. `postings` has one entry per field of `store.columns.FIELDS`.
    """

    blobs: list[BlobOutcome]
    columns: dict[str, bytes]
    symbols: list[bytes]
    vectors: bytes
    dimensions: int
    postings: dict[str, PackedPostings]


def write_batch(stream: BinaryIO, batch: Batch, stop: StopRequest | None = None) -> None:
    """Send a batch, and the request that ends its run."""
    write_frame(stream, (tuple(stop) if stop else None, [tuple(blob) for blob in batch]))


def read_batch(stream: BinaryIO) -> tuple[list[BlobContent], StopRequest | None]:
    """Receive a batch, and the request that ends its run. Raises EOFError if the other process is gone."""
    stop, blobs = read_frame(stream)
    return [BlobContent(*blob) for blob in blobs], StopRequest(*stop) if stop else None


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


def write_frame(stream: BinaryIO, value: object) -> None:
    """Send a value of plain types."""
    payload = marshal.dumps(value)  # type: ignore[arg-type]
    stream.write(len(payload).to_bytes(HEADER_BYTES, "little"))
    stream.write(payload)
    stream.flush()


def read_frame(stream: BinaryIO) -> Any:
    """Receive a value. Raises EOFError if the other process is gone, ValueError if something else wrote to the pipe."""
    header = stream.read(HEADER_BYTES)
    length = int.from_bytes(header, "little")
    if length > MAX_FRAME:
        raise ValueError("not a frame: something else writes to the pipe")
    payload = stream.read(length) if len(header) == HEADER_BYTES else b""
    if len(header) < HEADER_BYTES or len(payload) < length:
        raise EOFError("the other process is gone")
    return marshal.loads(payload)  # noqa: S302 (written by our own child)
