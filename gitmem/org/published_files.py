"""Read files of published repositories, and lines of them, by the ids that searches print."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from gitmem.answering.excerpts import Excerpt
from gitmem.answering.file_excerpts import FileBlob, cut_excerpt
from gitmem.answering.readings import Reading
from gitmem.answering.repository_ids import PUBLISHED
from gitmem.errors import GitmemError, UsageError
from gitmem.git.path_encoding import path_bytes
from gitmem.locations import parse_location
from gitmem.org.blob_text import unpack_text
from gitmem.org.candidate_blobs import ALL, VisibleHead, find_heads
from gitmem.org.connection_pool import open_shared
from gitmem.org.migrations import require_version

if TYPE_CHECKING:
    from gitmem.org.connection import Database

_FILE: Final = """
SELECT encode(oid, 'hex'), parsed_language, record, text
FROM gitmem.visible_texts(ARRAY[gitmem.visible_file(%s, %s)])
"""


def read_published(dsn: str, repository: str, names: Sequence[str], revision: str) -> Reading:
    """Read some locations of a repository whose name has the prefix of the server; "" is its default revision.

    Locations that cannot be read are part of the result. Raises: UsageError for an unknown repository or without a
    database, DatabaseFailed, and others of another schema.
    """
    with open_shared(dsn) as database:
        require_version(database)
        head = _find_head(database, repository.removeprefix(PUBLISHED), revision)
        found = {name: _read(database, head, name) for name in names}
    tree = f"{head.revision} {(head.commit or head.tree)[:7]}"
    return Reading(found, tree, ()).in_repository(repository)


def _find_head(database: "Database", repository: str, revision: str) -> VisibleHead:
    heads = [] if repository == ALL else find_heads(database, [repository], revision)
    if not heads:
        at = f" with the revision `{revision}`" if revision else ""
        raise UsageError(f"no repository `{repository}`{at} that this role may read", hint="gitmem org repos")
    return heads[0]


def _read(database: "Database", head: VisibleHead, name: str) -> Sequence[Excerpt] | GitmemError:
    """Return the text of one location, or why it cannot be read."""
    files: dict[str, tuple[Any, ...] | None] = {}

    def find(path: str) -> tuple[Any, ...] | None:
        # Each reading of a location asks for another path, and the chosen one is read afterwards.
        if path not in files:
            files[path] = database.execute(_FILE, (head.head, path_bytes(path))).fetchone()
        return files[path]

    try:
        location = parse_location(name, lambda path: find(path) is not None)
        if location.blob or location.symbol or location.chunk is not None:
            raise UsageError(
                f"`{name}` cannot be read from the server", hint="name a file, or lines of one: PATH:10-40"
            )
        file = find(location.path)
        if file is None:
            raise UsageError(f"no such file in `{head.revision}`: `{location.path}`", hint="gitmem org query")
        oid, language, record, packed = file
        return [cut_excerpt(FileBlob(location.path, oid, language, unpack_text(packed, record)), location.lines)]
    except GitmemError as error:
        return error
