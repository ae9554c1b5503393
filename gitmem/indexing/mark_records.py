"""Records of the definitions in a version of a file, as a compact segment stores them.

    record = 00, mark ...
    record = 01, key of another version, number of removed marks, place of each (2 bytes), added mark ...

A version has most definitions of the version before, so the second form takes some twenty bytes, not a hundred. The
key is that of `store.keys`. No record is more than `_MAX_STEPS` others away from one of the first form.
"""

import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from gitmem.arrays import NDArray, is_among
from gitmem.errors import DamagedFile
from gitmem.named_tuple import NamedTuple
from gitmem.store.columns import RETRIED
from gitmem.store.keys import blob_key
from gitmem.store.open_segments import OpenSegments
from gitmem.store.segment import Segment

MARK_BYTES: Final = 6

_HIGH_BIT: Final = 0x80
"""Set in each byte of a mark, so that none is the line feed that separates the strings of a record. The 42 other bits
tell the chunks apart: of 500,000 two have the same mark in three cases of a hundred."""

_WHOLE: Final = 0
_DIFFERENCE: Final = 1
_HEADER: Final = struct.Struct("<BQH")
_MAX_STEPS: Final = 32
_MAX_REMOVED: Final = 1 << 15

_MAX_KNOWN: Final = 20_000
"""Versions whose marks are remembered, for those that follow: some 10 MB."""

_MAX_HOLDERS: Final = 400_000
"""Marks of which the last version is remembered: some 40 MB."""


def marks_of(contents: NDArray[np.uint8]) -> list[bytes]:
    """Return the marks of contents by their hashes, [contents, CONTENT_BYTES]."""
    marks = np.ascontiguousarray(contents[:, :MARK_BYTES] | _HIGH_BIT).tobytes()
    return [marks[at : at + MARK_BYTES] for at in range(0, len(marks), MARK_BYTES)]


def mark_numbers(contents: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return the same marks as numbers, [contents]."""
    wide = np.zeros((len(contents), 8), np.uint8)
    wide[:, :MARK_BYTES] = contents[:, :MARK_BYTES] | _HIGH_BIT
    numbers: NDArray[np.uint64] = wide.view("<u8")[:, 0]
    return numbers


def mark_number(mark: bytes) -> int:
    """Return one mark as such a number."""
    return int.from_bytes(mark, "little")


class _Version(NamedTuple):
    """Marks of a version, and the number of records that are read for them."""

    marks: list[bytes]
    steps: int


class RecordWriter:
    """Encodes the records of versions in the order in which they are stored, each by an earlier one if there is any."""

    def __init__(self) -> None:
        self._versions: dict[int, _Version] = {}
        self._holders: dict[bytes, int] = {}

    def pack(self, oid: bytes, language: str, marks: Sequence[bytes]) -> bytes:
        """Return the record of a version with some definitions, b"" if it has none."""
        if not marks:
            return b""
        key = blob_key(oid, language)
        own = list(dict.fromkeys(marks))
        record, version = self._difference(key, own) or (bytes([_WHOLE]) + b"".join(own), _Version(own, 1))
        self._remember(key, version)
        return record

    def _difference(self, key: int, marks: list[bytes]) -> tuple[bytes, _Version] | None:
        """Return the record of the second form; None if no earlier version makes it the shorter one."""
        # The last version with most of the definitions: the one before it in its file, or the file that was copied.
        holders = Counter(holder for mark in marks if (holder := self._holders.get(mark)) is not None)
        base = holders.most_common(1)[0][0] if holders else key
        known = self._versions.get(base)
        if base == key or known is None or known.steps >= _MAX_STEPS:
            return None
        present, own = set(known.marks), set(marks)
        removed = [place for place, mark in enumerate(known.marks) if mark not in own]
        added = [mark for mark in marks if mark not in present]
        if len(removed) + 3 * len(added) + _HEADER.size // 2 >= 3 * len(marks) or len(known.marks) > _MAX_REMOVED:
            return None
        places = np.array(removed, "<u2").tobytes()
        kept = [mark for mark in known.marks if mark in own]
        record = _HEADER.pack(_DIFFERENCE, base, len(removed)) + places + b"".join(added)
        return record, _Version(kept + added, known.steps + 1)

    def _remember(self, key: int, version: _Version) -> None:
        if len(self._holders) > _MAX_HOLDERS:
            self._holders.clear()
        for mark in version.marks:
            self._holders[mark] = key
        self._versions.pop(key, None)
        self._versions[key] = version
        if len(self._versions) > _MAX_KNOWN:
            del self._versions[next(iter(self._versions))]


class RecordReader:
    """Decodes the records of the versions in an index. All methods raise DamagedFile."""

    def __init__(self, index: OpenSegments) -> None:
        self._index = index
        # Of several attempts at a version the last one that read it comes last, as in `store.blob_match`.
        self._order = np.lexsort((~is_among(index.blob_outcomes, RETRIED), index.blob_keys))
        self._keys = index.blob_keys[self._order]
        self._marks: dict[int, list[bytes]] = {}

    def read(self, key: int) -> list[bytes]:
        """Return the marks of a version."""
        steps: list[tuple[int, _Record]] = []
        at: int | None = key
        while at is not None and at not in self._marks:
            steps.append((at, self._parse(at)))
            at = steps[-1][1].base
            if len(steps) > _MAX_STEPS:
                raise _damaged()
        marks = self._marks[at] if at is not None else []
        for own, record in reversed(steps):
            removed = set(record.removed)
            if removed and max(removed) >= len(marks):
                raise _damaged()
            marks = [mark for place, mark in enumerate(marks) if place not in removed] + record.added
            self._remember(own, marks)
        return marks

    def find_fault(self, segment: Segment) -> str:
        """Return why the records of a compact segment cannot be those that were written, or ""."""
        first = segment.first.tolist()
        for blob, key in enumerate(segment.keys.tolist()):
            try:
                _parse_record(segment.name_record(blob))
                marks = set(self.read(key))
            except DamagedFile as problem:
                return problem.message
            # A version has its own rows, and those that it shares with earlier versions.
            own = segment.pick_contents(np.arange(first[blob], first[blob + 1]))
            if not marks.issuperset(marks_of(own)):
                return "a version lacks its own definitions"
        return ""

    def with_bases(self, keys: Iterable[int]) -> set[int]:
        """Return some versions, and those from which their records differ."""
        needed, waiting = set[int](), list(keys)
        while waiting:
            key = waiting.pop()
            if key not in needed:
                needed.add(key)
                base = self._parse(key).base
                waiting += [] if base is None else [base]
        return needed

    def _remember(self, key: int, marks: list[bytes]) -> None:
        if len(self._marks) >= _MAX_KNOWN:
            del self._marks[next(iter(self._marks))]
        self._marks[key] = marks

    def _parse(self, key: int) -> "_Record":
        place = int(np.searchsorted(self._keys, np.uint64(key), side="right")) - 1
        if place < 0 or int(self._keys[place]) != key:
            raise _damaged()
        segment, number = self._index.blob(int(self._order[place]))
        return _parse_record(segment.name_record(number))


class _Record(NamedTuple):
    """Version from which a record differs, None for one of the first form, and the difference."""

    base: int | None
    removed: list[int]
    added: list[bytes]


def _parse_record(record: bytes) -> _Record:
    """Return the content of a record. Raises DamagedFile."""
    if not record or record[0] == _WHOLE:
        return _Record(None, [], _split(record[1:]))
    try:
        form, base, count = _HEADER.unpack_from(record)
        removed = np.frombuffer(record, "<u2", count, _HEADER.size).tolist()
    except (struct.error, ValueError) as problem:
        raise _damaged() from problem
    if form != _DIFFERENCE or any(one >= other for one, other in pairwise(removed)):
        raise _damaged()
    return _Record(base, removed, _split(record[_HEADER.size + 2 * count :]))


def _split(marks: bytes) -> list[bytes]:
    if len(marks) % MARK_BYTES:
        raise _damaged()
    return [marks[at : at + MARK_BYTES] for at in range(0, len(marks), MARK_BYTES)]


def _damaged() -> DamagedFile:
    return DamagedFile("a record of definitions of the past is damaged", hint="run `gitmem verify --repair`")
