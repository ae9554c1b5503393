"""An index run: read what is missing from git, digest it in worker processes, publish segments as they fill.

The caller holds the writer lock. After each published segment the manifest names it, so a run that is killed loses
one segment's work at most, and the next run goes on from there.
"""

import math
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from gitmem.errors import Cancelled
from gitmem.git.locate import Location
from gitmem.git.object_reader import ObjectReader
from gitmem.git.objects import BULK_FROM, open_reader
from gitmem.indexing.missing_blobs import MissingBlob
from gitmem.indexing.pool import Pool
from gitmem.paths import IndexPaths
from gitmem.store.columns import COLUMNS, FIELDS, OUTCOMES
from gitmem.store.manifest import Manifest, SegmentEntry
from gitmem.store.rows import Blobs, Postings, Rows, concatenate
from gitmem.store.segment import write_segment
from gitmem.types import RECORD_LANGUAGE

FLUSH_ROWS: Final = 16_000
"""A segment is published when this many rows are waiting: about 20 MB of memory, some seconds of work."""

_BATCH_BYTES: Final = 384 << 10
_BATCH_BLOBS: Final = 48
_HURRY: Final = 6
"""Against a deadline batches are this many times smaller, so that it is kept to some hundredths of a second."""

_BLOBS_PER_WORKER: Final = 40
"""Fewer blobs than this are not worth starting another process for."""


@dataclass(slots=True)
class Progress:
    """How far a run is; handed to the caller's callback after every batch."""

    blobs_total: int
    blobs: int = 0
    rows: int = 0
    bytes: int = 0


@dataclass(slots=True)
class RunResult:
    """What a run did. `outcomes` counts blobs, `unreadable` and `failed` list hex ids, `left` counts what time was too
    short for."""

    manifest: Manifest
    rows: int = 0
    bytes: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    unreadable: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    left: int = 0


class Run:
    """Digests wanted blobs into new segments of a manifest.

    `files` are blobs that are perhaps only files of the working tree, with their paths.
    """

    def __init__(
        self,
        location: Location,
        paths: IndexPaths,
        *,
        max_file_bytes: int,
        jobs: int = 0,
        files: Mapping[str, bytes] | None = None,
    ) -> None:
        self._location = location
        self._paths = paths
        self._files = files or {}
        self._max_file_bytes = max_file_bytes
        self._jobs = jobs or usable_cores()

    def execute(
        self,
        wanted: Sequence[MissingBlob],
        manifest: Manifest,
        *,
        publish: Callable[[Manifest], object] | None = None,
        deadline: float = math.inf,
        report: Callable[[Progress], None] = lambda _: None,
    ) -> RunResult:
        """Index the wanted blobs. Each new segment is handed to `publish` in a manifest that names it.

        After the deadline (`time.monotonic`) none is begun any more, but for the first ones.
        """
        result = RunResult(manifest)
        progress = Progress(len(wanted))
        waiting: list[Rows] = []
        workers = max(1, min(self._jobs, -(-len(wanted) // _BLOBS_PER_WORKER)))
        bulk = len(wanted) >= BULK_FROM
        try:
            with open_reader(self._location, bulk=bulk, files=self._files) as reader, Pool(workers) as pool:
                batches = _Batches(reader, wanted, self._max_file_bytes, self._files, deadline)
                for digested, batch in zip(pool.run(batches), batches.sent, strict=False):
                    rows = [_load_rows(part, keys) for part, keys in _share(digested, batch)]
                    waiting += rows
                    self._note(rows, batch, result, progress)
                    report(progress)
                    if sum(map(len, waiting)) >= FLUSH_ROWS:
                        self._flush(waiting, result, publish)
        except (KeyboardInterrupt, Cancelled):
            if publish is not None:
                self._flush(waiting, result, publish)  # what is done is kept
            raise
        self._flush(waiting, result, publish)
        result.unreadable = batches.unreadable
        result.left = len(wanted) - progress.blobs
        return result

    def _note(self, rows: list[Rows], batch: "_Batch", result: RunResult, progress: Progress) -> None:
        for part in rows:
            for key, outcome in zip(part.blobs.keys, part.blobs.outcomes, strict=True):
                result.outcomes[OUTCOMES[outcome]] += 1
                if OUTCOMES[outcome] == "failed":
                    result.failed.append(key[0].hex())
            result.rows += len(part)
        result.bytes += batch.bytes
        progress.blobs += len(batch.keys)
        progress.rows, progress.bytes = result.rows, result.bytes

    def _flush(self, waiting: list[Rows], result: RunResult, publish: Callable[[Manifest], object] | None) -> None:
        if not waiting:
            return
        entry = write_segment(self._paths.segments, concatenate(waiting))
        result.manifest = add_segment(result.manifest, entry)
        if publish is not None:
            publish(result.manifest)
        waiting.clear()  # last: who interrupts this has it done again


def add_segment(manifest: Manifest, entry: SegmentEntry) -> Manifest:
    """The next generation with one more segment."""
    return manifest.with_segments([*(known for known in manifest.segments if known.name != entry.name), entry])


def usable_cores() -> int:
    """How many processes can run at once here."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


@dataclass(slots=True)
class _Batch:
    """Blobs sent to a worker together, and those that were judged before (too large, unreadable)."""

    keys: list[tuple[bytes, str]] = field(default_factory=list)
    data: list[tuple[str, bytes]] = field(default_factory=list)
    judged: dict[int, str] = field(default_factory=dict)
    bytes: int = 0


class _Batches:
    """Reads blobs in order and groups them; `sent` remembers the groups in the order they were handed out."""

    def __init__(
        self,
        reader: ObjectReader,
        wanted: Sequence[MissingBlob],
        max_file_bytes: int,
        files: Mapping[str, bytes],
        deadline: float,
    ) -> None:
        self._reader = reader
        self._wanted = wanted
        self._max_file_bytes = max_file_bytes
        self._files = files
        self._deadline = deadline
        self._share = 1 if deadline == math.inf else _HURRY
        self.unreadable: list[str] = []
        self._sent: list[_Batch] = []

    @property
    def sent(self) -> Iterator[_Batch]:
        """The groups handed out so far, each forgotten once taken."""
        while True:
            yield self._sent.pop(0)

    def __iter__(self) -> Iterator[list[tuple[str, bytes]]]:
        sizes = self._reader.sizes(item.oid for item in self._wanted)
        fit = [
            size is not None and (size <= self._max_file_bytes or item.language == RECORD_LANGUAGE)
            for item, size in zip(self._wanted, sizes, strict=True)
        ]
        contents = self._reader.read_many(item.oid for item, fits in zip(self._wanted, fit, strict=True) if fits)
        batch = _Batch()
        for item, size, fits in zip(self._wanted, sizes, fit, strict=True):
            data = next(contents)[1] if fits else None
            self._add(item, data, batch, too_large=size is not None and not fits)
            if self._is_full(batch):
                self._sent.append(batch)
                yield batch.data
                if time.monotonic() >= self._deadline:
                    return
                batch = _Batch()
        if batch.keys:
            self._sent.append(batch)
            yield batch.data

    def _is_full(self, batch: "_Batch") -> bool:
        return batch.bytes >= _BATCH_BYTES // self._share or len(batch.keys) >= -(-_BATCH_BLOBS // self._share)

    def _add(self, item: MissingBlob, data: bytes | None, batch: "_Batch", *, too_large: bool) -> None:
        if data is None and item.oid in self._files:
            return  # the file has changed meanwhile: nothing is to be remembered of a blob that may never be one
        batch.keys.append((bytes.fromhex(item.oid), item.language))
        if data is not None:
            batch.data.append((item.language, data))
            batch.bytes += len(data)
            return
        batch.judged[len(batch.keys) - 1] = "large" if too_large else "missing"
        if not too_large:
            self.unreadable.append(item.oid)


def _share(digested: list[dict[str, Any]], batch: _Batch) -> Iterator[tuple[dict[str, Any], list[tuple[bytes, str]]]]:
    """Pair each result with the keys of its blobs; blobs judged before reading come with the last."""
    sent = [key for place, key in enumerate(batch.keys) if place not in batch.judged]
    taken = 0
    for number, part in enumerate(digested):
        keys = sent[taken : taken + len(part["blobs"])]
        taken += len(keys)
        if number == len(digested) - 1:
            for place, outcome in batch.judged.items():
                keys.append(batch.keys[place])
                part["blobs"].append((batch.keys[place][1], outcome, 0))
        yield part, keys


def _load_rows(part: dict[str, Any], keys: list[tuple[bytes, str]]) -> Rows:
    """Turn a worker's result into rows."""
    languages, outcomes, sizes = zip(*part["blobs"], strict=True) if part["blobs"] else ((), (), ())
    blobs = Blobs(
        keys,
        list(languages),
        np.array([OUTCOMES.index(outcome) for outcome in outcomes], np.uint8),
        np.cumsum([0, *sizes]).astype(np.int64),
    )
    columns = {
        name: np.frombuffer(part["columns"][name], "<f2" if name in ("scale", "norm") else "<u4").astype(kind)
        for name, kind in COLUMNS.items()
    }
    vectors = np.frombuffer(part["vectors"], np.int8).reshape(-1, part["dimensions"])
    return Rows(
        blobs, columns, part["symbols"], vectors, {name: _load_postings(part["postings"][name]) for name in FIELDS}
    )


def _load_postings(packed: tuple[list[bytes], bytes, bytes, bytes]) -> Postings:
    terms, term, row, count = packed
    return Postings(terms, np.frombuffer(term, "<i4"), np.frombuffer(row, "<i4"), np.frombuffer(count, "<u1"))


def empty_manifest(manifest: Manifest | None, fingerprint: str) -> Manifest:
    """A manifest without segments that follows another one."""
    generation = manifest.generation if manifest else 0
    return Manifest(fingerprint, generation)
