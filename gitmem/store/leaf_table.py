"""File with the leaves of some blobs: published next to their rows, and kept for each own segment.

It names the blobs of a pack and the digests of their rows, so that nobody has to read the pack for these.
"""

from pathlib import Path
from typing import Any, Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.named_tuple import NamedTuple
from gitmem.store.blob_leaves import LEAF_BYTES, Leaves, digest_blobs
from gitmem.store.format import Buffer, Container, build_container
from gitmem.store.section import damaged
from gitmem.store.segment import Segment

MAGIC: Final = b"GMLEAVES"

MAX_FOREIGN_HEADER: Final = 1 << 20
"""Length of the header of a file from elsewhere: decoding takes some thirty times as much memory."""

Key = tuple[bytes, str]
"""Object id of a blob, and the language requested for it."""


class LeafTable(NamedTuple):
    """Blobs, and the leaves of each."""

    keys: list[Key]
    leaves: Leaves


def make_table(segment: Segment) -> LeafTable:
    """Digest all blobs of a segment. Raises DamagedFile."""
    return LeafTable(segment_keys(segment), digest_blobs(segment, range(segment.blobs)))


def segment_keys(segment: Segment) -> list[Key]:
    """Return the key of each blob of a segment."""
    ids, asked = segment.oids, segment.asked.tolist()
    return [(oid.tobytes(), segment.languages[code]) for oid, code in zip(ids, asked, strict=True)]


def format_table(table: LeafTable) -> bytes:
    """Return the bytes of the file."""
    languages = sorted({language for _, language in table.keys})
    codes = {name: code for code, name in enumerate(languages)}
    sections: dict[str, Buffer] = {
        "oids": b"".join(oid for oid, _ in table.keys),
        "asked": np.array([codes[language] for _, language in table.keys], "<u2").tobytes(),
        "rows": table.leaves.rows.tobytes(),
        "vectors": table.leaves.vectors.tobytes(),
    }
    width = len(table.keys[0][0]) if table.keys else 20
    fields = {"blobs": len(table.keys), "id_bytes": width, "languages": languages}
    return b"".join(build_container(MAGIC, fields, sections))


def parse_table(path: Path, data: Any) -> LeafTable:
    """Return the content of a file; `path` is for messages. Raises: DamagedFile, NewerFormat, OldFormat."""
    file = Container(path, MAGIC, data, max_header=MAX_FOREIGN_HEADER)
    try:
        blobs, width = int(file.fields["blobs"]), int(file.fields["id_bytes"])
        languages = [str(name) for name in file.fields["languages"]]
        sizes = {"oids": blobs * width, "asked": 2 * blobs, "rows": blobs * LEAF_BYTES, "vectors": blobs * LEAF_BYTES}
        if width not in (20, 32) or any(len(file[name]) != size for name, size in sizes.items()):
            raise damaged(path, "a section has the wrong size")
    except (KeyError, TypeError, ValueError, OverflowError) as problem:
        raise damaged(path, "a section or field is missing") from problem
    codes = np.frombuffer(file["asked"].all(), "<u2")
    if len(codes) and codes.max() >= len(languages):
        raise damaged(path, "unlisted language")
    ids = bytes(file["oids"].all())
    keys = [(ids[at * width : (at + 1) * width], languages[code]) for at, code in enumerate(codes.tolist())]
    return LeafTable(keys, Leaves(*(_leaves(file, name) for name in ("rows", "vectors"))))


def _leaves(file: Container, name: str) -> NDArray[np.uint8]:
    return np.frombuffer(file[name].all(), np.uint8).reshape(-1, LEAF_BYTES)
