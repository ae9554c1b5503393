"""Messages between a process and its child.

A frame is the length of its payload (8 bytes, little endian) and a `marshal` of plain tuples, lists, dictionaries,
bytes, strings and numbers; a named tuple is sent as a tuple of its fields. `marshal` is the fastest encoding of the
standard library. It differs between versions of Python, but both ends are always one version of one program. It must
not be fed by strangers, so the pipe is private to both processes.
"""

import marshal
from typing import Any, BinaryIO, Final

HEADER_BYTES: Final = 8
MAX_FRAME: Final = 1 << 34
"""Larger than any batch: the largest file that can be indexed has 1 GiB."""


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
