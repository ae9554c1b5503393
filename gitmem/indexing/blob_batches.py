"""Group the missing blobs of a run into batches for the workers, and assign the answers to their blobs."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gitmem.chunking.blob_text import fit_blob, read_limit
from gitmem.git.object_reader import ObjectReader
from gitmem.indexing.missing_blobs import MissingBlob
from gitmem.indexing.worker_protocol import BlobContent, BlobOutcome, PackedRows
from gitmem.types import RECORD_LANGUAGE

BATCH_BLOBS: Final = 48
BATCH_BYTES: Final = 384 << 10
"""A batch that is sent to a worker is full at one of these numbers of blobs and bytes."""

_DEADLINE_DIVISOR: Final = 6
"""With a deadline, batches are smaller by this factor, so that it is exceeded by some hundredths of a second only."""


@dataclass(slots=True)
class BlobBatch:
    """Blobs sent to a worker together, and those whose outcome was known before (too large, unreadable).

    `keys` are all of them (object id, language requested); `known_outcomes` maps positions in `keys` to outcomes.
    """

    keys: list[tuple[bytes, str]] = field(default_factory=list)
    contents: list[BlobContent] = field(default_factory=list)
    known_outcomes: dict[int, str] = field(default_factory=dict)
    content_bytes: int = 0
    last_path: bytes = b""

    def assign_keys(self, answers: Sequence[PackedRows]) -> Iterator[tuple[PackedRows, list[tuple[bytes, str]]]]:
        """Yield each answer with the keys of its blobs; blobs with a known outcome are added to the last answer."""
        sent = iter(key for position, key in enumerate(self.keys) if position not in self.known_outcomes)
        for number, rows in enumerate(answers):
            keys = [next(sent) for _ in rows.blobs]
            # A worker that failed answers once per blob; the last answer takes the blobs that never reached a worker.
            if number == len(answers) - 1:
                others = [(self.keys[position], outcome) for position, outcome in self.known_outcomes.items()]
                keys += [key for key, _ in others]
                outcomes = [BlobOutcome(language, outcome, 0) for (_, language), outcome in others]
                rows = rows._replace(blobs=[*rows.blobs, *outcomes])
            yield rows, keys


class BlobBatches:
    """Reads blobs in order and groups them into batches; `sent` has the unanswered ones by their number."""

    def __init__(
        self,
        reader: ObjectReader,
        blobs: Sequence[MissingBlob],
        max_file_bytes: int,
        files: Mapping[str, bytes],
        deadline: float,
    ) -> None:
        self._reader = reader
        self._blobs = blobs
        self._max_file_bytes = max_file_bytes
        self._files = files
        self._deadline = deadline
        divisor = 1 if deadline == math.inf else _DEADLINE_DIVISOR
        self._max_bytes, self._max_blobs = BATCH_BYTES // divisor, -(-BATCH_BLOBS // divisor)
        self.unreadable: list[str] = []
        self.sent: dict[int, BlobBatch] = {}
        self._dispatched = 0

    def __iter__(self) -> Iterator[list[BlobContent]]:
        # Sizes first: git answers for all blobs in one pass, and a blob that is too large is never read.
        sizes = self._reader.sizes(blob.oid for blob in self._blobs)
        fit = [
            size is not None
            and (size <= read_limit(blob.language, self._max_file_bytes) or blob.language == RECORD_LANGUAGE)
            for blob, size in zip(self._blobs, sizes, strict=True)
        ]
        contents = self._reader.read_many(blob.oid for blob, fits in zip(self._blobs, fit, strict=True) if fits)
        batch = BlobBatch()
        for blob, size, fits in zip(self._blobs, sizes, fit, strict=True):
            content = next(contents)[1] if fits else None
            if content is not None and blob.language != RECORD_LANGUAGE:
                content = fit_blob(content, blob.language, self._max_file_bytes)
                fits = content is not None
            self._add(blob, content, batch, too_large=size is not None and not fits)
            if self._is_full(batch):
                yield self._dispatch(batch)
                if time.monotonic() >= self._deadline:
                    return
                batch = BlobBatch()
        if batch.keys:
            yield self._dispatch(batch)

    def _dispatch(self, batch: BlobBatch) -> list[BlobContent]:
        self.sent[self._dispatched] = batch
        self._dispatched += 1
        return batch.contents

    def _is_full(self, batch: BlobBatch) -> bool:
        return batch.content_bytes >= self._max_bytes or len(batch.keys) >= self._max_blobs

    def _add(self, blob: MissingBlob, content: bytes | None, batch: BlobBatch, *, too_large: bool) -> None:
        if content is None and blob.oid in self._files:
            return  # the file has changed since; its old blob may never exist in git, so no outcome is recorded
        batch.keys.append((bytes.fromhex(blob.oid), blob.language))
        batch.last_path = blob.path
        if content is not None:
            batch.contents.append(BlobContent(blob.language, content))
            batch.content_bytes += len(content)
            return
        batch.known_outcomes[len(batch.keys) - 1] = "large" if too_large else "missing"
        if not too_large:
            self.unreadable.append(blob.oid)
