"""When each chunk of the past lived: from the commit that introduced it to the one that removed or changed it.

Computed from the versions of files (`git.version_log`) and the chunks in each (`past_rows`), and kept in one file with
the view of the versions. The file is a cache: it is valid for the bounds that it names, and is written last. For a tip
that follows its own, only the new commits are added.
"""

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.errors import DamagedFile, NewerFormat
from gitmem.fsio import write_atomic
from gitmem.git.version_log import CommitVersions
from gitmem.indexing.chunk_histories import ALIVE, UNKNOWN, ChunkHistories, Chunks
from gitmem.indexing.mark_records import RecordReader, mark_number, mark_numbers
from gitmem.indexing.unread_versions import UnreadVersions
from gitmem.named_tuple import NamedTuple
from gitmem.store.format import Buffer, Container, build_container
from gitmem.store.open_segments import OpenSegments
from gitmem.store.packed_file import BYTES, Packing, build_packed_container, find_packed_container
from gitmem.store.path_postings import NO_POSTINGS, PATH_FIELDS
from gitmem.store.record_columns import Column
from gitmem.store.section import damaged
from gitmem.store.view_file import View, ViewEntry, view_contents
from gitmem.types import REPOSITORY_END

MAGIC: Final = b"GITMEMLT"

_CHUNK_COLUMNS: Final = ("introduced", "removed", "group")

_PACKINGS: Final = {
    **dict.fromkeys(("paths", "reason"), BYTES),
    **dict.fromkeys(("path_at",), Packing(4, is_ascending=True)),
    **dict.fromkeys(("language",), Packing(2)),
    **dict.fromkeys(("marks", "seconds"), Packing(8, is_ascending=True)),
    **dict.fromkeys(("author", *_CHUNK_COLUMNS), Packing(4)),
}
"""Deflated sections; hashes do not become smaller."""


class Bounds(NamedTuple):
    """History that was read, and the reader: its tip, the greatest number of commits, the earliest time, 0 without one,
    the fingerprint of the chunks, and the commits at which a shallow clone ends.
    """

    tip: str
    limit: int
    since: int
    fingerprint: str
    shallow: Sequence[str] = ()


class Lives(NamedTuple):
    """Lives of rows, [rows] each: numbers of commits, or ALIVE or UNKNOWN.

    Versions of one definition have the same `group`, -1 for rows that are not in this history. Its columns are those of
    the first and last version, and the number of versions.
    """

    introduced: NDArray[np.int64]
    removed: NDArray[np.int64]
    group: NDArray[np.int64]
    group_introduced: NDArray[np.int64]
    group_removed: NDArray[np.int64]
    group_versions: NDArray[np.int64]


class PastView(View):
    """Versions of files with the commits of their history, oldest first."""

    def __init__(self, container: Container) -> None:
        super().__init__(container)
        fields = container.fields
        try:
            bounds = Bounds(*map(fields.__getitem__, Bounds._fields))
            self.bounds = bounds._replace(shallow=tuple(map(str, bounds.shallow)))
            authors = [str(author) for author in fields["authors"]]
            self.unread = {str(oid): str(blob) for oid, blob in dict(fields.get("unread", {})).items()}
            """Versions that git lacked, each with the one that took its place in the history, "" without any."""

            commits, codes, seconds, marks = (container[name] for name in ("commits", "author", "seconds", "marks"))
            sizes = {len(container[name]) for name in _CHUNK_COLUMNS}
            width = len(bytes.fromhex(self.bounds.tip))
        except (KeyError, TypeError, ValueError) as problem:
            raise damaged(container.path, "it lacks the lives of the chunks") from problem
        count = len(seconds) // 8
        is_even = len(seconds) == 8 * count and len(codes) == 4 * count and len(commits) == width * count
        if not is_even or len(marks) % 8 or sizes != {len(marks) // 2}:
            raise damaged(container.path, "its columns have the wrong size")
        self._authors, self._width = authors, width

    @cached_property
    def commits(self) -> list[str]:
        """Return the ids of the commits."""
        ids, width = bytes(self._file["commits"].all()), self._width
        return [ids[at : at + width].hex() for at in range(0, len(ids), width)]

    @cached_property
    def seconds(self) -> NDArray[np.int64]:
        """Return the times of the commits, in seconds since 1970."""
        return np.frombuffer(self._file["seconds"].all(), "<i8")

    @cached_property
    def authors(self) -> Column:
        """Return the authors of the commits."""
        codes = np.frombuffer(self._file["author"].all(), "<u4")
        if len(codes) and codes.max() >= len(self._authors):
            raise damaged(self._file.path, "unlisted author")
        return Column(codes, self._authors)

    @cached_property
    def marks(self) -> NDArray[np.uint64]:
        """Return the marks of the chunks as numbers, ascending."""
        return np.frombuffer(self._file["marks"].all(), "<u8")

    def check(self) -> None:
        """Read every block, and decode everything. Raises DamagedFile."""
        super().check()
        _ = self.oids, self.authors, self.seconds, self.entries()
        if (self.marks[1:] <= self.marks[:-1]).any():
            raise damaged(self._file.path, "its marks do not ascend")
        for name in _CHUNK_COLUMNS:
            self.chunk_column(name)

    def chunk_column(self, name: str) -> NDArray[np.int32]:
        """Return a column of the chunks: the numbers of their first or last commits, or of their groups.

        Raises DamagedFile if there are no such commits, or more groups than chunks.
        """
        column = np.frombuffer(self._file[name].all(), "<i4")
        least, end = (-1, len(column)) if name == "group" else (UNKNOWN, len(self._file["seconds"]) // 8)
        if len(column) and (column.min() < least or column.max() >= end):
            raise damaged(self._file.path, f"number out of range in section `{name}`")
        return column

    def lives(self, index: OpenSegments) -> Lives:
        """Return the lives of the rows of an index."""
        places = find_marks(self.marks, _marks_in(index))
        # The appended value is that of rows that the history lacks, whose place is -1.
        columns = [np.append(self.chunk_column(name).astype(np.int64), -1)[places] for name in _CHUNK_COLUMNS]
        introduced, removed, group = columns
        return Lives(introduced, removed, group, *_group_columns(introduced, removed, group, len(self.commits)))

    def entries(self) -> list[ViewEntry]:
        """Return the versions of files."""
        return [self.entry(place) for place in range(len(self))]


def _group_columns(
    introduced: NDArray[np.int64], removed: NDArray[np.int64], group: NDArray[np.int64], commits: int
) -> list[NDArray[np.int64]]:
    """Return the first and last commit of the group of each row, and the number of versions in it."""
    known = group >= 0
    size = int(group.max(initial=-1)) + 2  # the last place is that of rows without a group
    first, last = np.full(size, commits, np.int64), np.full(size, UNKNOWN, np.int64)
    first[-1] = UNKNOWN
    # An unknown number is below every other one, so it decides about the first commit, as it should.
    np.minimum.at(first, group[known], introduced[known])
    np.maximum.at(last, group[known], np.where(removed == ALIVE, commits, removed)[known])
    last[last == commits] = ALIVE
    versions = np.bincount(group[known], minlength=size)
    return [first[group], last[group], versions[group]]


def find_past_view(file: Path) -> PastView | None:
    """Read the view of the past; None if there is none, or it is damaged or from another version."""
    with suppress(DamagedFile, NewerFormat):
        container = find_packed_container(file, MAGIC)
        return None if container is None else PastView(container)
    return None


def find_marks(known: NDArray[np.uint64], marks: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the places of marks among ascending ones, -1 for those that are not there."""
    places = np.searchsorted(known, marks)
    # A place behind the last one stands for no mark: all marks have their high bits set, so 0 is none.
    is_known = np.append(known, np.uint64(0))[places] == marks
    return np.where(is_known, places, -1)


def version_path(number: int, path: bytes) -> bytes:
    """Return the path of a version in the view: several versions have one path, so a number comes before it."""
    return b"%x" % number + REPOSITORY_END + b"/" + path


def split_version_path(name: str) -> str:
    """Return the path of a version as it was in its tree."""
    return name.partition(f"{REPOSITORY_END.decode()}/")[2]


def list_view(entries: Sequence[ViewEntry]) -> View:
    """Return a view of versions without lives, to find those that are missing in the index."""
    fields, sections = _view(entries)
    return View(Container(Path("versions"), MAGIC, b"".join(build_container(MAGIC, fields, sections))))


def _view(entries: Sequence[ViewEntry]) -> tuple[dict[str, Any], dict[str, Buffer]]:
    ordered = sorted(entries, key=lambda entry: entry.path)
    return view_contents("", ordered, dict.fromkeys(PATH_FIELDS, NO_POSTINGS), has_sorted_keys=False)


def write_lives(
    file: Path, bounds: Bounds, entries: Sequence[ViewEntry], log: Sequence[CommitVersions], tip: Iterable[str],
    index: OpenSegments, base: PastView | None = None, unread: Collection[str] = (),
) -> None:  # fmt: skip
    """Compute the lives of all rows of an index and write them. `tip` are the blobs of the tip's tree.

    `log` are all commits, or those that follow `base`. `unread` are the versions that git lacks.
    """
    fields, sections = _view(entries)
    versions = UnreadVersions(unread, base.unread if base is not None else {})
    marks, histories = _follow(versions.without(log), map(versions.replace, tip), index, base)
    authors = Column.from_texts([commit.author for commit, _ in log])
    ids = b"".join(bytes.fromhex(commit.commit) for commit, _ in log)
    seconds = np.array([commit.seconds for commit, _ in log], "<i8")
    if base is not None:
        authors = base.authors.join(authors)
        ids = bytes.fromhex("".join(base.commits)) + ids
        seconds = np.concatenate([base.seconds, seconds])
    own: dict[str, Buffer] = {
        "marks": marks.astype("<u8").data,
        "commits": ids,
        "author": authors.codes.astype("<u4").data,
        "seconds": seconds.astype("<i8").data,
    }
    own |= {name: getattr(histories, name).astype("<i4").data for name in _CHUNK_COLUMNS}
    replacements = dict.fromkeys(unread, "") | versions.replacements
    extended = fields | bounds._asdict() | {"authors": list(authors.values), "unread": replacements}
    parts = build_packed_container(MAGIC, extended, sections | own, _PACKINGS)
    write_atomic(file, [memoryview(part) for part in parts])


def _follow(
    log: Sequence[CommitVersions], tip: Iterable[str], index: OpenSegments, base: PastView | None
) -> tuple[NDArray[np.uint64], ChunkHistories]:
    """Follow all chunks through some commits; return their ascending marks, and their histories."""
    marks, rows = np.unique(_marks_in(index), return_index=True)
    keys = {oid.tobytes().hex(): key for segment in index.segments
            for oid, key in zip(segment.oids, segment.keys.tolist(), strict=True)}  # fmt: skip
    records = RecordReader(index)

    def members(blob: str) -> list[int]:
        if blob not in keys:
            return []
        listed = np.array([mark_number(mark) for mark in records.read(keys[blob])], np.uint64)
        chunks = find_marks(marks, listed)
        own: list[int] = chunks[chunks >= 0].tolist()
        return own

    columns = [np.full(len(marks), -1, np.int32) for _ in _CHUNK_COLUMNS]
    # Chunks without a history, because they are new, have no group yet.
    if base is not None:
        known = find_marks(base.marks, marks)
        columns = [np.append(base.chunk_column(name), np.int32(-1))[known] for name in _CHUNK_COLUMNS]
    histories = ChunkHistories(_read_chunks(index, rows), members, *columns)
    first = len(base.commits) if base is not None else 0
    for number, versions in enumerate(log):
        histories.add(first + number, versions.files)
    histories.close({chunk for blob in tip for chunk in members(blob)})
    return marks, histories


def _read_chunks(index: OpenSegments, rows: NDArray[np.int64]) -> Chunks:
    """Return symbol and signature of the chunks of some rows."""
    symbols: list[str] = []
    signatures = []
    for segment in index.segments:
        own = np.arange(segment.rows, dtype=np.int64)
        symbols += segment.symbols(own)
        signatures.append(segment.bits())
    bits = np.concatenate(signatures) if signatures else np.zeros((0, 0), np.uint8)
    return Chunks([symbols[row] for row in rows.tolist()], bits[rows])


def _marks_in(index: OpenSegments) -> NDArray[np.uint64]:
    """Return the marks of all rows as numbers, [rows]."""
    parts = [mark_numbers(segment.contents()) for segment in index.segments]
    return np.concatenate(parts) if parts else np.zeros(0, np.uint64)
