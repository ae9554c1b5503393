"""Turn blobs into rows: chunk, count terms, embed, quantise. Only here do chunking and embedding meet.

Runs inside a worker process. The rows of a batch are columns that can be concatenated with those of other batches; see
`store.rows` for their meaning.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.chunk_size import DEFAULT_BOUNDS, ChunkBounds
from gitmem.chunking.languages import language_from_head
from gitmem.embedding.encoder import Encoder, quantise
from gitmem.identifier_counts import Counts, count_ids, distinct_identifiers
from gitmem.indexing.skip_reason import skip_reason
from gitmem.indexing.worker_protocol import Batch, BlobOutcome, PackedPostings, PackedRows
from gitmem.secrets.masking import mask_each
from gitmem.types import CHUNK_TYPES, Chunk
from gitmem.words import Text, count_identifiers, terms_of

_CHUNK_TYPE_CODES = {chunk_type: code for code, chunk_type in enumerate(CHUNK_TYPES)}
_HEAD_BYTES = 256


def build_rows(
    batch: Batch,
    encoder: Encoder,
    bounds: ChunkBounds = DEFAULT_BOUNDS,
    check_stop: Callable[[], None] = lambda: None,
) -> PackedRows:
    """Return the rows of a batch of blobs. `check_stop` runs before each blob and each few chunks."""
    builder = RowBuilder(bounds)
    # Secrets are masked byte for byte before anything reads the content, so no term, name or vector can leak one, and
    # the byte offsets of the chunks still hold for the original blob.
    texts = [_classify(*blob) for blob in batch]
    masked = iter(mask_each([blob.content for blob, (_, reason) in zip(batch, texts, strict=True) if not reason]))
    for language, reason in texts:
        check_stop()
        builder.add(language, reason, b"" if reason else next(masked))
    return builder.finish(encoder, check_stop)


def _classify(language: str, content: bytes) -> tuple[str, str]:
    """Return the language of a blob, from its content if none is requested, and why it gets no rows, else ""."""
    language = language or language_from_head(content[:_HEAD_BYTES])
    return language, skip_reason(content, language)


class RowBuilder:
    """Rows of a batch under construction: call `add` for each blob, then `finish` once.

    Embedding waits for `finish` because the encoder is much faster with many texts at once.
    """

    def __init__(self, bounds: ChunkBounds = DEFAULT_BOUNDS) -> None:
        self._bounds = bounds
        self._blobs: list[BlobOutcome] = []
        self._columns: dict[str, list[int]] = {name: [] for name in ("start", "length", "line", "lines", "kind")}
        self._symbols: list[bytes] = []
        self._texts: list[Text] = []
        self._bodies: list[dict[str, int]] = []
        self._names: list[dict[str, int]] = []

    def add(self, language: str, reason: str, content: bytes) -> None:
        """Chunk one blob without secrets. With a reason it gets no rows, and the reason is its outcome."""
        if reason:
            self._blobs.append(BlobOutcome(language, reason, 0))
            return
        chunked = chunk_blob(content, language, self._bounds)
        encoding = _encoding(content)
        for chunk in chunked.chunks:
            self._add_chunk(chunk, content, encoding)
        outcome = ("parsed" if chunked.parsed else "text") if chunked.chunks else "empty"
        self._blobs.append(BlobOutcome(chunked.language, outcome, len(chunked.chunks)))

    def _add_chunk(self, chunk: Chunk, content: bytes, encoding: str) -> None:
        own = "\n".join(content[start:end].decode(encoding, "replace") for start, end in chunk.parts)
        body = count_identifiers(own)
        name = count_identifiers(chunk.symbol)
        columns = self._columns
        columns["start"].append(chunk.start)
        columns["length"].append(chunk.end - chunk.start)
        columns["line"].append(chunk.start_line)
        columns["lines"].append(chunk.end_line - chunk.start_line + 1)
        columns["kind"].append(_CHUNK_TYPE_CODES[chunk.chunk_type])
        self._bodies.append(body.identifiers)
        self._names.append(name.identifiers)
        self._symbols.append(chunk.symbol.encode("utf-8", "replace"))
        # Terms of body and symbol are separate fields of the lexical index, but one text for the embedding.
        counts = dict(body.identifiers)
        for identifier, times in name.identifiers.items():
            counts[identifier] = counts.get(identifier, 0) + times
        self._texts.append(Text(f"{chunk.symbol}\n{own}", counts))

    def finish(self, encoder: Encoder, check_stop: Callable[[], None] = lambda: None) -> PackedRows:
        """Embed the batch and return its rows."""
        embeddings = encoder.encode(self._texts, check_stop)
        terms, counts = _count_terms(self._bodies)
        words = np.bincount(counts.bags, counts.counts, len(self._texts)).clip(max=65535)
        quantised = quantise(embeddings.vectors)
        columns = {name: np.array(values, "<u4").tobytes() for name, values in self._columns.items()}
        columns["words"] = words.astype("<u4").tobytes()
        columns["scale"] = quantised.scales.astype("<f2").tobytes()
        columns["norm"] = embeddings.norms.astype("<f2").tobytes()
        return PackedRows(
            self._blobs,
            columns,
            self._symbols,
            quantised.vectors.tobytes(),
            encoder.dimensions,
            {"text": _pack_postings(terms, counts), "symbol": _pack_postings(*_count_terms(self._names))},
        )


def _count_terms(texts: Sequence[Mapping[str, int]]) -> tuple[list[bytes], Counts]:
    """Return the terms of a batch, numbered in order of appearance, and the count of each in each row."""
    numbers: dict[str, int] = {}
    ids = {
        identifier: [numbers.setdefault(term, len(numbers)) for term in terms_of(identifier)]
        for identifier in distinct_identifiers(texts)
    }
    counts = count_ids(texts, ids)
    return [term.encode("utf-8", "replace") for term in numbers], counts


def _pack_postings(terms: list[bytes], counts: Counts) -> PackedPostings:
    capped = counts.counts.clip(max=255).astype("<u1")
    return PackedPostings(
        terms, counts.ids.astype("<i4").tobytes(), counts.bags.astype("<i4").tobytes(), capped.tobytes()
    )


def _encoding(content: bytes) -> str:
    """Return utf-8 if the content is valid UTF-8, else latin-1, which decodes anything."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"
