"""Write segments: the rows of one or more sources in one pass over each section, without loading them all.

The sources are rows in memory, or open segments. The same rows give the same file, whatever sources they come from.
"""

# What every search reads (blobs, bits, the numbers of words) comes first in the file, in adjacent sections with long
# blocks. What it reads at random (columns of the hits, vectors, posting lists) follows in blocks of a page.

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, Protocol

import numpy as np

from gitmem.arrays import NDArray, differences, distinct
from gitmem.maps import find_mapped
from gitmem.named_tuple import NamedTuple
from gitmem.store.columns import COLUMNS, CONTENT_BYTES, FIELDS, SCANNED
from gitmem.store.format import BLOCK, LONG_BLOCK, Buffer, ContainerWriter
from gitmem.store.manifest import SegmentEntry
from gitmem.store.occurrences import NAMES, name_postings
from gitmem.store.packed_file import BYTES, PackedContainer, PackedWriter, Packing
from gitmem.store.posting_merge import merge_postings
from gitmem.store.posting_writer import PostingWriter, sort_postings
from gitmem.store.postings import ROW, SortedPostings
from gitmem.store.rows import Rows
from gitmem.store.segment import COMPACT, MAGIC, MAX_ROWS, Segment
from gitmem.store.vector_levels import PAST_LEVELS, SEARCHED_LEVELS, unit_scales
from gitmem.streamed_file import StreamedFile

_STEP_BYTES: Final = 4 << 20
"""Bytes of a section that are in memory at once."""

_STEP_TERMS: Final = 1 << 15
"""Terms of all sources that are in memory at once."""


_PACKINGS: Final = {
    **dict.fromkeys(("outcome", "kind", "labels", "names"), BYTES),
    **dict.fromkeys(("asked", "language", "words", "scale", "norm"), Packing(2)),
    **dict.fromkeys(("start", "length", "line", "lines", "kinds", "content_order"), Packing(4)),
    **dict.fromkeys(("first", "label_at", "names_at"), Packing(4, is_ascending=True)),
    **{f"{field}.{name}": BYTES for field in (*FIELDS, NAMES) for name in ("terms", "counts", "windows")},
    **{f"{field}.places": Packing(2, is_ascending=True) for field in (*FIELDS, NAMES)},
    **{f"{field}.window_sizes": Packing(2) for field in (*FIELDS, NAMES)},
    **{f"{field}.{name}": Packing(4, is_ascending=True) for field in (*FIELDS, NAMES)
       for name in ("block_at", "posting_at", "repeat_at", "window_at")},
}  # fmt: skip
"""Deflated sections of a compact or small segment. Hashes, signs and magnitudes do not become smaller."""

DEFLATED_ROWS: Final = 1 << 12
"""Rows up to which a segment is deflated: a query inflates what it needs of one in a millisecond, and without that the
index of few rows would take as many bytes as their text."""

TEMPORARY: Final = "segment."
"""Prefix of the names of temporary files, after the dot."""


class BlobTable(NamedTuple):
    """Blobs of a source, [blobs] each; `asked` and `language` are indices into `names`, `sizes` are numbers of rows."""

    oids: NDArray[np.uint8]
    asked: NDArray[np.uint16]
    language: NDArray[np.uint16]
    names: list[str]
    outcomes: NDArray[np.uint8]
    sizes: NDArray[np.int64]


class Source(Protocol):
    """Rows of whole blobs, to be written in their order."""

    dimensions: int
    is_compact: bool

    def blobs(self) -> BlobTable:
        """Return the blobs."""

    def label_lengths(self) -> NDArray[np.uint32]:
        """Return the length of each row's label."""

    def name_lengths(self) -> NDArray[np.uint32]:
        """Return the length of each blob's record of names."""

    def values(self, name: str) -> Iterator[Buffer]:
        """Yield the values of a section with a fixed number of bytes per row, or the joined labels or records."""

    def postings(self, field: str, terms: int, /) -> Iterator[SortedPostings]:
        """Yield the postings of a field, or of the names, in parts of about `terms` terms."""


class RowsSource:
    """Rows in memory. With `is_compact` they become a compact segment, see `Segment`."""

    def __init__(self, rows: Rows, *, is_compact: bool = False) -> None:
        self._rows = rows
        self.dimensions = rows.vectors.shape[1]
        self.is_compact = is_compact

    def blobs(self) -> BlobTable:
        blobs = self._rows.blobs
        names = sorted({*blobs.languages, *(language for _, language in blobs.keys)})
        codes = {name: code for code, name in enumerate(names)}
        width = len(blobs.keys[0][0]) if blobs.keys else 20
        return BlobTable(
            np.frombuffer(b"".join(oid for oid, _ in blobs.keys), np.uint8).reshape(-1, width),
            np.array([codes[language] for _, language in blobs.keys], np.uint16),
            np.array([codes[language] for language in blobs.languages], np.uint16),
            names,
            blobs.outcomes.astype(np.uint8),
            differences(blobs.first),
        )

    def label_lengths(self) -> NDArray[np.uint32]:
        return np.fromiter(map(len, self._rows.labels), np.uint32, len(self._rows.labels))

    def name_lengths(self) -> NDArray[np.uint32]:
        return np.fromiter(map(len, self._rows.blobs.names), np.uint32, len(self._rows.blobs.names))

    def values(self, name: str) -> Iterator[Buffer]:
        rows = self._rows
        if name == "labels":
            yield b"".join(rows.labels)
        elif name == "names":
            yield b"".join(rows.blobs.names)
        elif name == "bits":
            # Bit signatures: the number of differing signs estimates the angle of two vectors (Charikar 2002). Search
            # scans them and reads only the vectors of the nearest rows.
            yield np.packbits(rows.vectors > 0, axis=1).data
        elif name == "vectors":
            yield (PAST_LEVELS if self.is_compact else SEARCHED_LEVELS).pack(rows.vectors).data
        elif name == "scale" and self.is_compact:
            yield self._scales().data
        elif name in COLUMNS:
            yield np.ascontiguousarray(rows.columns[name].astype(COLUMNS[name])).data
        else:
            yield np.ascontiguousarray(rows.contents).data

    def _scales(self) -> NDArray[np.float16]:
        """Return the scales of the vectors that will be read."""
        vectors = self._rows.vectors
        read = PAST_LEVELS.unpack(PAST_LEVELS.pack(vectors), np.packbits(vectors > 0, axis=1), self.dimensions)
        return unit_scales(read, self._rows.columns["scale"].astype(np.float16))

    def postings(self, field: str, _terms: int, /) -> Iterator[SortedPostings]:
        if field == NAMES:
            yield name_postings([] if self.is_compact else self._rows.blobs.names)
        else:
            yield sort_postings(self._rows.postings[field])


class SegmentSource:
    """Blobs of a segment: all, or those marked in `keep`."""

    def __init__(self, segment: Segment, keep: NDArray[np.bool_] | None = None) -> None:
        self._segment = segment
        self._keep = np.ones(segment.blobs, bool) if keep is None else keep
        self._mask = None if self._keep.all() else np.repeat(self._keep, differences(segment.first))
        self.dimensions = segment.dimensions
        self.is_compact = segment.is_compact

    def blobs(self) -> BlobTable:
        segment, keep = self._segment, self._keep
        return BlobTable(
            segment.oids[keep],
            segment.asked[keep],
            segment.blob_languages[keep],
            segment.languages,
            segment.outcomes[keep],
            differences(segment.first)[keep],
        )

    def label_lengths(self) -> NDArray[np.uint32]:
        lengths = differences(self._segment.label_bounds())
        return lengths if self._mask is None else lengths[self._mask]

    def name_lengths(self) -> NDArray[np.uint32]:
        return differences(self._segment.name_bounds())[self._keep]

    def values(self, name: str) -> Iterator[Buffer]:
        if name == "labels":
            yield from self._strings(name, self._segment.label_bounds(), self._mask)
            return
        if name == "names":
            yield from self._strings(name, self._segment.name_bounds(), None if self._mask is None else self._keep)
            return
        width = self._segment.width(name)
        step = max(1, _STEP_BYTES // max(width, 1))
        for start in range(0, self._segment.rows, step):
            end = min(start + step, self._segment.rows)
            with self._segment.borrow(name, start * width, end * width) as view:
                table = np.frombuffer(view, np.uint8).reshape(end - start, width)
                yield (table if self._mask is None else table[self._mask[start:end]]).data

    def _strings(self, name: str, bounds: NDArray[np.uint32], mask: NDArray[np.bool_] | None) -> Iterator[Buffer]:
        """Yield the strings of a section, all or those of a mask; `bounds` are their offsets."""
        start, strings = 0, len(bounds) - 1
        while start < strings:
            base = int(bounds[start])
            end = max(start + 1, int(np.searchsorted(bounds[1:], base + _STEP_BYTES, "right")))
            with self._segment.borrow(name, base, int(bounds[end])) as view:
                if mask is None:
                    yield view
                else:
                    rows = start + np.flatnonzero(mask[start:end])
                    spans = zip((bounds[rows] - base).tolist(), (bounds[rows + 1] - base).tolist(), strict=True)
                    yield b"".join(bytes(view[first:last]) for first, last in spans)
            start = end

    def postings(self, field: str, terms: int, /) -> Iterator[SortedPostings]:
        mask, numbers = (self._keep, np.cumsum(self._keep) - 1) if field == NAMES else (self._mask, self._numbers)
        for part in self._segment.iter_postings(field, terms):
            yield part if self._mask is None or mask is None else self._select(part, mask, numbers)

    def _select(self, part: SortedPostings, mask: NDArray[np.bool_], numbers: NDArray[np.int64]) -> SortedPostings:
        """Return the postings at the places of a mask, with new numbers; terms without any are dropped."""
        keep = mask[part.places]
        sizes = differences(np.concatenate([[0], np.cumsum(keep)])[part.bounds])
        present = np.flatnonzero(sizes)
        return SortedPostings(
            [part.terms[number] for number in present.tolist()],
            np.concatenate([[0], np.cumsum(sizes[present])]),
            numbers[part.places[keep]],
            part.counts[keep],
        )

    @cached_property
    def _numbers(self) -> NDArray[np.int64]:
        return np.cumsum(self._mask if self._mask is not None else np.zeros(0, bool)) - 1


def write_segment(folder: Path, rows: Rows, *, is_compact: bool = False) -> SegmentEntry:
    """Publish rows as a segment; the same rows give the same file. Raises StorageFailed."""
    return write_sources(folder, [RowsSource(rows, is_compact=is_compact)], folder)


def load_rows(rows: Rows, *, is_compact: bool = False) -> Segment:
    """Return rows as an open segment that is in memory alone."""
    parts: list[bytes] = []
    source = RowsSource(rows, is_compact=is_compact)
    _write(lambda part: parts.append(bytes(part)), [source], [source.blobs()], len(rows))
    return Segment(PackedContainer(Path("memory"), MAGIC, b"".join(parts), is_verified=True))


def write_sources(
    folder: Path, sources: Sequence[Source], scratch: Path, check_stop: Callable[[], None] = lambda: None
) -> SegmentEntry:
    """Publish the rows of some sources, all of which are compact or none, as one segment.

    The temporary file is created in `scratch`, on the same file system. `check_stop` may raise between two parts.

    Raises: StorageFailed, DamagedFile from the sources.
    """
    tables = [source.blobs() for source in sources]
    rows = int(sum(table.sizes.sum() for table in tables))
    assert rows <= MAX_ROWS, "these rows must fit into a segment"
    digest = hashlib.blake2b(digest_size=20)
    with StreamedFile(scratch / f".{TEMPORARY}{os.urandom(6).hex()}.tmp") as file:

        def write(part: Buffer) -> None:
            check_stop()
            digest.update(part)
            file.write(part)

        _write(write, sources, tables, rows)
        # Named by content: an interrupted run that is repeated writes the same file again instead of a second one.
        target = folder / digest.hexdigest()
        file.publish(target)
    mapped = find_mapped(target)
    stamp = mapped.stamp if mapped is not None else None
    blobs = sum(len(table.oids) for table in tables)
    return SegmentEntry(target.name, rows, blobs, file.bytes, *((stamp.inode, stamp.modified) if stamp else (0, 0)))


def _write(
    write: Callable[[Buffer], object], sources: Sequence[Source], tables: Sequence[BlobTable], rows: int
) -> None:
    is_compact = _are_compact(sources)
    writer = PackedWriter(MAGIC, write, _PACKINGS if is_compact or rows <= DEFLATED_ROWS else {})
    names = sorted({*_used_names(tables)})
    dimensions = max((source.dimensions for source in sources), default=0)
    fields = {
        "rows": rows,
        "blobs": sum(len(table.oids) for table in tables),
        "dimensions": dimensions,
        "id_bytes": tables[0].oids.shape[1] if tables else 20,
        "languages": names,
        **({COMPACT: True} if is_compact else {}),
    }
    for name, column in _blob_sections(tables, {name: code for code, name in enumerate(names)}).items():
        writer.add_section(name, [column], LONG_BLOCK)
    fixed = (*SCANNED, "bits", *(name for name in COLUMNS if name not in SCANNED), "labels", "content", "vectors")
    for name in fixed:
        block = LONG_BLOCK if name in SCANNED or name == "bits" else BLOCK
        writer.add_section(name, (part for source in sources for part in source.values(name)), block)
    lengths = np.concatenate([np.zeros(1, np.uint32), *(source.label_lengths() for source in sources)])
    writer.add_section("label_at", [np.cumsum(lengths).astype("<u4").data])
    writer.add_section("content_order", [_content_order(sources)])
    bases = np.cumsum([0, *(int(table.sizes.sum()) for table in tables)]).tolist()
    for field in FIELDS:
        _write_postings(writer, field, sources, bases)
    writer.add_section("names", (part for source in sources for part in source.values("names")))
    lengths = np.concatenate([np.zeros(1, np.uint32), *(source.name_lengths() for source in sources)])
    writer.add_section("names_at", [np.cumsum(lengths).astype("<u4").data])
    _write_postings(writer, NAMES, sources, np.cumsum([0, *(len(table.oids) for table in tables)]).tolist())
    writer.finish(fields)


def _are_compact(sources: Sequence[Source]) -> bool:
    kinds = {source.is_compact for source in sources}
    assert len(kinds) <= 1, "sources of two kinds cannot be joined"
    return kinds == {True}


def _used_names(tables: Sequence[BlobTable]) -> Iterator[str]:
    for table in tables:
        used = distinct(np.concatenate([table.asked, table.language]))
        yield from (table.names[code] for code in used.tolist())


def _blob_sections(tables: Sequence[BlobTable], codes: dict[str, int]) -> dict[str, Buffer]:
    """Return the sections with a value per blob; `codes` are the indices of the languages."""
    own = [np.array([codes.get(name, 0) for name in table.names], "<u2") for table in tables]
    sizes = np.concatenate([np.zeros(1, np.int64), *(table.sizes for table in tables)])
    asked = [new[table.asked] for table, new in zip(tables, own, strict=True)]
    language = [new[table.language] for table, new in zip(tables, own, strict=True)]
    return {
        "oids": b"".join(np.ascontiguousarray(table.oids).tobytes() for table in tables),
        "asked": b"".join(column.tobytes() for column in asked),
        "language": b"".join(column.tobytes() for column in language),
        "outcome": b"".join(table.outcomes.tobytes() for table in tables),
        "first": np.cumsum(sizes).astype("<u4").data,
    }


def _content_order(sources: Sequence[Source]) -> Buffer:
    """Return the rows sorted by the first eight bytes of their content hashes."""
    heads = [
        np.frombuffer(part, np.uint8).reshape(-1, CONTENT_BYTES)[:, :8].copy().view("<u8")[:, 0]
        for source in sources
        for part in source.values("content")
        if len(memoryview(part))
    ]
    order = np.argsort(np.concatenate([np.zeros(0, "<u8"), *heads]), kind="stable")
    return order.astype("<u4").data


def _write_postings(writer: ContainerWriter, field: str, sources: Sequence[Source], bases: Sequence[int]) -> None:
    """Write the postings of a field. `bases` are the first places of the sources, and the number of places."""
    parts = [source.postings(field, max(64, _STEP_TERMS // len(sources))) for source in sources]
    encoder = PostingWriter(ROW, bases[-1])
    # The places are the first section and are written while the others grow in memory.
    writer.add_section(f"{field}.places", (encoder.add(part) for part in merge_postings(parts, bases)))
    for name, section in encoder.finish(field).items():
        writer.add_section(name, [section])
