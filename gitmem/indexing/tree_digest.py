"""The digest of the index of a tree: one name for all its rows, which anyone can compute from the tree alone.

It is the root of a Merkle tree over the leaves of the tree's blobs, sorted by blob id and language, under the names of
tree, model, chunker and settings. Whoever has the leaves can check the rows of one blob without those of the others.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from gitmem.arrays import distinct, is_among
from gitmem.errors import StorageFailed
from gitmem.fsio import read_file, write_atomic
from gitmem.named_tuple import NamedTuple
from gitmem.paths import IndexPaths
from gitmem.store.blob_leaves import LEAF_BYTES, digest_blobs, merkle_root
from gitmem.store.columns import RETRIED
from gitmem.store.leaf_table import Key, segment_keys
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import View

_VERSION: Final = 1
_EXCLUDED: Final = -2
"""Number of a path that is not indexed, see `Snapshot.match`."""

_MAX_BYTES: Final = 1 << 16
_HEX: Final = re.compile(r"[0-9a-f]{64}")


class TreeDigest(NamedTuple):
    """Digest of all rows, and those of the rows without vectors and of the vectors alone, as hexadecimal digits.

    `key` is that of the view: a hash of the tree and of the rules that select files. `fingerprint` names chunker, model
    and settings.
    """

    digest: str
    rows: str
    vectors: str
    blobs: int
    key: str
    fingerprint: str


class TreeLeaves(NamedTuple):
    """Leaves of the indexed blobs of a tree, of their rows and of their vectors, and whether these are all blobs."""

    leaves: dict[Key, tuple[bytes, bytes]]
    is_complete: bool


def find_leaves(snapshot: Snapshot, view: View) -> TreeLeaves:
    """Compute the leaves of the blobs of a tree. Raises DamagedFile."""
    # Several paths may share a blob, which has one leaf.
    numbers = distinct(snapshot.match(view))
    numbers = numbers[numbers != _EXCLUDED]
    is_complete = not (numbers < 0).any()
    numbers = numbers[numbers >= 0]
    is_read = ~is_among(snapshot.blob_outcomes[numbers], RETRIED)
    numbers = numbers[is_read]
    leaves: dict[Key, tuple[bytes, bytes]] = {}
    bases = snapshot.blob_bases
    for segment, first, end in zip(snapshot.segments, bases.tolist(), bases[1:].tolist(), strict=False):
        blobs = numbers[(numbers >= first) & (numbers < end)] - first
        if len(blobs):
            keys, own = segment_keys(segment), digest_blobs(segment, blobs)
            pairs = zip(blobs.tolist(), own.rows, own.vectors, strict=True)
            leaves |= {keys[blob]: (rows.tobytes(), vectors.tobytes()) for blob, rows, vectors in pairs}
    return TreeLeaves(leaves, is_complete and bool(is_read.all()))


def find_tree_digest(snapshot: Snapshot, view: View, key: str) -> TreeDigest | None:
    """Compute the digest of a tree; None if not all of its blobs are indexed. Raises DamagedFile."""
    leaves, is_complete = find_leaves(snapshot, view)
    return make_digest(leaves, key, snapshot.manifest.fingerprint) if is_complete else None


def make_digest(leaves: Mapping[Key, tuple[bytes, bytes]], key: str, fingerprint: str) -> TreeDigest:
    """Return the digest over the leaves of blobs: of their rows, and of their vectors."""
    # Sorted by id, not by path: a rename changes the tree, but none of its rows.
    ordered = [leaves[name] for name in sorted(leaves)]
    rows, vectors = (merkle_root([leaf[part] for leaf in ordered]) for part in (0, 1))
    parts = TreeDigest("", rows.hex(), vectors.hex(), len(ordered), key, fingerprint)
    return parts._replace(digest=_join(parts))


def is_consistent(digest: TreeDigest) -> bool:
    """Return whether a digest is that of its parts."""
    return digest.digest == _join(digest)


def _join(parts: TreeDigest) -> str:
    facts = json.dumps([_VERSION, *parts[1:]])
    digest = hashlib.blake2b(facts.encode("utf-8", "surrogateescape"), digest_size=LEAF_BYTES, person=b"gitmem index")
    return digest.hexdigest()


def format_digest(digest: TreeDigest) -> bytes:
    """Return the bytes of the file of a digest."""
    return (json.dumps(digest._asdict(), sort_keys=True) + "\n").encode()


def parse_digest(data: bytes) -> TreeDigest | None:
    """Return the digest in a file, None if it is not one."""
    with suppress(ValueError, TypeError, KeyError):
        value: dict[str, Any] = json.loads(data[:_MAX_BYTES])
        digest = TreeDigest(**{name: value[name] for name in TreeDigest._fields})
        texts = (digest.digest, digest.rows, digest.vectors)
        if all(_HEX.fullmatch(text) for text in texts) and isinstance(digest.blobs, int):
            return digest._replace(key=str(digest.key), fingerprint=str(digest.fingerprint))
    return None


def write_last_digest(paths: IndexPaths, digest: TreeDigest) -> None:
    """Keep a digest for `gitmem status`, which must not read all rows. Failures are ignored."""
    with suppress(StorageFailed):
        write_atomic(paths.digest, [format_digest(digest)], durable=False)


def find_last_digest(paths: IndexPaths, key: str, fingerprint: str) -> TreeDigest | None:
    """Return the last computed digest if it is that of a view and of an index with this fingerprint."""
    data = read_file(paths.digest, _MAX_BYTES)
    digest = parse_digest(data) if data else None
    return digest if digest and (digest.key, digest.fingerprint) == (key, fingerprint) else None
