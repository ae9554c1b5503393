"""Views: the paths of one tree, each with its blob and language or the reason it is left out.

A view is a function of the tree and of the rules for what is indexed, so its file is named by both and never changes.
Its folder and file names are searchable by word without opening anything else.
"""

import itertools
import posixpath
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.fsio import write_atomic
from gitmem.store.format import Buffer, Container, build_container, damaged, find_container
from gitmem.store.keys import blob_keys
from gitmem.store.postings import ENTRY, PostingList, checked_bounds, posting_sections
from gitmem.words import count_identifiers, terms_of

if TYPE_CHECKING:
    from gitmem.store.rows import Postings

MAGIC: Final = b"GITMEMVW"
PATH_FIELDS: Final = ("stem", "folder")
"""What of a path is searched by words: the file's name without its ending, and the folders."""

INDEXED: Final = 0
REASONS: Final = ("indexed", "binary", "generated", "vendored", "ignored", "symlink", "submodule", "lfs", "excluded")
"""Why a path is left out by its name, mode or attributes. The order is the one stored on disk: append only."""


class ViewEntry(NamedTuple):
    """One path of a tree. `reason` is a place in REASONS; `language` is empty where content decides."""

    path: bytes
    oid: bytes
    language: str
    reason: int


def write_view(
    path: Path, tree: str, entries: Sequence[ViewEntry], postings: "Mapping[str, Postings] | None" = None
) -> None:
    """Publish a view; entries in path order. `postings` are those of `path_postings`, where they are known already."""
    write_atomic(path, [memoryview(part) for part in view_parts(tree, entries, postings)])


def load_view(
    path: Path, tree: str, entries: Sequence[ViewEntry], postings: "Mapping[str, Postings] | None" = None
) -> "View":
    """The same view without a file; `path` is only its name in messages."""
    return View(Container(path, MAGIC, b"".join(view_parts(tree, entries, postings))))


def view_parts(
    tree: str, entries: Sequence[ViewEntry], postings: "Mapping[str, Postings] | None" = None
) -> list[Buffer]:
    """What the file of a view holds; the same entries give the same bytes."""
    return build_container(MAGIC, *view_contents(tree, entries, postings))


def view_contents(
    tree: str, entries: Sequence[ViewEntry], postings: "Mapping[str, Postings] | None" = None
) -> tuple[dict[str, Any], dict[str, Buffer]]:
    """The fields and sections of a view, for a file that holds more than it."""
    languages = sorted({entry.language for entry in entries})
    codes = {name: code for code, name in enumerate(languages)}
    fields: dict[str, Any] = {
        "tree": tree,
        "entries": len(entries),
        "languages": languages,
        "id_bytes": len(entries[0].oid) if entries else 20,
    }
    sections: dict[str, Buffer] = {
        "paths": b"".join(entry.path for entry in entries),
        "path_at": np.cumsum([0, *(len(entry.path) for entry in entries)]).astype("<u4").data,
        "oids": b"".join(entry.oid for entry in entries),
        "language": np.array([codes[entry.language] for entry in entries], "<u2").data,
        "reason": np.array([entry.reason for entry in entries], "<u1").data,
    }
    for name, words in (postings or path_postings(enumerate(entries))).items():
        sections |= posting_sections(name, words, ENTRY)
    return fields, sections


def path_postings(entries: Iterable[tuple[int, ViewEntry]]) -> "dict[str, Postings]":
    """Which words stand in which path, by the numbers that come with the entries; only of paths that are indexed."""
    stems: dict[bytes, list[int]] = defaultdict(list)
    folders: dict[bytes, list[int]] = defaultdict(list)
    for number, entry in entries:
        if entry.reason == INDEXED:
            folder, name = posixpath.split(entry.path)
            folders[folder].append(number)
            stems[name.split(b".")[0] or name].append(number)
    return {"stem": _gather(stems), "folder": _gather(folders)}


def _gather(places: dict[bytes, list[int]]) -> "Postings":
    from gitmem.store.rows import Postings

    numbers: dict[bytes, int] = {}
    term: list[int] = []
    row: list[int] = []
    for text, entries in places.items():
        for word in _path_words(text):
            term += [numbers.setdefault(word, len(numbers))] * len(entries)
            row += entries
    return Postings(list(numbers), np.array(term, np.int32), np.array(row, np.int32), np.ones(len(row), np.uint8))


def _path_words(path: bytes) -> set[bytes]:
    identifiers = count_identifiers(path.decode("utf-8", "replace")).identifiers
    return {word.encode("utf-8", "replace") for identifier in identifiers for word in terms_of(identifier)}


class View:
    """An open view."""

    def __init__(self, container: Container) -> None:
        self._file = container
        try:
            self.tree = str(container.fields["tree"])
            self._count = int(container.fields["entries"])
            self._id_bytes = int(container.fields["id_bytes"])
            self.languages = [str(name) for name in container.fields["languages"]]
            sizes = {"path_at": 4 * (self._count + 1), "oids": self._count * self._id_bytes,
                     "language": 2 * self._count, "reason": self._count}  # fmt: skip
            wrong = [name for name, size in sizes.items() if len(container[name]) != size]
            self._postings = {name: PostingList(container, name, ENTRY, self._count) for name in PATH_FIELDS}
        except (KeyError, TypeError, ValueError, OverflowError) as problem:
            raise damaged(container.path, "it lacks a part of a view") from problem
        if wrong:
            raise damaged(container.path, f"its part `{wrong[0]}` has another size than it says")

    def __len__(self) -> int:
        return self._count

    def check(self) -> None:
        """Read every block. Raises DamagedFile."""
        self._file.check()

    @cached_property
    def oids(self) -> NDArray[np.uint8]:
        """Object ids, [entries, 20 or 32]."""
        return np.frombuffer(self._file["oids"].all(), np.uint8).reshape(self._count, self._id_bytes)

    @cached_property
    def language_codes(self) -> NDArray[np.uint16]:
        """Places in `languages`."""
        codes = np.frombuffer(self._file["language"].all(), "<u2")
        if len(codes) and codes.max() >= len(self.languages):
            raise damaged(self._file.path, "it names a language it does not list")
        return codes

    @cached_property
    def reasons(self) -> NDArray[np.uint8]:
        """Places in REASONS; 0 is indexed."""
        reasons = np.frombuffer(self._file["reason"].all(), np.uint8)
        if len(reasons) and reasons.max() >= len(REASONS):
            raise damaged(self._file.path, "it names a reason that there is not")
        return reasons

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """Blob keys of all entries."""
        return blob_keys(self.oids, self.language_codes, self.languages)

    def path(self, entry: int) -> bytes:
        """One path, without decoding the others."""
        start, end = self._path_at[entry : entry + 2].tolist()
        return bytes(self._file["paths"].read(start, end))

    def find(self, path: bytes) -> int | None:
        """The entry of a path, None where there is none; decodes few others."""
        place = bisect_left(range(len(self)), path, key=self.path)
        return place if place < len(self) and self.path(place) == path else None

    @cached_property
    def _path_at(self) -> NDArray[np.uint32]:
        return checked_bounds(self._file, "path_at", len(self._file["paths"]))

    @cached_property
    def paths(self) -> list[bytes]:
        """All paths, in order."""
        at = self._path_at.tolist()
        joined = bytes(self._file["paths"].all())
        return [joined[start:end] for start, end in itertools.pairwise(at)]

    def find_postings(self, field: str, term: bytes) -> NDArray[np.unsignedinteger] | None:
        """Entries whose path holds a word, ascending."""
        found = self._postings[field].find(term)
        return None if found is None else found[0]

    def load_postings(self, field: str) -> "Postings":
        """All words of a field, as `path_postings` gave them."""
        return self._postings[field].load()

    def language(self, entry: int) -> str:
        """The language asked for at an entry."""
        return self.languages[int(self.language_codes[entry])]

    def oid(self, entry: int) -> str:
        """The object id of an entry, in hex."""
        return bytes(self.oids[entry]).hex()


def find_view(path: Path) -> View | None:
    """Open a view, None where its file is not there. Raises DamagedFile."""
    container = find_container(path, MAGIC)
    return None if container is None else View(container)
