"""Views: the paths of one tree, each with its blob, its language, and the reason if it is excluded.

A view is a function of the tree and of the rules for indexing, so its file is named by a hash of both and never
changes. It contains an inverted index of file and folder names, so that a search by name opens no other file.
"""

# Segments hold the content of blobs regardless of path; a view maps the paths of one tree to blobs. The two are joined
# at query time by 64-bit keys (store.keys). So a blob in a hundred trees is chunked and embedded once, and another
# revision costs only a new view. The alternative, rows that carry paths, would rewrite rows whenever a file is renamed.

import itertools
import posixpath
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.fsio import write_atomic
from gitmem.store.format import Buffer, Container, build_container, damaged, find_container
from gitmem.store.keys import blob_keys
from gitmem.store.posting_writer import posting_sections
from gitmem.store.postings import ENTRY, PostingList, Postings, read_offsets
from gitmem.words import count_identifiers, terms_of

MAGIC: Final = b"GITMEMVW"
PATH_FIELDS: Final = ("stem", "folder")
"""Fields of a path in the lexical index: the file name without its extension, and the folders."""

INDEXED: Final = 0
REASONS: Final = ("indexed", "binary", "generated", "vendored", "ignored", "symlink", "submodule", "lfs", "excluded",
                  "credentials")  # fmt: skip
"""Reasons to exclude a path by its name, mode or attributes. Their indices are stored on disk: append only."""


class ViewEntry(NamedTuple):
    """Path of a tree. `reason` is an index into REASONS; `language` is empty if the content determines it."""

    path: bytes
    oid: bytes
    language: str
    reason: int


def write_view(
    path: Path, tree: str, entries: Sequence[ViewEntry], postings: Mapping[str, Postings] | None = None
) -> None:
    """Publish a view; entries in path order. `postings` is the result of `path_postings`, if already computed.

    Raises: StorageFailed.
    """
    write_atomic(path, [memoryview(part) for part in view_parts(tree, entries, postings)])


def load_view(
    path: Path, tree: str, entries: Sequence[ViewEntry], postings: Mapping[str, Postings] | None = None
) -> "View":
    """Return the same view without writing a file; `path` is used in messages only."""
    return View(Container(path, MAGIC, b"".join(view_parts(tree, entries, postings))))


def view_parts(tree: str, entries: Sequence[ViewEntry], postings: Mapping[str, Postings] | None = None) -> list[Buffer]:
    """Return the parts of the file of a view; the same entries give the same bytes."""
    return build_container(MAGIC, *view_contents(tree, entries, postings))


def view_contents(
    tree: str, entries: Sequence[ViewEntry], postings: Mapping[str, Postings] | None = None
) -> tuple[dict[str, Any], dict[str, Buffer]]:
    """Return the fields and sections of a view, for a file that contains more than the view."""
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
        sections |= posting_sections(name, words, ENTRY, len(entries))
    return fields, sections


def path_postings(entries: Iterable[tuple[int, ViewEntry]]) -> dict[str, Postings]:
    """Return the postings of the words of indexed paths; their rows are the numbers of the entries."""
    stems: dict[bytes, list[int]] = defaultdict(list)
    folders: dict[bytes, list[int]] = defaultdict(list)
    for number, entry in entries:
        if entry.reason == INDEXED:
            folder, name = posixpath.split(entry.path)
            folders[folder].append(number)
            stems[name.split(b".")[0] or name].append(number)
    return {"stem": _gather(stems), "folder": _gather(folders)}


def _gather(places: dict[bytes, list[int]]) -> Postings:
    numbers: dict[bytes, int] = {}
    term: list[int] = []
    row: list[int] = []
    for text, entries in places.items():  # many files share a folder, so each text is split into words once
        for word in _path_words(text):
            term += [numbers.setdefault(word, len(numbers))] * len(entries)
            row += entries
    return Postings(list(numbers), np.array(term, np.int32), np.array(row, np.int32), np.ones(len(row), np.uint8))


def _path_words(path: bytes) -> set[bytes]:
    identifiers = count_identifiers(path.decode("utf-8", "replace")).identifiers
    return {word.encode("utf-8", "replace") for identifier in identifiers for word in terms_of(identifier)}


class View:
    """Open view."""

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
            raise damaged(container.path, "a section or field is missing") from problem
        if wrong:
            raise damaged(container.path, f"section `{wrong[0]}` has the wrong size")

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
        """Language of each entry, as indices into `languages`."""
        codes = np.frombuffer(self._file["language"].all(), "<u2")
        if len(codes) and codes.max() >= len(self.languages):
            raise damaged(self._file.path, "unlisted language")
        return codes

    @cached_property
    def reasons(self) -> NDArray[np.uint8]:
        """Reason of each entry, as indices into REASONS; 0 is indexed."""
        reasons = np.frombuffer(self._file["reason"].all(), np.uint8)
        if len(reasons) and reasons.max() >= len(REASONS):
            raise damaged(self._file.path, "unknown reason")
        return reasons

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """Blob keys of all entries."""
        return blob_keys(self.oids, self.language_codes, self.languages)

    def path(self, entry: int) -> bytes:
        """Return one path, without decoding the others."""
        start, end = self._path_at[entry : entry + 2].tolist()
        return bytes(self._file["paths"].read(start, end))

    def find(self, path: bytes) -> int | None:
        """Return the entry of a path by binary search, or None."""
        place = bisect_left(range(len(self)), path, key=self.path)  # decodes only the paths that the search compares
        return place if place < len(self) and self.path(place) == path else None

    @cached_property
    def _path_at(self) -> NDArray[np.uint32]:
        return read_offsets(self._file, "path_at", len(self._file["paths"]))

    @cached_property
    def paths(self) -> list[bytes]:
        """All paths, in order."""
        at = self._path_at.tolist()
        joined = bytes(self._file["paths"].all())
        return [joined[start:end] for start, end in itertools.pairwise(at)]

    def find_postings(self, field: str, term: bytes) -> NDArray[np.unsignedinteger] | None:
        """Return the entries whose path contains a word, ascending; None if it does not occur."""
        postings = self._postings[field].find(term)
        return None if postings is None else postings[0]

    def load_postings(self, field: str) -> Postings:
        """Return all postings of a field, as `path_postings` computes them."""
        return self._postings[field].load()

    def language(self, entry: int) -> str:
        """Return the language of an entry."""
        return self.languages[int(self.language_codes[entry])]

    def oid(self, entry: int) -> str:
        """Return the object id of an entry, in hex."""
        return bytes(self.oids[entry]).hex()


def find_view(path: Path) -> View | None:
    """Open a view, or return None if its file is missing. Raises DamagedFile."""
    container = find_container(path, MAGIC)
    return None if container is None else View(container)
