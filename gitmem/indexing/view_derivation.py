"""Derive the view of a tree from that of a similar one: only what the differences affect is classified.

The result equals the view that classifying the whole tree gives, entry by entry. Differences may change the rules
themselves: then the paths below the folder of the rule are classified again.
"""

import posixpath
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from gitmem.git.excludes import OUTPUT_FOLDERS, names_package
from gitmem.git.locate import RepositoryLocation
from gitmem.git.trees import FILE, GITLINK, SYMLINK, TreeChange, TreeEntry
from gitmem.indexing.classify import RULE_FILES, Classifier
from gitmem.store.overlaid_view import EditedEntries
from gitmem.store.view_file import REASONS, View, ViewEntry

_SLASH: Final = ord("/")
# A view does not store modes; rules depend on no others than these.
_MODES: Final = {REASONS.index("symlink"): SYMLINK, REASONS.index("submodule"): GITLINK}


def rule_changes(old: View, changes: Iterable[TreeChange]) -> list[TreeChange]:
    """Return the changes that may affect the classification of other paths.

    These are changes of rule files, and files by which a folder becomes a package or stops being one.
    """
    return [change for change in changes if _is_rule_file(change.path) or _moves_package(old, change)]


def _is_rule_file(path: bytes) -> bool:
    return posixpath.basename(path) in RULE_FILES


def _moves_package(old: View, change: TreeChange) -> bool:
    folder, name = posixpath.split(change.path)
    # The top of a tree always counts as a package.
    return bool(folder) and names_package(name) and (change.mode is None or old.find(change.path) is None)


def derive(
    location: RepositoryLocation, old: View, changes: Sequence[TreeChange], files: Mapping[str, bytes] | None = None
) -> EditedEntries:
    """Return the edits of a view that lead to the view of the tree after some changes.

    `files` are the paths, by blob id, of blobs that exist only in the working tree. Raises: GitFailed.
    """
    classifier = ChangeClassifier(location, old, changes, files or {})
    edits: dict[bytes, ViewEntry | None] = {entry.path: entry for entry in classifier.iter_reclassified()}
    for change in changes:
        exists = change.mode is not None and change.oid is not None
        edits[change.path] = classifier.entry(change) if exists else None
    return edits


class ChangeClassifier:
    """Classifies paths of a tree that differs from the tree of a view by some changes."""

    def __init__(
        self, location: RepositoryLocation, old: View, changes: Sequence[TreeChange], files: Mapping[str, bytes]
    ) -> None:
        self._location = location
        self._old = old
        self._changes = {change.path: change for change in changes}
        self._files = files
        self._folders = _affected_folders(rule_changes(old, changes))

    def entry(self, change: TreeChange) -> ViewEntry:
        """Return the new entry of a path; its blob id is empty if the change has none."""
        mode, oid = change.mode or 0, change.oid or ""
        # The class of a regular file depends on its path and the rules only.
        place = self._old.find(change.path)
        if place is not None and mode not in (SYMLINK, GITLINK) and not self._is_affected(change.path):
            reason = self._old.reason(place)
            if reason not in _MODES:
                return ViewEntry(change.path, bytes.fromhex(oid), self._old.language(place), reason)
        return self._classifier.entry(TreeEntry(change.path, mode, oid))

    def _is_affected(self, path: bytes) -> bool:
        if not self._folders:
            return False
        ends = (place + 1 for place, byte in enumerate(path) if byte == _SLASH)
        return b"" in self._folders or any(path[:end] in self._folders for end in ends)

    def iter_reclassified(self) -> Iterator[ViewEntry]:
        """Yield the unchanged files that changed rules classify otherwise."""
        places = list(self._iter_affected())
        if not places:
            return
        old = self._old
        path_at = old.paths.__getitem__ if len(places) > len(old) // 20 else old.path
        languages, reasons = old.language_codes.tolist(), old.reasons.tolist()
        for place in places:
            path = path_at(place)
            if path not in self._changes:
                mode = _MODES.get(reasons[place], FILE)
                entry = self._classifier.entry(TreeEntry(path, mode, ""))
                if (entry.language, entry.reason) != (old.languages[languages[place]], reasons[place]):
                    yield entry._replace(oid=bytes.fromhex(old.oid(place)))

    def _iter_affected(self) -> Iterator[int]:
        end = 0
        for folder in sorted(self._folders):
            start = max(end, _find_start(self._old, folder))
            end = max(end, _find_end(self._old, folder))
            yield from range(start, end)

    @cached_property
    def _classifier(self) -> Classifier:
        """Classifier with the rules that apply to changed and affected paths: a large tree has hundreds of others."""
        above = _folders_above([*self._changes, *(folder + b"x" for folder in self._folders)])
        candidates = (posixpath.join(folder, name) for folder in above for name in RULE_FILES)
        places = {place for path in candidates if (place := self._old.find(path)) is not None}
        places |= {place for place in self._iter_affected() if _is_rule_file(self._old.path(place))}
        entries = [_tree_entry(self._old, place) for place in sorted(places)]
        entries = [entry for entry in entries if entry.path not in self._changes]
        entries += [
            TreeEntry(path, change.mode, change.oid)
            for path, change in self._changes.items()
            if change.mode is not None and change.oid is not None and _is_rule_file(path)
        ]
        return Classifier.load(self._location, entries, _Packages(self._old, self._changes), self._files)


def _affected_folders(rules: Iterable[TreeChange]) -> set[bytes]:
    """Return the folders, each with a final slash, whose files changed rules may classify otherwise; b"" is all."""
    folders = set()
    for change in rules:
        folder, slash, name = change.path.rpartition(b"/")
        if name in RULE_FILES:
            folders.add(folder + slash)
        else:  # a package: only its folders for output are affected
            folders |= {folder + slash + output + b"/" for output in OUTPUT_FOLDERS}
    return folders


def _folders_above(paths: Iterable[bytes]) -> set[bytes]:
    folders = {b""}
    for path in paths:
        while (path := posixpath.dirname(path)) not in folders:
            folders.add(path)
    return folders


def _find_start(view: View, folder: bytes) -> int:
    """Return the first entry below a folder with a final slash."""
    return bisect_left(range(len(view)), folder, key=view.path)


def _find_end(view: View, folder: bytes) -> int:
    """Return the entry after the last one below a folder with a final slash."""
    # "0" follows "/" in ASCII.
    return _find_start(view, folder[:-1] + b"0") if folder else len(view)


def _tree_entry(view: View, place: int) -> TreeEntry:
    return TreeEntry(view.path(place), _MODES.get(view.reason(place), FILE), view.oid(place))


class _Packages:
    """Folders that contain a package's manifest, and the top, in the tree of a view after some changes.

    Which folders those are is found out for the few that classification asks about, not for the whole tree.
    """

    def __init__(self, old: View, changes: Mapping[bytes, TreeChange]) -> None:
        self._old = old
        self._changes = changes
        self._known: dict[bytes, bool] = {b"": True}

    def __contains__(self, folder: object) -> bool:
        assert isinstance(folder, bytes)
        if folder not in self._known:
            self._known[folder] = any(map(names_package, self._iter_names(folder + b"/")))
        return self._known[folder]

    def _iter_names(self, folder: bytes) -> Iterator[bytes]:
        """Yield the names of the files directly in a folder."""
        for path, change in self._changes.items():
            if path.startswith(folder) and change.mode is not None:
                name = path.removeprefix(folder)
                if b"/" not in name:
                    yield name
        place = _find_start(self._old, folder)
        while place < len(self._old) and (path := self._old.path(place)).startswith(folder):
            name, slash, _ = path.removeprefix(folder).partition(b"/")
            if slash:
                place = _find_end(self._old, folder + name + b"/")
                continue
            if path not in self._changes:
                yield name
            place += 1
