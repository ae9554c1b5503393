"""A place where clones share files of their indexes: each writer adds files of its own, and reads those of all."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final, Protocol

from gitmem.named_tuple import NamedTuple

PACK: Final = ".rows"
TABLE: Final = ".leaves"
DIGEST: Final = ".digest"
"""Ends of names: a pack by its hash, the leaves of the blobs in it, and the digest of a tree by the key of its view."""

MAX_FILES: Final = 1 << 15
"""Files of one writer that are looked at. Each push adds three or more."""


class SharedFile(NamedTuple):
    """File of a writer. `id` is the name by which the place reads it."""

    writer: str
    name: str
    size: int
    id: str


class Listing(NamedTuple):
    """Files of all writers, the number of indexes of other versions of chunker or model, and unusable writers."""

    files: Sequence[SharedFile]
    others: int
    faults: Sequence[str]


class SharedFiles(Protocol):
    """Place of shared files. `place` names it, `writer` is the id of this clone, "" if it only reads."""

    place: str
    writer: str

    def find_files(self) -> Listing:
        """Return all files."""

    def read(self, file: SharedFile) -> bytes | None:
        """Return the content of a file, None if it is gone."""

    def add(self, files: Iterable[tuple[str, bytes]], removed: Collection[str] = ()) -> None:
        """Add files by name under this clone's id, later ones visible only after earlier ones, and remove others."""
