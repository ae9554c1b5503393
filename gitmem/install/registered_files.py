"""Which uncommitted files are gitmem's own edits of clients' files. Reads the record of `registration` cheaply."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.errors import GitmemError
from gitmem.fsio import read_file
from gitmem.git.locate import RepositoryLocation
from gitmem.git.status import StatusEntry

RECORD: Final = "gitmem-clients"
"""File in the common git directory that lists gitmem's edits."""

MAX_BYTES: Final = 64 << 20
"""Larger files of clients are not edited."""


def users_entries(location: RepositoryLocation, entries: Sequence[StatusEntry]) -> Sequence[StatusEntry]:
    """Return the uncommitted files without those that are exactly as gitmem wrote them."""
    if not entries or location.worktree is None:
        return entries
    with suppress(GitmemError):
        record = read_file(location.common_dir / RECORD, MAX_BYTES) or b""
        # Names of clients' files are ASCII. Parsing is left to the rare case in which one of them is uncommitted.
        # Each query asks, and thousands of other files may be.
        names = {text.rpartition(b"/")[2] for text in record.split(b'"')}
        likely = [entry.path for entry in entries if entry.path.rpartition(b"/")[2] in names]
        if likely:
            written, root = _written_files(record), location.worktree
            unchanged = {path for path in likely if _is_unchanged(root / os.fsdecode(path), written)}
            return [entry for entry in entries if entry.path not in unchanged]
    return entries


def _written_files(record: bytes) -> dict[Path, str]:
    """Return the SHA-256 of each file as gitmem wrote it, by its path."""
    import json  # a query of a clean tree does not need it

    with suppress(ValueError, TypeError, KeyError):
        return {Path(entry["file"]): entry["after"] for entry in json.loads(record)}
    return {}


def _is_unchanged(path: Path, written: dict[Path, str]) -> bool:
    import hashlib  # as above

    content = read_file(path, MAX_BYTES) if path in written else None
    return content is not None and hashlib.sha256(content).hexdigest() == written[path]
