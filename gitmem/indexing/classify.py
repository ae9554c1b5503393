"""Classify the paths of a tree by its rules: attributes, patterns, languages and the default excludes."""

import os
import posixpath
from collections.abc import Container, Mapping, Sequence
from typing import Final

import numpy as np

from gitmem.chunking.content_language import labelled_language
from gitmem.chunking.languages import language_named, language_of
from gitmem.content_rules import TEAM_FILE, ContentRules, parse_team_file
from gitmem.errors import ConfigError
from gitmem.git.attributes import ATTRIBUTES_FILE, AttributeRules, Value, exclusion_reason, is_off
from gitmem.git.excludes import default_exclude, package_folders
from gitmem.git.ignore import IGNORE_FILE, IgnoreRules
from gitmem.git.locate import RepositoryLocation
from gitmem.git.object_reader import ObjectReader
from gitmem.git.objects import open_reader
from gitmem.git.path_encoding import path_text
from gitmem.git.tree_listing import TreeListing, list_tree
from gitmem.git.trees import GITLINK, SYMLINK, TreeEntry
from gitmem.store.view_file import INDEXED, REASONS, ViewColumns, ViewEntry

TEAM_NAME: Final = TEAM_FILE.encode()
RULE_FILES: Final = frozenset((ATTRIBUTES_FILE, IGNORE_FILE, TEAM_NAME))
"""Names of the files with rules. The last counts at the root only."""

_REASON_CODES: Final = {reason: code for code, reason in enumerate(REASONS)}
_NOTEBOOK: Final = b".ipynb"


def load_classifier(location: RepositoryLocation, listing: TreeListing) -> "Classifier":
    """Return the classifier by the rules of a tree. Raises: GitFailed."""
    names = tuple(RULE_FILES)
    rules = [
        TreeEntry(path, int(listing.modes[place]), listing.oids[place].tobytes().hex())
        for place, path in enumerate(listing.paths)
        if path.endswith(names)
    ]
    return Classifier.load(location, rules, package_folders(listing.paths))


def classify_tree(location: RepositoryLocation, tree: str) -> ViewColumns:
    """Classify every path of a tree. Raises: GitFailed."""
    listing = list_tree(location, tree)
    classifier = load_classifier(location, listing)
    languages: dict[str, int] = {}
    codes, reasons = np.empty(len(listing.paths), np.uint16), np.empty(len(listing.paths), np.uint8)
    for place, (path, mode) in enumerate(zip(listing.paths, listing.modes.tolist(), strict=True)):
        language, reason = classifier.classify(path, mode)
        codes[place] = languages.setdefault(language, len(languages))
        reasons[place] = _REASON_CODES[reason]
    return ViewColumns(listing.paths, listing.oids, list(languages), codes, reasons)


class Classifier:
    """Decides by the rules of one tree whether a path is indexed, and in which language."""

    @classmethod
    def load(
        cls,
        location: RepositoryLocation,
        entries: list[TreeEntry],
        packages: Container[bytes],
        files: Mapping[str, bytes] | None = None,
    ) -> "Classifier":
        """Read the rule files among the entries of a tree; other entries are ignored.

        `packages` are the package folders of the tree. `files` are the paths, by blob id, of blobs that exist only in
        the working tree.
        """
        with open_reader(location, bulk=False, files=files) as reader:
            attributes = AttributeRules.load(_rule_files(entries, ATTRIBUTES_FILE, reader))
            ignored = IgnoreRules.load(_rule_files(entries, IGNORE_FILE, reader))
            team = _rule_files(entries, TEAM_NAME, reader).get(b"", b"")
        return cls(attributes, ignored, packages, [ContentFilter(rules) for rules in (location.content, _team(team))])

    def __init__(
        self,
        attributes: AttributeRules,
        ignored: IgnoreRules,
        packages: Container[bytes],
        filters: Sequence["ContentFilter"] = (),
    ) -> None:
        self._filters = [each for each in filters if each.is_active]
        self._packages = packages
        self._attributes = attributes
        self._ignored = ignored

    def entry(self, entry: TreeEntry) -> ViewEntry:
        """Return the view entry of a file, link or submodule."""
        language, reason = self.classify(entry.path, entry.mode)
        return ViewEntry(entry.path, bytes.fromhex(entry.oid), language, _REASON_CODES[reason])

    def classify(self, path: bytes, mode: int) -> tuple[str, str]:
        """Return the language of a path, and the reason if it is excluded or `indexed`."""
        if mode == GITLINK:
            return "", "submodule"
        if mode == SYMLINK:
            return "", "symlink"
        attributes = self._attributes.of(path)
        reason = _exclusion_reason(path, attributes, self._ignored.verdict(path), self._packages)
        if reason:
            return "", reason
        label = attributes.get("linguist-language")
        language = language_of(path_text(path))
        if isinstance(label, str):
            language = labelled_language(language, label)
        if any(not each.passes(path, language) for each in self._filters):
            return "", "excluded"
        return language, REASONS[INDEXED]


class ContentFilter:
    """Content rules, compiled."""

    def __init__(self, rules: ContentRules) -> None:
        self.is_active = any(rules)
        self._include = _patterns(rules.include)
        self._exclude = _patterns(rules.exclude)
        self._languages = frozenset(map(language_named, rules.languages))

    def passes(self, path: bytes, language: str) -> bool:
        """Return whether a file of a language is indexed. As in git, a pattern of a folder matches all below it."""
        if self._exclude is not None and self._exclude.matches(path):
            return False
        if self._include is not None and not self._include.matches(path):
            return False
        return not self._languages or language in self._languages


def _patterns(lines: Sequence[str]) -> IgnoreRules | None:
    return IgnoreRules.load({b"": os.fsencode("\n".join(lines))}) if lines else None


def _team(data: bytes) -> ContentRules:
    """Return the rules of a tree's file. An invalid one counts as none: nobody can correct an old revision.

    In the working tree, an invalid file ends every command.
    """
    try:
        return parse_team_file(data)
    except ConfigError:
        return ContentRules()


def _exclusion_reason(
    path: bytes, attributes: Mapping[str, Value], ignored: bool | None, packages: Container[bytes]
) -> str:
    """Return why a regular file is excluded, or "" if it is indexed.

    An attribute or a `!` line of the ignore file overrides a default exclude.
    """
    # The order of precedence: LFS pointers hold no text at all, explicit rules come before the defaults.
    if attributes.get("filter") == "lfs":
        return "lfs"
    reason = exclusion_reason(attributes)
    # Notebooks are often labelled because their size dominates the statistics of a forge.
    if reason in ("generated", "vendored") and path.endswith(_NOTEBOOK):
        reason = None
    if reason or ignored:
        return reason or "ignored"
    if ignored is False:
        return ""
    default = default_exclude(path, packages) or ""
    return "" if default and is_off(attributes.get(f"linguist-{default}")) else default


def _rule_files(entries: list[TreeEntry], name: bytes, reader: ObjectReader) -> dict[bytes, bytes]:
    """Return the contents of a tree's rule files of a name, by folder."""
    tail = b"/" + name
    files = {}
    for entry in entries:
        if (entry.path != name and not entry.path.endswith(tail)) or entry.mode in (SYMLINK, GITLINK):
            continue  # git does not follow a link named like a rule file either
        content = reader.read(entry.oid)
        if content is not None:
            files[posixpath.dirname(entry.path)] = content
    return files
