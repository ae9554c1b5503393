"""Look up a path in git's index by its first entries: `git ls-files` reads the entries of the whole tree.

Format: gitformat-index(5), versions 2 to 4. Entries are sorted by path, so names with a dot are near the beginning.
"""

import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.git.locate import RepositoryLocation

_HEADER: Final = struct.Struct(">4sII")
_FLAGS: Final = struct.Struct(">H")
_STAT_BYTES: Final = 40
_ID_BYTES: Final = {"sha1": 20, "sha256": 32}
_EXTENDED: Final = 0x4000
"""Flag of an entry that has two more bytes of flags."""

_HEAD_BYTES: Final = 1 << 17
"""Bytes that are read: more than a thousand entries."""


def holds_path(location: RepositoryLocation, name: str) -> bool | None:
    """Return whether the index has the file or folder `name`, ignoring case; None if only git can tell."""
    wanted = name.lower().encode()
    try:
        # The entries of a split index are in two files.
        if any(location.git_dir.glob("sharedindex.*")):
            return None
        head = _read_head(location.git_dir / "index")
    except OSError:
        return None
    if head is None:
        return False
    with suppress(ValueError, struct.error):  # the rest of the index is needed, or its format is unknown
        for path in _iter_paths(head, _ID_BYTES[location.object_format]):
            folded = path.lower()
            if folded == wanted or folded.startswith(wanted + b"/"):
                return True
            if path[:1] > wanted[:1]:  # of the two cases of a letter the lower one comes last
                return False
        return False
    return None


def _read_head(file: Path) -> bytes | None:
    """Return the beginning of a file, or None if it does not exist."""
    try:
        with file.open("rb") as opened:
            return opened.read(_HEAD_BYTES)
    except FileNotFoundError:
        return None


def _iter_paths(head: bytes, id_bytes: int) -> Iterator[bytes]:
    """Yield the paths of the entries in order. Raises ValueError and struct.error at the end of `head`."""
    magic, version, count = _HEADER.unpack_from(head)
    if magic != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("unknown format")
    path, start = b"", _HEADER.size
    for _ in range(count):
        at = start + _STAT_BYTES + id_bytes
        flags = _FLAGS.unpack_from(head, at)[0]
        at += 4 if flags & _EXTENDED else 2
        shared = 0
        if version == 4:  # a path lacks what it shares with the one before
            cut, at = _read_offset(head, at)
            shared = len(path) - cut
        end = head.index(b"\0", at)
        path = path[:shared] + head[at:end]
        # Before version 4 entries are padded with one to eight zeros to a multiple of eight bytes.
        start = end + 1 if version == 4 else start + (end - start + 8 & ~7)
        yield path


def _read_offset(head: bytes, at: int) -> tuple[int, int]:
    """Return a number of variable length, encoded as offsets in packs are, and the place after it."""
    value, more = 0, True
    while more:
        byte = _FLAGS.unpack_from(b"\0" + head[at : at + 1])[0]
        value = (value << 7) + (byte & 127)
        more, at = byte > 127, at + 1
        value += more
    return value, at
