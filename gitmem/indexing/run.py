"""An index run: read missing blobs from git, have worker processes turn them into rows, publish segments as they fill.

The caller holds the writer lock. Each published segment is named by the manifest at once. A run that is killed
therefore loses at most the work of one segment, and the next run continues from there.
"""

import math
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from gitmem.chunking.chunk_size import DEFAULT_BOUNDS, ChunkBounds
from gitmem.errors import Cancelled, ProviderFailed, WorkersFailed
from gitmem.git.batch import BLOBS
from gitmem.git.locate import RepositoryLocation
from gitmem.git.objects import BULK_FROM, open_reader
from gitmem.git.path_encoding import path_text
from gitmem.indexing.blob_batches import BlobBatches
from gitmem.indexing.embedding_stage import EmbeddingStage
from gitmem.indexing.memory_budget import MemoryBudget
from gitmem.indexing.missing_blobs import MissingBlob
from gitmem.indexing.pool import Pool
from gitmem.indexing.received_rows import load_rows
from gitmem.indexing.stop_request import StopRequest
from gitmem.indexing.worker_protocol import KnownSegments, PackedRows
from gitmem.paths import IndexPaths
from gitmem.processes.fork import can_fork
from gitmem.store.columns import OUTCOMES
from gitmem.store.manifest import Manifest, SegmentEntry
from gitmem.store.rows import Rows, concatenate
from gitmem.store.segment_writer import write_segment

if TYPE_CHECKING:
    from gitmem.indexing.remote_pool import OpenEngine, RemotePool

FLUSH_ROWS: Final = 16_000
"""Number of waiting rows at which a segment is published: about 20 MB of memory, some seconds of work."""

_WRITE_FACTOR: Final = 6
"""Memory that the rows of a segment take while it is written, as a multiple of their arrays."""

_BLOBS_PER_WORKER: Final = 40
"""Starting another process is not worthwhile for fewer blobs than this."""

_COMMON_BLOBS: Final = 30
"""Number of blobs of a language from which its patterns are compiled before the workers are forked."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a run; passed to the caller's callback after every batch, and while a provider makes it wait.

    `path` is that of the last finished blob, empty before the first and for commits.
    """

    blobs_total: int
    blobs: int = 0
    rows: int = 0
    bytes: int = 0
    waiting: str = ""
    path: str = ""


@dataclass(slots=True)
class RunResult:
    """Result of a run. `outcomes` counts blobs; `unreadable` lists object ids in hexadecimal.

    `failed` says for each blob that could not be chunked how its worker ended, `refused` for each that a
    provider did not embed why. `losses` are the ends of other workers.
    `blobs` are the ids of all blobs, concatenated.
    """

    manifest: Manifest
    rows: int = 0
    bytes: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    unreadable: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    losses: list[str] = field(default_factory=list)
    blobs: bytearray = field(default_factory=bytearray)

    def add(self, rows: Rows, losses: Sequence[str], refused: Mapping[str, str]) -> None:
        """Count the rows of one answer. `losses` says how workers ended before it, `refused` has blobs and reasons."""
        failed = []
        for key, code in zip(rows.blobs.keys, rows.blobs.outcomes, strict=True):
            outcome = OUTCOMES[code]
            self.blobs += key[0]
            self.outcomes[outcome] += 1
            if outcome == "failed" and key[0].hex() not in refused:
                failed.append(key[0].hex())
        self.failed |= dict.fromkeys(failed, "; ".join(losses))
        self.refused |= refused
        self.losses += () if failed else losses
        self.rows += len(rows)


class Run:
    """Indexes blobs into new segments of a manifest.

    `files` are the paths, by blob id, of blobs that may exist only as files of the working tree. `stage` embeds through
    a provider that reads text. `kinds` are those of the objects: commits are indexed by the same steps as blobs. `keep`
    returns the rows to store of those of a batch. `open_engine` connects to an engine whose machines make the rows.
    With `is_compact` they are stored in compact segments.
    """

    def __init__(
        self,
        location: RepositoryLocation,
        paths: IndexPaths,
        *,
        max_file_bytes: int,
        budget: MemoryBudget,
        jobs: int = 0,
        files: Mapping[str, bytes] | None = None,
        bounds: ChunkBounds = DEFAULT_BOUNDS,
        stage: EmbeddingStage | None = None,
        kinds: frozenset[bytes] = BLOBS,
        keep: Callable[[Rows], Rows] = lambda rows: rows,
        open_engine: "OpenEngine | None" = None,
        is_compact: bool = False,
    ) -> None:
        self._stage = stage
        self._open_engine = open_engine
        self._keep = keep
        self._is_compact = is_compact
        self._location = location
        self._paths = paths
        self._files = files or {}
        self._max_file_bytes = max_file_bytes
        self._budget = budget
        self._bounds = bounds
        self._kinds = kinds
        self._jobs = jobs or usable_cores()

    def execute(
        self,
        blobs: Sequence[MissingBlob],
        manifest: Manifest,
        *,
        publish: Callable[[Manifest], object] | None = None,
        deadline: float = math.inf,
        report: Callable[[Progress], None] = lambda _: None,
        stop: StopRequest | None = None,
        former: Sequence[SegmentEntry] = (),
    ) -> RunResult:
        """Index blobs. `publish` is called with a new generation of the manifest after each segment.

        Vectors of equal chunks are taken from the segments of the manifest, and from `former` ones.

        No batch is started after the deadline (`time.monotonic`), except the first one. The workers read `stop` between
        chunks. An interrupt, a cancellation or a failure of workers is raised after the rows of the finished batches
        have been published. Without `publish` they are dropped.

        Raises: Cancelled (from `report` and `stop`), WorkersFailed, GitFailed, StorageFailed.
        """
        result = RunResult(manifest)
        segments = _SegmentBuffer(self._paths, manifest, publish, self._budget.flush_bytes, is_compact=self._is_compact)
        bulk = len(blobs) >= BULK_FROM
        known = KnownSegments(str(self._paths.segments), (*manifest.segments, *former))
        if self._stage is not None:
            self._stage.use(known)
        try:
            with (
                open_reader(self._location, bulk=bulk, files=self._files, kinds=self._kinds) as reader,
                self._open_pool(blobs, known) as pool,
            ):
                batches = BlobBatches(reader, blobs, self._max_file_bytes, self._files, deadline)
                intake = _Intake(batches, segments, result, report, len(blobs), self._stage, stop, self._keep)
                self._take_answers(pool, batches, intake, stop)
        except (KeyboardInterrupt, Cancelled, ProviderFailed, WorkersFailed):
            if publish is not None:
                segments.flush()
            raise
        segments.flush()
        result.manifest = segments.manifest
        result.unreadable = batches.unreadable
        return result

    def _open_pool(self, blobs: Sequence[MissingBlob], known: KnownSegments) -> "Pool | RemotePool":
        """Start workers on this machine, or connect to those of an engine. Raises: ConfigError, WorkersFailed."""
        embeds = self._stage is None
        if self._open_engine is not None:
            from gitmem.indexing.remote_pool import RemotePool  # few runs use other machines

            return RemotePool(self._open_engine, self._budget.in_flight_bytes, self._bounds, embeds=embeds)
        wanted = min(self._jobs, -(-len(blobs) // _BLOBS_PER_WORKER))
        workers = self._budget.count_workers(wanted, forked=can_fork())
        return Pool(
            workers,
            budget=self._budget,
            known=known,
            bounds=self._bounds,
            embeds=embeds,
            languages=_common_languages(blobs),
        )

    def _take_answers(
        self, pool: "Pool | RemotePool", batches: BlobBatches, intake: "_Intake", stop: StopRequest | None
    ) -> None:
        """Have all batches indexed; if the run is ended early, take the finished ones. Raises: as `execute`."""
        try:
            # The pool preserves the order of the batches.
            for number, answers in enumerate(pool.run(batches, stop)):
                intake.add(number, answers)
        except (KeyboardInterrupt, Cancelled, WorkersFailed) as ending:
            # After a request all workers end their batches soon. A signal must not wait for them.
            requested = isinstance(ending, Cancelled) and stop is not None and stop.is_made()
            # Rows that a provider still has to embed are left to the next run.
            for number, answers in pool.take_finished(wait=requested) if self._stage is None else ():
                intake.load(number, answers)
            with suppress(Cancelled):
                intake.report_progress()
            raise


def _common_languages(blobs: Sequence[MissingBlob]) -> list[str]:
    """Return the languages of so many blobs that every worker would compile their patterns."""
    counts = Counter(blob.language for blob in blobs)
    return [language for language, count in counts.items() if language and count >= _COMMON_BLOBS]


def usable_cores() -> int:
    """Return how many processes can run at once; less than the number of cores if this process is restricted."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


@dataclass(slots=True)
class _Intake:
    """Takes the answers of the pool: loads their rows, counts them, reports, and publishes full segments."""

    batches: BlobBatches
    segments: "_SegmentBuffer"
    result: RunResult
    report: Callable[[Progress], None]
    blobs_total: int
    stage: EmbeddingStage | None
    stop: StopRequest | None
    keep: Callable[[Rows], Rows]
    blobs: int = 0
    path: bytes = b""

    def add(self, number: int, answers: Sequence[PackedRows]) -> None:
        """Take the answers to one batch and report them. Raises Cancelled from the report."""
        self.load(number, answers)
        self.report_progress()
        if self.segments.is_full:
            self.segments.flush()

    def report_progress(self, waiting: str = "") -> None:
        """Report the number of taken blobs, rows and bytes. Raises Cancelled from the report."""
        rows = max(self.result.rows, self.stage.sent) if self.stage is not None else self.result.rows
        path = path_text(self.path)
        self.report(Progress(self.blobs_total, self.blobs, rows, self.result.bytes, waiting, path))

    def watch(self, reason: str = "") -> None:
        """Report that a provider is about to be asked, or makes the run wait. Raises Cancelled."""
        if self.stop is not None:
            self.stop.check()
        self.report_progress(reason)

    def load(self, number: int, answers: Sequence[PackedRows]) -> None:
        """Take the answers to one batch."""
        batch = self.batches.sent.pop(number)
        for part, keys in batch.assign_keys(answers):
            rows, refused = self.keep(load_rows(part, keys)), dict[str, str]()
            if self.stage is not None:
                rows, refused = self.stage.complete(rows, part.texts, self.watch)
            self.segments.append(rows)
            self.result.add(rows, part.losses, refused)
        self.result.bytes += batch.content_bytes
        self.blobs += len(batch.keys)
        self.path = batch.last_path


class _SegmentBuffer:
    """Rows that wait for the next segment, and the manifest with the segments written so far.

    A segment is written when it has `FLUSH_ROWS` rows, or when it would take `max_bytes` of memory to write it.
    """

    def __init__(
        self,
        paths: IndexPaths,
        manifest: Manifest,
        publish: Callable[[Manifest], object] | None,
        max_bytes: int,
        *,
        is_compact: bool,
    ) -> None:
        self.manifest = manifest
        self._folder = paths.segments
        self._publish = publish
        self._max_bytes = max_bytes
        self._is_compact = is_compact
        self._waiting: list[Rows] = []
        self._rows = self._bytes = 0

    @property
    def is_full(self) -> bool:
        return self._rows >= FLUSH_ROWS or _WRITE_FACTOR * self._bytes >= self._max_bytes

    def append(self, rows: Rows) -> None:
        self._waiting.append(rows)
        self._rows += len(rows)
        self._bytes += _size_of(rows)

    def flush(self) -> None:
        """Write the waiting rows as a segment and publish the manifest that names it."""
        if not self._waiting:
            return
        entry = write_segment(self._folder, concatenate(self._waiting), is_compact=self._is_compact)
        self.manifest = add_segment(self.manifest, entry)
        if self._publish is not None:
            self._publish(self.manifest)
        # Cleared last: after an interrupt in this method the next flush writes the same segment again.
        self._waiting.clear()
        self._rows = self._bytes = 0


def add_segment(manifest: Manifest, entry: SegmentEntry) -> Manifest:
    """Return the next generation, with one more segment."""
    return manifest.with_segments([*(known for known in manifest.segments if known.name != entry.name), entry])


def _size_of(rows: Rows) -> int:
    """Return the bytes of the arrays of rows, which are nearly all of their memory."""
    arrays = [rows.vectors, *rows.columns.values()]
    arrays += [array for postings in rows.postings.values() for array in postings[1:]]
    return sum(array.nbytes for array in arrays) + sum(map(len, rows.blobs.names))


def empty_manifest(manifest: Manifest | None, fingerprint: str) -> Manifest:
    """Return a manifest without segments, to follow another one."""
    generation = manifest.generation if manifest else 0
    return Manifest(fingerprint, generation)
