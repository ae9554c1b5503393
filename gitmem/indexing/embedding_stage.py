"""Embed the rows of a run through a provider that reads text, in the process of the run.

Workers chunk and count, and this process embeds: so one model is loaded, one place knows the limits of a provider, and
no text is sent by two workers at once. Equal texts are embedded once, and texts whose vectors are known not at all.
"""

import dataclasses
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray, differences
from gitmem.embedding.encoder import quantise
from gitmem.embedding.encoders import load
from gitmem.embedding.provider import selected_provider
from gitmem.embedding.text_encoder import BATCH_TEXTS, RUN_PATIENCE, Patience, TextEncoder, Watch
from gitmem.errors import ProviderFailed, ProviderSlow, TextsRefused
from gitmem.events import measured
from gitmem.indexing.fingerprint import dimensions_of
from gitmem.indexing.known_vectors import KnownVectors
from gitmem.indexing.worker_protocol import KnownSegments
from gitmem.named_tuple import NamedTuple
from gitmem.paths import IndexPaths
from gitmem.settings import Settings
from gitmem.store.columns import OUTCOMES
from gitmem.store.rows import Rows, select_rows
from gitmem.store.vector_files import VectorFiles
from gitmem.store.vector_levels import snap_to_levels

MAX_REFUSED: Final = 8
"""Refused texts that end a run in which none was accepted: it is not the texts that are wrong."""

SLOW_DIVISOR: Final = 4
"""Factor by which requests become smaller after one that was not answered in time."""

FAST_SHARE: Final = 1 / 8
"""Share of the timeout below which a request was fast: the next one may have twice as many texts."""

_FAILED: Final = OUTCOMES.index("failed")


class Embedded(NamedTuple):
    """Rows with vectors, and the reason for each blob, by its id, that could not be embedded and has no rows."""

    rows: Rows
    failed: dict[str, str]


class EmbeddingStage:
    """Adds vectors to rows. `sent` counts the texts that the provider embedded."""

    def __init__(
        self,
        encoder: TextEncoder,
        paths: IndexPaths,
        store: VectorFiles | None = None,
        patience: Patience = RUN_PATIENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._paths = paths
        self._encoder = encoder
        self._store = store
        self._patience = patience
        self._clock = clock
        self._failures = self._refused = 0
        self._request_size = BATCH_TEXTS
        self._known = KnownVectors()
        self.sent = 0

    @property
    def dimensions(self) -> int:
        return self._encoder.dimensions

    def use(self, known: KnownSegments) -> None:
        """Take the vectors of equal texts from segments from now on."""
        self._known = KnownVectors(known)

    def complete(self, rows: Rows, texts: Sequence[bytes], watch: Watch) -> Embedded:
        """Embed the texts of rows. Blobs with a refused text lose their rows, and the next run tries them again.

        Raises: ProviderFailed if the provider cannot be used at all, Cancelled, StorageFailed.
        """
        found = self._known.find(rows.contents, self.dimensions)
        contents = [content.tobytes() for content in rows.contents]
        # Of equal texts the first is embedded: licences and generated files repeat much, and each text costs money.
        first: dict[bytes, int] = {}
        for row in found.missing.tolist():
            first.setdefault(contents[row], row)
        embedded, reasons = self._embed(list(first), [texts[row] for row in first.values()], watch)
        vectors, scales = found.vectors, found.scales
        if embedded:
            places = [first[content] for content in embedded]
            exact, exact_scales = (np.array(column) for column in zip(*embedded.values(), strict=True))
            vectors[places], scales[places] = snap_to_levels(exact, exact_scales)
        sources = np.fromiter((first[contents[row]] for row in found.missing.tolist()), np.int64, len(found.missing))
        vectors[found.missing], scales[found.missing] = vectors[sources], scales[sources]
        # The length of a vector before normalisation says nothing about the text of a transformer.
        columns = {**rows.columns, "scale": scales, "norm": np.ones(len(scales), np.float16)}
        rows = dataclasses.replace(rows, vectors=vectors, columns=columns)
        failed_rows = {row: reasons[content] for row, content in enumerate(contents) if content in reasons}
        return _without_failed(rows, failed_rows)

    def _embed(self, contents: Sequence[bytes], texts: Sequence[bytes], watch: Watch) -> "_Answers":
        """Find or embed texts by their hashes."""
        answers = _Answers(self._store.find(contents) if self._store is not None else {}, {})
        new = [place for place, content in enumerate(contents) if content not in answers.vectors]
        answers.add(self._request_all([contents[place] for place in new], [texts[place] for place in new], watch))
        return answers

    def _request_all(self, contents: Sequence[bytes], texts: Sequence[bytes], watch: Watch) -> "_Answers":
        """Embed texts in requests of the present size, which depends on the speed of the provider."""
        answers = _Answers({}, {})
        start = 0
        while start < len(texts):
            end = start + self._request_size
            answers.add(self._request(contents[start:end], texts[start:end], watch))
            start = end
        return answers

    def _request(self, contents: Sequence[bytes], texts: Sequence[bytes], watch: Watch) -> "_Answers":
        """Embed one batch and store its vectors. A refused batch is halved until the refused texts are alone.

        One that takes too long is sent in smaller parts, and later ones are as small until the provider is fast again.
        """
        watch()
        began = self._clock()
        try:
            passages = [text.decode("utf-8", "replace") for text in texts]
            with measured("embedding.request", self._paths) as operation:
                operation.ids["model"] = self._encoder.fingerprint
                operation.amounts["texts"] = len(texts)
                vectors = self._encoder.encode_passages(passages, watch, self._patience)
        except ProviderSlow:
            # A model on a busy processor may need a minute for a hundred texts. A request as large would fail again,
            # and a server often goes on with the one that nobody waits for any more.
            self._request_size = max(1, len(texts) // SLOW_DIVISOR)
            return self._request_all(contents, texts, watch)
        except TextsRefused as problem:
            if len(texts) > 1:
                # The answer does not name the text; halving finds one of a hundred in seven steps.
                half = len(texts) // 2
                answers = self._request(contents[:half], texts[:half], watch)
                answers.add(self._request(contents[half:], texts[half:], watch))
                return answers
            self._refused += 1
            if not self.sent and self._refused >= MAX_REFUSED:
                raise ProviderFailed(problem.message, hint=problem.hint) from problem
            return _Answers({}, {contents[0]: problem.message})
        except ProviderFailed as problem:
            self._failures += 1
            if self._failures >= self._patience.failures or not problem.is_passing:
                raise
            return _Answers({}, dict.fromkeys(contents, problem.message))
        # A success in between shows that the provider works, so only failures in a row count.
        self._failures = 0
        if self._clock() - began < FAST_SHARE * self._patience.timeout:
            self._request_size = min(2 * self._request_size, BATCH_TEXTS)
        quantised = quantise(vectors)
        scales = quantised.scales.astype(np.float16)
        self.sent += len(texts)
        # Stored before the next request: a killed run must not pay for these texts again.
        if self._store is not None:
            self._store.add(contents, quantised.vectors, scales)
        vectors_of = zip(quantised.vectors, scales, strict=True)
        return _Answers(dict(zip(contents, vectors_of, strict=True)), {})


class _Answers(NamedTuple):
    """Quantised vectors with their scales by the hash of the text, and reasons why other texts have none."""

    vectors: dict[bytes, tuple[NDArray[np.int8], np.float16]]
    refused: dict[bytes, str]

    def add(self, other: "_Answers") -> None:
        self.vectors.update(other.vectors)
        self.refused.update(other.refused)


def open_stage(
    settings: Settings, paths: IndexPaths, fingerprint: str, patience: Patience = RUN_PATIENCE
) -> EmbeddingStage | None:
    """Return the stage for the selected provider, None if workers embed by themselves.

    `fingerprint` is that of the index, if it has one with dimensions. Raises: ConfigError, ProviderFailed.
    """
    provider = selected_provider(settings)
    if provider.is_bundled:
        return None
    # An index knows the length of its vectors, so the provider need not be asked for it.
    encoder = load(provider, dimensions_of(fingerprint))
    if not provider.is_remote:
        return EmbeddingStage(encoder, paths)
    store = VectorFiles(paths.vectors, encoder.fingerprint, encoder.dimensions)
    return EmbeddingStage(encoder, paths, store, patience)


def _without_failed(rows: Rows, failed: Mapping[int, str]) -> Embedded:
    """Return rows without those of blobs with a failed row, and the reasons by blob."""
    if not failed:
        return Embedded(rows, {})
    numbers = np.fromiter(failed, np.int64, len(failed))
    blobs = (np.searchsorted(rows.blobs.first, numbers, side="right") - 1).tolist()
    reasons = {rows.blobs.keys[blob][0].hex(): failed[row] for row, blob in zip(failed, blobs, strict=True)}
    return Embedded(drop_blobs(rows, set(blobs)), reasons)


def drop_blobs(rows: Rows, blobs: Collection[int]) -> Rows:
    """Return rows without those of some blobs, whose outcome becomes `failed`."""
    sizes = differences(rows.blobs.first)
    is_kept = np.ones(len(sizes), np.bool_)
    is_kept[list(blobs)] = False
    outcomes = np.where(is_kept, rows.blobs.outcomes, np.uint8(_FAILED)).astype(np.uint8)
    # The next run replaces the blob, names included.
    names = [name if kept else b"" for name, kept in zip(rows.blobs.names, is_kept.tolist(), strict=True)]
    marked = dataclasses.replace(rows, blobs=dataclasses.replace(rows.blobs, outcomes=outcomes))
    return select_rows(marked, np.repeat(is_kept, sizes), names)
