"""Packs of a place whose content is that which their names and tables of leaves say.

Tables spare a push the packs: what they list need not be pushed. But readers refuse a damaged or forged pack, so an
altered one would keep everybody from its blobs. Each pack is read once, and then known by its id.
"""

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.actions.shared_files import PACK, SharedFile, SharedFiles
from gitmem.errors import DamagedFile, NewerFormat, StorageFailed
from gitmem.fsio import read_file, write_atomic
from gitmem.indexing.row_packs import describe_fault, read_pack
from gitmem.store.leaf_table import LeafTable, make_table

_MOST: Final = 1 << 16
_DIGEST_BYTES: Final = 20


class SoundPacks:
    """Packs that were found sound, remembered in a file. Without it they are read again."""

    def __init__(self, file: Path) -> None:
        self._file = file
        data = read_file(file, _MOST * (2 * _DIGEST_BYTES + 1)) or b""
        self._known = dict.fromkeys(data.decode("latin-1").splitlines())

    def find_fault(self, place: SharedFiles, file: SharedFile, table: LeafTable, id_bytes: int) -> str:
        """Return what is wrong with a pack or with its table of leaves, "" if nothing is. Raises GitmemError."""
        facts = f"{place.place}\n{file.id}\n{file.size}\n{hash_of(table)}"
        name = hashlib.blake2b(facts.encode("utf-8", "surrogateescape"), digest_size=_DIGEST_BYTES).hexdigest()
        if name in self._known:
            return ""
        try:
            # The length of the vectors is part of the table: the digest of each covers it.
            segment = read_pack(file.name.removesuffix(PACK), file.size, lambda: place.read(file), 0, id_bytes)
            if hash_of(make_table(segment)) != hash_of(table):
                return "its published leaves are not those of its rows"
        except (DamagedFile, NewerFormat) as problem:
            return describe_fault(problem)
        self._known[name] = None
        return ""

    def save(self) -> None:
        """Remember the packs. A failure costs the next push some reading."""
        with suppress(StorageFailed):
            lines = [f"{name}\n" for name in list(self._known)[-_MOST:]]
            write_atomic(self._file, ["".join(lines).encode()], durable=False)


def hash_of(table: LeafTable) -> str:
    """Return a digest of a table of leaves."""
    state = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for oid, language in table.keys:
        state.update(oid + language.encode("utf-8", "surrogateescape") + b"\0")
    for part in table.leaves:
        state.update(part.tobytes())
    return state.hexdigest()
