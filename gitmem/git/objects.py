"""Choice of the blob reader: pygit2 for bulk reads of packs, files for uncommitted blobs, else `git cat-file`."""

from collections.abc import Mapping
from typing import Final

from gitmem.git.batch import BLOBS, ProgramReader
from gitmem.git.locate import RepositoryLocation
from gitmem.git.object_reader import ObjectReader
from gitmem.git.working_files import FileReader

BULK_FROM: Final = 8_000
"""Number of blobs from which on pygit2 saves more time than its import costs."""


def open_reader(
    location: RepositoryLocation,
    *,
    bulk: bool,
    files: Mapping[str, bytes] | None = None,
    kinds: frozenset[bytes] = BLOBS,
) -> ObjectReader:
    """Open the packs with pygit2 if `bulk` (from about BULK_FROM blobs on) and readable with it, else the git program.

    `files` maps the ids of blobs that exist only as files of the working tree to their paths. Objects of other `kinds`
    are not read.
    """
    database = _open_database(location, kinds, bulk=bulk)
    return FileReader(location, files, database) if files else database


def _open_database(location: RepositoryLocation, kinds: frozenset[bytes], *, bulk: bool) -> ObjectReader:
    if bulk:
        from gitmem.git import library  # imports pygit2, which takes as long to start as eight bare Pythons

        reader = library.find_reader(location, kinds)
        if reader is not None:
            return reader
    return ProgramReader(location, kinds)
