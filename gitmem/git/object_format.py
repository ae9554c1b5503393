"""Encoding of git objects: ids, trees, commits, and the pack stream in which a push sends them.

Pure functions. Formats: gitformat-pack(5), and "Git Internals - Git Objects" in Pro Git.
"""

import hashlib
import zlib
from collections.abc import Iterable, Mapping
from typing import Final

from gitmem.git.ids import object_id
from gitmem.named_tuple import NamedTuple

TREE_MODE: Final = b"40000"
FILE_MODE: Final = b"100644"
_PACK_TYPES: Final = {"commit": 1, "tree": 2, "blob": 3}
_PACK_VERSION: Final = 2


class RawObject(NamedTuple):
    """Object to be stored. `kind` is commit, tree or blob."""

    oid: str
    kind: str
    data: bytes


class RawEntry(NamedTuple):
    """Entry of a tree without its name; the mode is octal digits, as in the tree."""

    mode: bytes
    oid: str

    @property
    def is_tree(self) -> bool:
        return self.mode == TREE_MODE


def make_object(kind: str, data: bytes, object_format: str) -> RawObject:
    """Return an object with the id of its content. `object_format` is sha1 or sha256."""
    return RawObject(object_id(kind, data, object_format), kind, data)


def parse_tree(data: bytes, object_format: str) -> dict[bytes, RawEntry]:
    """Return the entries of a tree by name, in the tree's order."""
    width = id_bytes(object_format)
    entries: dict[bytes, RawEntry] = {}
    at = 0
    while at < len(data):
        end = data.index(b"\0", at)
        mode, _, name = data[at:end].partition(b" ")
        at = end + 1 + width
        entries[name] = RawEntry(mode, data[end + 1 : at].hex())
    return entries


def format_tree(entries: Mapping[bytes, RawEntry]) -> bytes:
    """Encode a tree from its entries by name; git sorts them as if the names of subtrees ended with a slash."""
    ordered = sorted(entries.items(), key=lambda item: item[0] + b"/" if item[1].is_tree else item[0])
    return b"".join(b"%s %s\0%s" % (entry.mode, name, bytes.fromhex(entry.oid)) for name, entry in ordered)


def format_commit(
    tree: str,
    parent: str | None,
    identity: str,
    seconds: int,
    message: str,
    *,
    merged: str | None = None,
    author: str = "",
) -> bytes:
    """Encode a commit by an identity (`name <address>`), dated in seconds since 1970, in UTC.

    `merged` is the second parent of a merge, `author` an author other than the committer. A clock before 1970 gives
    the first second of 1970: git reads no earlier date and reports such a commit as damaged.
    """
    date = f"{max(0, seconds)} +0000"
    parents = [f"parent {commit}" for commit in (parent, merged) if commit]
    lines = [f"tree {tree}", *parents, f"author {author or identity} {date}", f"committer {identity} {date}"]
    return ("\n".join(lines) + f"\n\n{message}\n").encode()


def format_pack(objects: Iterable[RawObject], object_format: str) -> bytes:
    """Encode objects as a pack without deltas, at the fastest compression: git recompresses when it repacks."""
    parts = [_format_entry(item) for item in objects]
    body = b"PACK" + _PACK_VERSION.to_bytes(4, "big") + len(parts).to_bytes(4, "big") + b"".join(parts)
    return body + hashlib.new(object_format, body, usedforsecurity=False).digest()


def _format_entry(item: RawObject) -> bytes:
    """Encode type and length (4 bits, then 7 per byte, lowest first), then the compressed content."""
    rest, head = len(item.data) >> 4, (_PACK_TYPES[item.kind] << 4) | (len(item.data) & 15)
    length = bytearray()
    while rest:
        length.append(head | 0x80)
        rest, head = rest >> 7, rest & 0x7F
    length.append(head)
    return bytes(length) + zlib.compress(item.data, 1)


def id_bytes(object_format: str) -> int:
    """Return the length of an object id in bytes."""
    return 32 if object_format == "sha256" else 20
