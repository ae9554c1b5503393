"""What becomes of a path by the rules of its tree: attributes, ignore lines, and what is left out by default."""

import posixpath
from collections.abc import Mapping
from typing import Final

from gitmem.chunking.languages import language_of
from gitmem.git.attributes import ATTRIBUTES_FILE, AttributeRules, Value, exclusion_reason, is_off
from gitmem.git.excludes import default_exclude
from gitmem.git.ignore import IGNORE_FILE, IgnoreRules
from gitmem.git.locate import Location
from gitmem.git.object_reader import ObjectReader
from gitmem.git.objects import open_reader
from gitmem.git.path_encoding import path_text
from gitmem.git.trees import GITLINK, SYMLINK, TreeEntry
from gitmem.store.view_file import INDEXED, REASONS, ViewEntry

_REASON_CODES: Final = {reason: code for code, reason in enumerate(REASONS)}


class Classifier:
    """Says of each path what becomes of it, by the rules of one tree."""

    @classmethod
    def load(
        cls,
        location: Location,
        entries: list[TreeEntry],
        packages: frozenset[bytes],
        files: Mapping[str, bytes] | None = None,
    ) -> "Classifier":
        """Read the rules of a tree that has these entries, of which only the rule files count.

        `packages` are its package folders, `files` the paths of blobs that are only in the working tree.
        """
        with open_reader(location, bulk=False, files=files) as reader:
            attributes = AttributeRules.load(_rule_files(entries, ATTRIBUTES_FILE, reader))
            ignored = IgnoreRules.load(_rule_files(entries, IGNORE_FILE, reader))
        return cls(attributes, ignored, packages)

    def __init__(self, attributes: AttributeRules, ignored: IgnoreRules, packages: frozenset[bytes]) -> None:
        self._packages = packages
        self._attributes = attributes
        self._ignored = ignored

    def entry(self, entry: TreeEntry) -> ViewEntry:
        """The entry of a view that a file, link or submodule gives."""
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
    told = exclusion_reason(attributes)
    if told or ignored:
        return told or "ignored"
    if ignored is False:
        return ""
    reason = default_exclude(path, packages) or ""
    return "" if reason and is_off(attributes.get(f"linguist-{reason}")) else reason


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
