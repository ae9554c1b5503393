"""Views: the paths of one tree, each with its blob, its language, and the reason if it is excluded.

A view is a function of the tree and of the rules for indexing. The file of this module holds all entries of a tree, and
a file of `stored_view` the differences of another tree from it. It contains an inverted index of file and folder names,
so that a search by name opens no other file.
"""

# Segments hold the content of blobs regardless of path; a view maps the paths of one tree to blobs. The two are joined
# at query time by 64-bit keys (store.keys). So a blob in a hundred trees is chunked and embedded once, and another
# revision costs only a new view. The alternative, rows that carry paths, would rewrite rows whenever a file is renamed.

import itertools
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.named_tuple import NamedTuple
from gitmem.store.format import Buffer, Container, build_container, find_container
from gitmem.store.keys import blob_key, blob_keys
from gitmem.store.path_postings import PATH_FIELDS, path_postings
from gitmem.store.posting_writer import posting_sections
from gitmem.store.postings import ENTRY, PostingList, Postings, pack_offsets, read_offsets
from gitmem.store.section import damaged

MAGIC: Final = b"GITMEMVB"

INDEXED: Final = 0
REASONS: Final = ("indexed", "binary", "generated", "vendored", "ignored", "symlink", "submodule", "lfs", "excluded",
                  "credentials", "large")  # fmt: skip
"""Reasons to exclude a path by its name, mode or attributes, or an uncommitted file by its size.

Their indices are stored on disk: append only.
"""

MAX_LANGUAGES: Final = 1 << 14
"""Languages of one file of a view. Codes of two bytes hold those of a base, its edits and the records together."""

_ID_BYTES: Final = 20
"""Bytes of an object id in a view without entries, which does not know them."""


class ViewEntry(NamedTuple):
    """Path of a tree. `reason` is an index into REASONS; `language` is empty if the content determines it."""

    path: bytes
    oid: bytes
    language: str
    reason: int


class ViewColumns(NamedTuple):
    """Entries of a view in path order, as columns; `codes` index into `languages`."""

    paths: Sequence[bytes]
    oids: NDArray[np.uint8]
    languages: Sequence[str]
    codes: NDArray[np.uint16]
    reasons: NDArray[np.uint8]


def columns_of(entries: Sequence[ViewEntry]) -> ViewColumns:
    """Return entries as columns."""
    languages: dict[str, int] = {}
    codes = [languages.setdefault(entry.language, len(languages)) for entry in entries]
    width = len(entries[0].oid) if entries else _ID_BYTES
    return ViewColumns(
        [entry.path for entry in entries],
        np.frombuffer(b"".join(entry.oid for entry in entries), np.uint8).reshape(-1, width),
        list(languages),
        np.array(codes, np.uint16),
        np.array([entry.reason for entry in entries], np.uint8),
    )


def load_view(
    path: Path,
    tree: str,
    entries: Sequence[ViewEntry] | ViewColumns,
    postings: Mapping[str, Postings] | None = None,
) -> "View":
    """Return a view that has no file; entries are in path order, and `path` is used in messages only."""
    return View(Container(path, MAGIC, b"".join(view_parts(tree, entries, postings))))


def view_parts(
    tree: str, entries: Sequence[ViewEntry] | ViewColumns, postings: Mapping[str, Postings] | None = None
) -> list[Buffer]:
    """Return the parts of the file of a view; the same entries give the same bytes.

    `postings` is the result of `path_postings`, if already computed.
    """
    return build_container(MAGIC, *view_contents(tree, entries, postings))


def view_contents(
    tree: str,
    entries: Sequence[ViewEntry] | ViewColumns,
    postings: Mapping[str, Postings] | None = None,
    *,
    has_sorted_keys: bool = True,
) -> tuple[dict[str, Any], dict[str, Buffer]]:
    """Return the fields and sections of a view, for a file that contains more than the view.

    Without `has_sorted_keys` each reader sorts the keys of the blobs.
    """
    columns = _canonical(entries if isinstance(entries, ViewColumns) else columns_of(entries))
    indexed = columns.reasons == INDEXED
    fields: dict[str, Any] = {
        "tree": tree,
        "entries": len(columns.paths),
        "languages": list(columns.languages),
        "id_bytes": columns.oids.shape[1],
    }
    sections: dict[str, Buffer] = {
        "paths": b"".join(columns.paths),
        "path_at": pack_offsets(columns.paths).data,
        "oids": np.ascontiguousarray(columns.oids).data,
        "language": columns.codes.astype("<u2").data,
        "reason": columns.reasons.data,
    }
    if has_sorted_keys:
        # Sorted once here, so that no query sorts the keys of a large tree to join it with the rows.
        keys, order = _sort_keys(blob_keys(columns.oids, columns.codes, columns.languages), indexed)
        sections |= {"sorted_keys": keys.astype("<u8").data, "sorted_entries": order.astype("<u4").data}
    for name, words in (postings or path_postings(columns.paths, indexed)).items():
        sections |= posting_sections(name, words, ENTRY, len(columns.paths))
    return fields, sections


def _sort_keys(keys: NDArray[np.uint64], indexed: NDArray[np.bool_]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the keys of the indexed entries, ascending, and the entries."""
    order = np.flatnonzero(indexed)
    order = order[np.argsort(keys[order], kind="stable")]
    return keys[order], order


def _canonical(columns: ViewColumns) -> ViewColumns:
    """Number the languages in alphabetical order, without unused ones."""
    used = np.flatnonzero(np.bincount(columns.codes, minlength=1)).tolist() if len(columns.codes) else []
    order = sorted(used, key=columns.languages.__getitem__)
    renumbered = np.zeros(len(columns.languages) or 1, np.uint16)
    renumbered[order] = np.arange(len(order))
    return columns._replace(languages=[columns.languages[code] for code in order], codes=renumbered[columns.codes])


class View:
    """Open view whose entries are all in one file."""

    def __init__(self, container: Container) -> None:
        self._file = container
        try:
            self.tree = str(container.fields["tree"])
            self._count = int(container.fields["entries"])
            self._id_bytes = int(container.fields["id_bytes"])
            self.languages = [str(name) for name in container.fields["languages"]]
            sizes = {"path_at": 4 * (self._count + 1), "oids": self._count * self._id_bytes, "reason": self._count,
                     "language": 2 * self._count}  # fmt: skip
            if "sorted_keys" in container:
                sizes["sorted_keys"] = 2 * len(container["sorted_entries"])
            wrong = [name for name, size in sizes.items() if len(container[name]) != size]
            self._postings = {name: PostingList(container, name, ENTRY, self._count) for name in PATH_FIELDS}
        except (KeyError, TypeError, ValueError, OverflowError) as problem:
            raise damaged(container.path, "a section or field is missing") from problem
        if wrong:
            raise damaged(container.path, f"section `{wrong[0]}` has the wrong size")
        if len(self.languages) > MAX_LANGUAGES:
            raise damaged(container.path, "too many languages")

    @property
    def file(self) -> Path:
        """Path of the file."""
        return self._file.path

    @property
    def base(self) -> "View":
        """View of which this one is an edited or extended form: itself if all of its entries are in one file."""
        return self

    def __len__(self) -> int:
        return self._count

    def check(self) -> None:
        """Read every block. Raises DamagedFile."""
        self._file.check()

    def require_as_opened(self) -> None:
        """Raise DamagedFile if a file of the view was truncated or written after it was opened."""
        self._file.require_as_opened()

    def gather(self, join: Callable[["View"], NDArray[Any]]) -> NDArray[Any]:
        """Return one value per entry. `join` computes them for the entries of one file, in their order.

        A view made of several files combines the values of its parts.
        """
        return join(self)

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

    @cached_property
    def sorted_keys(self) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
        """Return the blob keys of the indexed entries, ascending, and the entry of each, ascending if keys repeat."""
        if "sorted_keys" not in self._file:
            keys, order = _sort_keys(self.keys, self.reasons == INDEXED)
            return keys, order.astype(np.uint32)
        entries = self._file["sorted_entries"].numbers("<u4")
        if len(entries) and entries.max() >= self._count:
            raise damaged(self._file.path, "its sorted keys do not match its entries")
        return self._file["sorted_keys"].numbers("<u8"), entries

    def find_blob(self, key: int) -> list[int]:
        """Return the indexed entries with a blob key, ascending."""
        # A search that reads and verifies only the keys it compares takes twice as long for the hits of one query.
        keys, entries = self.sorted_keys
        wanted = np.uint64(key)
        places: list[int] = entries[keys.searchsorted(wanted) : keys.searchsorted(wanted, "right")].tolist()
        return places

    def path(self, entry: int) -> bytes:
        """Return one path, without decoding the others."""
        at = self._file["path_at"].read(4 * entry, 4 * entry + 8)
        return bytes(self._file["paths"].read(int.from_bytes(at[:4], "little"), int.from_bytes(at[4:], "little")))

    def find(self, path: bytes) -> int | None:
        """Return the entry of a path by binary search, or None."""
        place = bisect_left(range(len(self)), path, key=self.path)  # decodes only the paths that the search compares
        return place if place < len(self) and self.path(place) == path else None

    @cached_property
    def paths(self) -> list[bytes]:
        """All paths, in order."""
        at = read_offsets(self._file, "path_at", len(self._file["paths"])).tolist()
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
        code = int.from_bytes(self._file["language"].read(2 * entry, 2 * entry + 2), "little")
        if code >= len(self.languages):
            raise damaged(self._file.path, "unlisted language")
        return self.languages[code]

    def reason(self, entry: int) -> int:
        """Return the reason of an entry, as an index into REASONS."""
        reason = self._file["reason"].read(entry, entry + 1)[0]
        if reason >= len(REASONS):
            raise damaged(self._file.path, "unknown reason")
        return reason

    def oid(self, entry: int) -> str:
        """Return the object id of an entry, in hex."""
        return self._file["oids"].read(entry * self._id_bytes, (entry + 1) * self._id_bytes).hex()

    def entry(self, place: int) -> ViewEntry:
        """Return an entry with all its fields."""
        return ViewEntry(self.path(place), bytes.fromhex(self.oid(place)), self.language(place), self.reason(place))

    def same_blob(self, entry: int) -> list[int]:
        """Return the indexed entries with the blob key of an entry, ascending."""
        return self.find_blob(blob_key(bytes.fromhex(self.oid(entry)), self.language(entry)))

    def columns(self) -> ViewColumns:
        """Return all entries."""
        return ViewColumns(self.paths, self.oids, self.languages, self.language_codes, self.reasons)


def find_file(path: Path) -> View | None:
    """Open a view whose entries are all in one file, or return None if it is missing. Raises DamagedFile."""
    container = find_container(path, MAGIC)
    return None if container is None else View(container)
