"""Details of the files of a tree for the report of a run: which were skipped and why, and how texts were read.

The index has only the outcome of each blob. Sizes and encodings are read from git when somebody asks for them.
"""

import posixpath
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from gitmem.chunking.blob_text import read_limit
from gitmem.display import visible
from gitmem.git.objects import BULK_FROM, open_reader
from gitmem.git.path_encoding import path_text
from gitmem.indexing.overlay import read_stat
from gitmem.named_tuple import NamedTuple
from gitmem.store.columns import OUTCOMES
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import INDEXED, REASONS, View
from gitmem.workspace import Workspace

_PARSED: Final = OUTCOMES.index("parsed")
_TEXT: Final = OUTCOMES.index("text")
_LARGE: Final = "large"
_UNKNOWN: Final = -1


class SkippedFile(NamedTuple):
    """File that is not searched. `size` is None for a submodule or missing blob; `limit` is set for a large file."""

    path: str
    reason: str
    size: int | None
    limit: int | None

    @property
    def line(self) -> str:
        """Reason, path, size and limit for people, with invisible characters escaped."""
        length = "" if self.size is None else f", {self.size:,} bytes"
        most = "" if self.limit is None else f" of at most {self.limit:,}"
        return f"{self.reason}: {visible(self.path)}{length}{most}"


class FileDetails(NamedTuple):
    """Skipped files, texts that are not UTF-8 and were read as Latin-1, and texts without a grammar by extension."""

    skipped: Sequence[SkippedFile]
    latin1: Sequence[str]
    extensions: Mapping[str, int]

    def as_json(self) -> dict[str, Any]:
        """Return the details as JSON values."""
        return {
            "skipped_files": [file._asdict() for file in self.skipped],
            "latin1_files": list(self.latin1),
            "text_extensions": dict(self.extensions),
        }


def read_details(workspace: Workspace, view: View, snapshot: Snapshot, files: Mapping[str, bytes]) -> FileDetails:
    """Return the details of a view. `files` are the paths of blobs that exist only in the working tree.

    Every text is read once. Raises: GitFailed.
    """
    matches = snapshot.match(view)
    outcomes = np.full(len(view), _UNKNOWN, np.int64)
    outcomes[matches >= 0] = snapshot.blob_outcomes[matches[matches >= 0]]
    is_text = (outcomes == _PARSED) | (outcomes == _TEXT)
    skipped = np.flatnonzero((view.reasons != INDEXED) | ((outcomes != _UNKNOWN) & ~is_text)).tolist()
    texts = np.flatnonzero(is_text).tolist()
    with open_reader(workspace.location, bulk=len(texts) >= BULK_FROM, files=files) as reader:
        sizes = reader.sizes(map(view.oid, skipped))
        sizes = [
            _size_of_unhashed(workspace, view, entry) if size is None else size
            for entry, size in zip(skipped, sizes, strict=True)
        ]
        contents = reader.read_many(map(view.oid, texts))
        latin1 = [entry for entry, (_, data) in zip(texts, contents, strict=True) if data and not _is_utf8(data)]
    # Counted by path, as in the report: a copy of a file is a file.
    extensions = Counter(map(_extension, (view.path(entry) for entry in texts if outcomes[entry] == _TEXT)))
    limit = workspace.settings.max_file_bytes
    return FileDetails(
        [_skipped(view, entry, int(outcomes[entry]), size, limit) for entry, size in zip(skipped, sizes, strict=True)],
        [path_text(view.path(entry)) for entry in latin1],
        dict(extensions.most_common()),
    )


def _size_of_unhashed(workspace: Workspace, view: View, entry: int) -> int | None:
    """Return the size of a file in the working tree that was not hashed, None for an entry with a blob."""
    if view.oid(entry).strip("0"):
        return None
    found = read_stat(workspace.location, view.path(entry))
    return found.size if found is not None else None


def _skipped(view: View, entry: int, outcome: int, size: int | None, limit: int) -> SkippedFile:
    reason = REASONS[view.reason(entry)] if view.reason(entry) != INDEXED else OUTCOMES[outcome]
    most = read_limit(view.language(entry), limit) if reason == _LARGE else None
    # The id of a submodule is a commit of another repository.
    return SkippedFile(path_text(view.path(entry)), reason, None if reason == "submodule" else size, most)


def _extension(path: bytes) -> str:
    """Return the extension of a path with its dot, or its name without one."""
    name = path_text(posixpath.basename(path))
    return posixpath.splitext(name)[1].lower() or name


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
