"""A tree as it stands with uncommitted work: its view under the edits, and where the contents are that git lacks.

Each changed file is named by the blob id that a commit would give it, so that committing it costs nothing. What is left
out by its name or by attributes is never hashed, and neither is what is too large to be indexed. Files that are gone
by the time they are looked at count as gone.
"""

import math
import stat
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

from gitmem.git.excludes import may_be_output, package_folders
from gitmem.git.locate import Location
from gitmem.git.status import StatusEntry
from gitmem.git.trees import GITLINK, SYMLINK, TreeChange, TreeEntry
from gitmem.git.working_files import hash_files
from gitmem.indexing.classify import Classifier
from gitmem.indexing.overlaid_view import OverlaidView
from gitmem.indexing.overlay import Overlay, read_stat
from gitmem.indexing.view_derivation import rule_changes, rule_entries_above
from gitmem.indexing.views import ensure_ruled_view
from gitmem.paths import IndexPaths
from gitmem.store.uncommitted_ids import FileStat, KnownFile, UncommittedFiles
from gitmem.store.view_file import INDEXED, REASONS, View, ViewEntry

_LINKS: Final = (REASONS.index("symlink"), REASONS.index("submodule"))
_DAY: Final = 86_400

_SETTLED_NS: Final = 2_000_000_000
"""A file that was changed less than this long before it was hashed may change again within the same tick of its file
system's clock (two seconds on the coarsest), and would look the same: it is hashed again the next time."""


def lay_over(
    location: Location,
    paths: IndexPaths,
    base: View,
    entries: Sequence[StatusEntry],
    known: UncommittedFiles,
    *,
    max_bytes: int,
    deadline: float = math.inf,
    keep: bool = True,
) -> Overlay:
    """Put what is uncommitted over the view of a tree.

    `known` is the record of the last look; files larger than `max_bytes` are left out. Hashing ends at the deadline
    (`time.monotonic`). `keep` says whether views may be written. Raises GitFailed.
    """
    files = _Files(location, known, max_bytes, deadline)
    found = [files.look_at(entry) for entry in entries]
    rules = rule_changes(base, found)
    if rules:
        hashed = files.hash([change for change in rules if change.mode is not None])
        named = [_with_id(change, hashed, files.no_id) for change in rules]
        base = ensure_ruled_view(location, paths, base.tree, named, files.read, keep=keep)
        ruled = {change.path for change in rules}
        found = [change for change in found if change.path not in ruled]
    edits = _edit(location, base, files, found)
    return Overlay(
        view=OverlaidView(base, edits) if edits else base,
        files=files.read,
        changes={entry.path: entry.change for entry in entries},
        unhashed=files.unhashed,
        unreadable=files.unreadable,
        uncommitted=known.updated(files.seen, today()),
        stats=files.stats,
    )


def today() -> int:
    """Days since 1970."""
    return int(time.time() // _DAY)


def _with_id(change: TreeChange, hashed: Mapping[bytes, str], no_id: str) -> TreeChange:
    """A change of the rules as the tree would have it; a file that cannot be read is none, a link has no content."""
    oid = hashed.get(change.path) or (no_id if change.mode == SYMLINK else None)
    return change._replace(oid=oid) if oid else TreeChange(change.path, None, None)


def _edit(
    location: Location, base: View, files: "_Files", found: Sequence[TreeChange]
) -> dict[bytes, ViewEntry | None]:
    """The entry that each changed path has from now on, None where it has none."""
    judge = _Judge(location, base, files.read, found)
    edits: dict[bytes, ViewEntry | None] = {change.path: None for change in found}
    judged = {change: judge.entry(change) for change in found if change.mode is not None}
    hashed = files.hash([change for change, made in judged.items() if made.reason == INDEXED])
    for change, made in judged.items():
        if made.reason != INDEXED or change.path in hashed:
            edits[change.path] = made._replace(oid=bytes.fromhex(hashed.get(change.path) or files.no_id))
    return edits


class _Judge:
    """Says of changed paths what becomes of them. A file that was there before is judged as it was: by its path."""

    def __init__(
        self, location: Location, base: View, files: Mapping[str, bytes], changes: Sequence[TreeChange]
    ) -> None:
        self._location = location
        self._base = base
        self._files = files
        self._paths = [change.path for change in changes]

    def entry(self, change: TreeChange) -> ViewEntry:
        """The entry of a path in the view, but for its blob id."""
        mode = change.mode or 0
        place = self._base.find(change.path)
        if place is not None and mode not in (SYMLINK, GITLINK):
            reason = int(self._base.reasons[place])
            if reason not in _LINKS:
                return ViewEntry(change.path, b"", self._base.language(place), reason)
        return self._classifier.entry(TreeEntry(change.path, mode, ""))

    @cached_property
    def _classifier(self) -> Classifier:
        """Knows the rules for the changed paths alone: a large tree has hundreds of others."""
        built = any(map(may_be_output, self._paths))
        packages = package_folders(self._base.paths) if built else package_folders(())
        return Classifier.load(self._location, rule_entries_above(self._base, self._paths), packages, self._files)


class _Files:
    """Changed files of a working tree: which of them are there, and the blobs they hold.

    `read` are blobs and their paths, `seen` what is known of each file for the next time.
    """

    def __init__(self, location: Location, known: UncommittedFiles, max_bytes: int, deadline: float) -> None:
        self._location = location
        self._known = known
        self._max_bytes = max_bytes
        self._deadline = deadline
        self.stats: dict[bytes, FileStat | None] = {}
        self.no_id = "0" * (64 if location.object_format == "sha256" else 40)
        self.read: dict[str, bytes] = {}
        self.seen: dict[bytes, KnownFile] = {}
        self.unhashed = 0
        self.unreadable: list[bytes] = []

    def look_at(self, entry: StatusEntry) -> TreeChange:
        """What stands at a path now: its id is None where it is not known yet, its mode where nothing is there that
        could be indexed."""
        if entry.mode is None or entry.oid is not None or entry.mode in (SYMLINK, GITLINK):
            return TreeChange(entry.path, entry.mode, entry.oid)
        look = self.stats[entry.path] = read_stat(self._location, entry.path)
        if look is None or not (stat.S_ISREG(look.mode) or stat.S_ISLNK(look.mode)) or look.size > self._max_bytes:
            return TreeChange(entry.path, None, None)
        return TreeChange(entry.path, SYMLINK if stat.S_ISLNK(look.mode) else entry.mode, None)

    def hash(self, changes: Sequence[TreeChange]) -> dict[bytes, str]:
        """The blob ids of files by path, without those that cannot be read or that there is no time for."""
        oids = {change.path: change.oid for change in changes if change.oid is not None}
        self.seen |= {path: KnownFile(oid, None) for path, oid in oids.items()}
        wanted = [change.path for change in changes if change.oid is None and change.mode != SYMLINK]
        stamps = {path: look for path in wanted if (look := self.stats[path]) is not None}
        known = {path: self._known.find(path, stamp) for path, stamp in stamps.items()}
        now = time.time_ns()
        unknown = [path for path, oid in known.items() if oid is None]
        hashed = hash_files(self._location, unknown, deadline=self._deadline)
        self.unhashed += len(unknown) - len(hashed)
        for path, oid in {**known, **hashed}.items():
            if oid is not None:
                stamp = stamps[path]
                settled = now - max(stamp.modified, stamp.changed) > _SETTLED_NS
                self.seen[path] = KnownFile(oid, stamp if settled else None)
                self.read[oid] = path
                oids[path] = oid
            elif path in hashed and read_stat(self._location, path) is not None:
                self.unreadable.append(path)
        return oids
