"""From a tree to its view: which paths are indexed, in which language, and why the others are not.

All rules come from the tree itself (`.gitattributes`, `.gitmemignore`) and from the defaults, so a view is the same
on every machine.
"""

import posixpath
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from gitmem.chunking.languages import language_of
from gitmem.errors import DamagedFile, GitFailed, NewerFormat
from gitmem.git.attributes import ATTRIBUTES_FILE, AttributeRules, Value, exclusion, is_off
from gitmem.git.excludes import default_exclude, package_folders
from gitmem.git.ignore import IGNORE_FILE, IgnoreRules
from gitmem.git.locate import Location
from gitmem.git.names import path_text
from gitmem.git.objects import ObjectReader, open_reader
from gitmem.git.trees import GITLINK, SYMLINK, TreeEntry, diff_trees, read_tree
from gitmem.indexing.derive import Parts, derive, rule_entries, same_rules
from gitmem.indexing.identity import view_key
from gitmem.paths import IndexPaths
from gitmem.store.view import INDEXED, REASONS, View, ViewEntry, find_view, load_view, write_view

_REASON_CODES: Final = {reason: code for code, reason in enumerate(REASONS)}


def ensure_view(location: Location, paths: IndexPaths, tree: str, *, check: bool = False, base: str = "") -> View:
    """Open the view of a tree, making it first where there is none or only a damaged one; `check` reads all of it.

    `base` is the key of a view that is probably much like it.
    """
    target = paths.view(view_key(tree))
    with suppress(DamagedFile, NewerFormat):
        view = find_view(target)
        if view is not None:
            if check:
                view.check()
            return view
    parts = _derive(location, paths, tree, base) if base else None
    if parts is not None:
        write_view(target, tree, parts.entries, parts.postings)
    else:
        write_view(target, tree, build_view(location, tree))
    view = find_view(target)
    assert view is not None, "it was written just now"
    return view


def peek_view(location: Location, paths: IndexPaths, tree: str) -> View:
    """Open the view of a tree, or build it in memory where there is none; writes nothing."""
    target = paths.view(view_key(tree))
    with suppress(DamagedFile):
        view = find_view(target)
        if view is not None:
            return view
    return load_view(target, tree, build_view(location, tree))


def build_view(location: Location, tree: str) -> list[ViewEntry]:
    """Classify every path of a tree."""
    entries = sorted(read_tree(location, tree))
    classify = _Classifier.load(location, entries, package_folders(entry.path for entry in entries))
    return [classify.entry(entry) for entry in entries]


def _derive(location: Location, paths: IndexPaths, tree: str, base: str) -> Parts | None:
    """The view of a tree out of that of another; None where that is gone, or other rules hold now."""
    with suppress(DamagedFile, NewerFormat, GitFailed):
        old = find_view(paths.view(base))
        if old is None or view_key(old.tree) != base:
            return None
        changes = diff_trees(location, old.tree, tree)
        if same_rules(old, changes):
            return derive(old, changes, _Classifier.load(location, rule_entries(old), package_folders(old.paths)).entry)
    return None


def _rule_files(entries: list[TreeEntry], name: bytes, reader: ObjectReader) -> dict[bytes, bytes]:
    """Contents of the rule files of a tree by folder."""
    tail = b"/" + name
    found = [entry for entry in entries if entry.path == name or entry.path.endswith(tail)]
    files = {}
    for entry in found:
        content = reader.read(entry.oid) if entry.mode not in (SYMLINK, GITLINK) else None
        if content is not None:
            files[posixpath.dirname(entry.path)] = content
    return files


class _Classifier:
    """Says of each path what becomes of it, by the rules of one tree."""

    @classmethod
    def load(cls, location: Location, entries: list[TreeEntry], packages: frozenset[bytes]) -> "_Classifier":
        """Read the rules of a tree that has these entries, of which only the rule files count."""
        with open_reader(location, bulk=False) as reader:
            attributes = AttributeRules.load(_rule_files(entries, ATTRIBUTES_FILE, reader))
            ignored = IgnoreRules.load(_rule_files(entries, IGNORE_FILE, reader))
        return cls(attributes, ignored, packages)

    def __init__(self, attributes: AttributeRules, ignored: IgnoreRules, packages: frozenset[bytes]) -> None:
        self._packages = packages
        self._attributes = attributes
        self._ignored = ignored

    def entry(self, entry: TreeEntry) -> ViewEntry:
        language, reason = self._classify(entry)
        return ViewEntry(entry.path, bytes.fromhex(entry.oid), language, _REASON_CODES[reason])

    def _classify(self, entry: TreeEntry) -> tuple[str, str]:
        if entry.mode == GITLINK:
            return "", "submodule"
        if entry.mode == SYMLINK:
            return "", "symlink"
        attributes = self._attributes.of(entry.path)
        reason = _reason(entry.path, attributes, self._ignored.verdict(entry.path), self._packages)
        if reason:
            return "", reason
        named = attributes.get("linguist-language")
        language = str(named).lower() if named and named is not True else language_of(path_text(entry.path))
        return language, REASONS[INDEXED]


def _reason(path: bytes, attributes: Mapping[str, Value], ignored: bool | None, packages: frozenset[bytes]) -> str:
    """Why a regular file is left out. A default exclude yields to an attribute or an ignore line (`!`) that says so."""
    if attributes.get("filter") == "lfs":
        return "lfs"
    told = exclusion(attributes)
    if told or ignored:
        return told or "ignored"
    if ignored is False:
        return ""
    reason = default_exclude(path, packages) or ""
    return "" if reason and is_off(attributes.get(f"linguist-{reason}")) else reason
