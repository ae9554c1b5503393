"""Apply the uncommitted changes of a working tree to the view of a tree.

Each changed file gets the blob id that a commit would give it, so that committing it requires no further indexing.
Files that rules exclude or that are too large are never hashed. A file that disappears meanwhile counts as deleted.
"""

import math
import posixpath
import stat
import time
from collections.abc import Mapping, Sequence
from typing import Final

from gitmem.chunking.blob_text import read_limit
from gitmem.chunking.languages import language_of
from gitmem.git.locate import RepositoryLocation
from gitmem.git.path_encoding import path_text
from gitmem.git.status import StatusEntry
from gitmem.git.trees import GITLINK, SYMLINK, TreeChange
from gitmem.git.working_files import hash_files
from gitmem.indexing.classify import RULE_FILES
from gitmem.indexing.overlay import Overlay, read_stat
from gitmem.indexing.view_derivation import ChangeClassifier, rule_changes
from gitmem.indexing.views import ensure_ruled_view
from gitmem.paths import IndexPaths
from gitmem.store.overlaid_view import OverlaidView
from gitmem.store.uncommitted_ids import FileStat, KnownFile, UncommittedFiles
from gitmem.store.view_file import INDEXED, REASONS, View, ViewEntry

_DAY: Final = 86_400
_LARGE: Final = REASONS.index("large")

_SETTLED_NS: Final = 2_000_000_000
"""Minimum age of a file's last change when it is hashed, for its stat data to identify the content later.

A younger file may change again within the same tick of its file system's clock (two seconds on the coarsest) without a
difference in its stat data, so it is hashed again the next time. Git's index treats "racily clean" entries alike.
"""


def build_overlay(
    location: RepositoryLocation,
    paths: IndexPaths,
    base: View,
    entries: Sequence[StatusEntry],
    known: UncommittedFiles,
    *,
    max_bytes: int,
    deadline: float = math.inf,
    keep: bool = True,
) -> Overlay:
    """Apply uncommitted changes to the view of a tree.

    `known` holds the blob ids of the previous overlay of this working tree. Files larger than `max_bytes` are skipped
    with that reason. Hashing ends at the deadline (`time.monotonic`). `keep` permits writing views. Raises: GitFailed.
    """
    files = _ChangedFiles(location, known, max_bytes, deadline)
    changes = [files.examine(entry) for entry in entries]
    # A change of the rules can affect every path. It gets a view of its own, which is kept and reused until the rules
    # change again; only the remaining changes are overlaid.
    rules = rule_changes(base, changes)
    if rules:
        oids = files.hash([change for change in rules if change.mode is not None])
        identified = [_with_oid(change, oids, files.no_oid) for change in rules]
        base = ensure_ruled_view(location, paths, base, identified, files.paths_by_oid, keep=keep)
        rule_paths = {change.path for change in rules}
        changes = [change for change in changes if change.path not in rule_paths]
    edits = _edit(location, base, files, changes)
    return Overlay(
        view=OverlaidView.of(base, edits) if edits else base,
        files=files.paths_by_oid,
        changes={entry.path: entry.change for entry in entries},
        unhashed=files.unhashed,
        unreadable=files.unreadable,
        uncommitted=known.updated(files.known_files, today()),
        stats=files.stats,
    )


def today() -> int:
    """Return the number of days since 1970."""
    return int(time.time() // _DAY)


def _with_oid(change: TreeChange, oids: Mapping[bytes, str], no_oid: str) -> TreeChange:
    """Add the blob id to a change of the rules. An unreadable file counts as deleted; a link has no content."""
    oid = oids.get(change.path) or (no_oid if change.mode == SYMLINK else None)
    return change._replace(oid=oid) if oid else TreeChange(change.path, None, None)


def _edit(
    location: RepositoryLocation, base: View, files: "_ChangedFiles", changes: Sequence[TreeChange]
) -> dict[bytes, ViewEntry | None]:
    """Return the new entry of each changed path, or None if it has none."""
    classifier = ChangeClassifier(location, base, changes, files.paths_by_oid)
    edits: dict[bytes, ViewEntry | None] = {change.path: None for change in changes}
    # Classified before it is hashed: the content of an excluded file does not matter.
    classified = {change: files.skip_large(classifier.entry(change)) for change in changes if change.mode is not None}
    oids = files.hash([change for change, entry in classified.items() if entry.reason == INDEXED])
    for change, entry in classified.items():
        if entry.reason != INDEXED or change.path in oids:
            edits[change.path] = entry._replace(oid=bytes.fromhex(oids.get(change.path) or files.no_oid))
    return edits


class _ChangedFiles:
    """Changed files of a working tree: which exist, and their blob ids.

    `paths_by_oid` are the blobs of hashed files, `known_files` their ids and stat data for the next overlay, `stats`
    the stat data of all examined files. `no_oid` stands for a blob id that does not matter.
    """

    def __init__(self, location: RepositoryLocation, known: UncommittedFiles, max_bytes: int, deadline: float) -> None:
        self._location = location
        self._known = known
        self._max_bytes = max_bytes
        self._deadline = deadline
        self.no_oid = "0" * (64 if location.object_format == "sha256" else 40)
        self.stats: dict[bytes, FileStat | None] = {}
        self.paths_by_oid: dict[str, bytes] = {}
        self.known_files: dict[bytes, KnownFile] = {}
        self.large: set[bytes] = set()
        self.unhashed = 0
        self.unreadable: list[bytes] = []

    def examine(self, entry: StatusEntry) -> TreeChange:
        """Return the present state of a path.

        The id is None if the file must be hashed, the mode is None if there is nothing that could be indexed.
        """
        if entry.mode is None or entry.oid is not None or entry.mode in (SYMLINK, GITLINK):
            return TreeChange(entry.path, entry.mode, entry.oid)
        found = self.stats[entry.path] = read_stat(self._location, entry.path)
        if found is None or not (stat.S_ISREG(found.mode) or stat.S_ISLNK(found.mode)):
            return TreeChange(entry.path, None, None)
        if found.size > read_limit(language_of(path_text(entry.path)), self._max_bytes):
            if posixpath.basename(entry.path) in RULE_FILES:
                return TreeChange(entry.path, None, None)  # rules are read, so the file must be hashed or absent
            self.large.add(entry.path)
        return TreeChange(entry.path, SYMLINK if stat.S_ISLNK(found.mode) else entry.mode, None)

    def skip_large(self, entry: ViewEntry) -> ViewEntry:
        """Return an entry with the reason `large` if nothing else excludes the file and it is too large."""
        return entry._replace(reason=_LARGE) if entry.reason == INDEXED and entry.path in self.large else entry

    def hash(self, changes: Sequence[TreeChange]) -> dict[bytes, str]:
        """Return blob ids by path, without unreadable files and those that the deadline excludes."""
        oids = {change.path: change.oid for change in changes if change.oid is not None}
        self.known_files |= {path: KnownFile(oid, None) for path, oid in oids.items()}
        paths = [change.path for change in changes if change.oid is None and change.mode != SYMLINK]
        # The stat data from before the hash is recorded: a change between both makes it differ the next time.
        stats = {path: file_stat for path in paths if (file_stat := self.stats[path]) is not None}
        known = {path: self._known.find(path, file_stat) for path, file_stat in stats.items()}
        now = time.time_ns()
        unknown = [path for path, oid in known.items() if oid is None]
        hashed = hash_files(self._location, unknown, deadline=self._deadline)
        self.unhashed += len(unknown) - len(hashed)
        for path, oid in {**known, **hashed}.items():
            if oid is not None:
                file_stat = stats[path]
                settled = now - max(file_stat.modified, file_stat.changed) > _SETTLED_NS
                self.known_files[path] = KnownFile(oid, file_stat if settled else None)
                self.paths_by_oid[oid] = path
                oids[path] = oid
            elif path in hashed and read_stat(self._location, path) is not None:
                self.unreadable.append(path)
        return oids
