"""Rows of a binary COPY, made of bytes: psycopg would convert each number of an array by itself.

The format is that of the manual of PostgreSQL, chapter COPY, "Binary Format"; arrays are those of `array_send`.
"""

import struct
from collections.abc import Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray

HEADER: Final = b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0)
TRAILER: Final = struct.pack(">h", -1)

_INT2, _VARBIT = 21, 1562
"""Numbers of the element types, fixed in every server."""


def encode_row(fields: Sequence[bytes | None]) -> bytes:
    """Return a row of fields in their binary form; None is NULL."""
    parts = [struct.pack(">h", len(fields))]
    for field in fields:
        parts += [b"\xff\xff\xff\xff"] if field is None else [struct.pack(">i", len(field)), field]
    return b"".join(parts)


def encode_int2(value: int) -> bytes:
    """Return a smallint."""
    return struct.pack(">h", value)


def encode_int4(value: int) -> bytes:
    """Return an int."""
    return struct.pack(">i", value)


def encode_int8(value: int) -> bytes:
    """Return a bigint."""
    return struct.pack(">q", value)


def encode_int2_array(values: NDArray[np.int16]) -> bytes:
    """Return a smallint[]."""
    elements = np.empty(len(values), [("size", ">i4"), ("value", ">i2")])
    elements["size"], elements["value"] = 2, values
    return _array_header(_INT2, len(values)) + elements.tobytes()


def encode_bits_array(rows: NDArray[np.uint8], bits: int) -> bytes:
    """Return a varbit[]: one string of `bits` bits for each row of packed bytes, [rows, bytes]."""
    elements = np.empty(len(rows), [("size", ">i4"), ("bits", ">i4"), ("data", np.uint8, rows.shape[1])])
    elements["size"], elements["bits"], elements["data"] = 4 + rows.shape[1], bits, rows
    return _array_header(_VARBIT, len(rows)) + elements.tobytes()


def _array_header(element: int, size: int) -> bytes:
    return struct.pack(">iiiii", 1, 0, element, size, 1) if size else struct.pack(">iii", 0, 0, element)
