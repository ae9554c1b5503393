"""Identity of a clone as a writer of shared records: stable in place, another one for a copy of the clone.

The id is stored with the device and inode of the git directory, which a copy does not have. A copy that has them, such
as that of a whole machine, shares the id: then both write to one ref in turns, and nothing is lost.
"""

import os
import re
from typing import Final

from gitmem.fsio import read_file, remove_file, write_atomic
from gitmem.git.locate import RepositoryLocation
from gitmem.paths import WRITER

_ID: Final = re.compile(r"[0-9a-f]{16}\Z")


def is_writer_id(text: str) -> bool:
    """Return whether a text has the form of a writer's id."""
    return _ID.match(text) is not None


def read_writer_id(location: RepositoryLocation) -> tuple[str | None, bool]:
    """Return the stored id, None before the first one, and whether it was made for this very folder."""
    data = (read_file(location.common_dir / WRITER, limit=200) or b"").decode("ascii", "replace")
    writer, _, place = data.strip().partition(" ")
    return (writer, place == _place(location)) if is_writer_id(writer) else (None, False)


def new_writer_id(location: RepositoryLocation) -> str:
    """Make a new id of this clone, durably, and return it. Raises StorageFailed."""
    writer = os.urandom(8).hex()
    write_atomic(location.common_dir / WRITER, [f"{writer} {_place(location)}\n".encode("ascii")])
    return writer


def forget_writer_id(location: RepositoryLocation) -> None:
    """Forget the id, so that the clone becomes a new writer."""
    remove_file(location.common_dir / WRITER)


def _place(location: RepositoryLocation) -> str:
    status = location.common_dir.stat()
    return f"{status.st_dev} {status.st_ino}"
