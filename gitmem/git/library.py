"""Bulk reading of packed blobs with libgit2; all other blobs fall back to the git program.

Only this module imports pygit2, and it is imported only when thousands of blobs are read: pygit2 takes as long to
start as eight bare Pythons.
"""

# libgit2 gets the packs only. On a truncated loose object it loops forever (libgit2 issue 7342), and a loose object of
# a wrong length makes it write out of bounds (issue 7177); it handles damaged packs. It does not open the repository
# either, so formats that it does not support (reftable, split index, ...) do not matter.

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

import pygit2

from gitmem.closeable import Closeable
from gitmem.git.batch import BLOBS, WINDOW, ProgramReader
from gitmem.git.ids import object_id
from gitmem.git.locate import RepositoryLocation
from gitmem.git.object_reader import read_with_fallback, sizes_with_fallback

_WINDOW_BYTES: Final = 4 << 20
_MAPPED_BYTES: Final = 32 << 20
_KINDS: Final = {pygit2.enums.ObjectType.BLOB: "blob", pygit2.enums.ObjectType.COMMIT: "commit"}


def find_reader(location: RepositoryLocation, kinds: frozenset[bytes] = BLOBS) -> "LibraryReader | None":
    """Open the packs of a repository; None without packs that libgit2 can read."""
    objects = location.common_dir / "objects"
    if location.object_format != "sha1" or not any(objects.glob("pack/*.pack")):
        return None
    # libgit2 verifies with a collision-detecting SHA-1, which takes as long as everything else together. `_read_packed`
    # finds damage with the fast SHA-1 of hashlib.
    pygit2.option(pygit2.enums.Option.ENABLE_STRICT_HASH_VERIFICATION, False)
    # By default libgit2 maps packs as a whole, and all pages that were read count as memory of this process.
    pygit2.option(pygit2.enums.Option.SET_MWINDOW_SIZE, _WINDOW_BYTES)
    pygit2.option(pygit2.enums.Option.SET_MWINDOW_MAPPED_LIMIT, _MAPPED_BYTES)
    packs = pygit2.Odb()
    try:
        packs.add_backend(pygit2.OdbBackendPack(str(objects)), 1)
    except (pygit2.GitError, OSError, ValueError):
        return None
    return LibraryReader(packs, ProgramReader(location, kinds), kinds)


class LibraryReader(Closeable):
    """ObjectReader for packs, with the git program as fallback for blobs that are not packed or damaged there."""

    def __init__(self, packs: pygit2.Odb, fallback: ProgramReader, kinds: frozenset[bytes]) -> None:
        self._packs = packs
        self._kinds = {kind: name for kind, name in _KINDS.items() if name.encode() in kinds}
        self._fallback = fallback
        self.damaged = fallback.damaged

    def size(self, oid: str) -> int | None:
        return self.sizes([oid])[0]

    def sizes(self, oids: Iterable[str]) -> list[int | None]:
        return sizes_with_fallback(self._packed_size, self._fallback, oids)

    def read(self, oid: str) -> bytes | None:
        data = self._read_packed(oid)
        return data if data is not None else self._fallback.read(oid)

    def read_many(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        waiting = iter(oids)
        while window := list(islice(waiting, WINDOW)):
            yield from read_with_fallback(
                window, {oid for oid in window if self._is_packed(oid)}, self.read, self._fallback
            )

    def close(self) -> None:
        self._packs = pygit2.Odb()
        self._fallback.close()

    def _is_packed(self, oid: str) -> bool:
        try:
            return pygit2.Oid(hex=oid) in self._packs
        except (pygit2.GitError, OSError, ValueError):
            return False

    def _packed_size(self, oid: str) -> int | None:
        try:
            kind, size = self._packs.read_header(pygit2.Oid(hex=oid))
        except (KeyError, pygit2.GitError, OSError, ValueError, MemoryError):  # damage may claim any size
            return None
        return size if kind in self._kinds else None

    def _read_packed(self, oid: str) -> bytes | None:
        try:
            kind, data = self._packs.read(pygit2.Oid(hex=oid))
        except (KeyError, pygit2.GitError, OSError, ValueError, MemoryError):  # damage may claim any size
            return None
        return data if kind in self._kinds and object_id(self._kinds[kind], data, "sha1") == oid else None
