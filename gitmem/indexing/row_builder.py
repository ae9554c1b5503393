"""Turn blobs into rows: chunk, count terms, embed, quantise. Only here do chunking and embedding meet.

Runs inside a worker process. The rows of a batch are columns that can be concatenated with those of other batches; see
`store.rows` for their meaning.
"""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.chunk_size import DEFAULT_BOUNDS, ChunkBounds
from gitmem.chunking.generated_code import is_generated
from gitmem.chunking.languages import language_from_head
from gitmem.chunking.notebook import DAMAGED_LANGUAGE, Cell, read_notebook
from gitmem.chunking.test_code import may_contain_tests
from gitmem.commit import commit_text
from gitmem.embedding.encoder import BagEncoder, quantise
from gitmem.identifier_counts import Bags, Counts, Identifiers, IdTable, Numbers, count_occurrences
from gitmem.indexing.content_hash import chunk_text, content_hash
from gitmem.indexing.identifier_terms import IdentifierTerms
from gitmem.indexing.known_vectors import KnownVectors, Vectors
from gitmem.indexing.past_rows import Definitions
from gitmem.indexing.skip_reason import skip_reason
from gitmem.indexing.word_finder import Spans, encoding_of, find_words
from gitmem.indexing.worker_protocol import Batch, BlobOutcome, PackedPostings, PackedRows
from gitmem.named_tuple import NamedTuple
from gitmem.secrets.masking import mask_each
from gitmem.store.columns import CONTENT_BYTES, GENERATED_BIT, TESTS_BIT
from gitmem.store.labels import pack_label
from gitmem.store.occurrences import pack_occurrences
from gitmem.store.vector_levels import snap_to_levels
from gitmem.types import CHUNK_TYPES, COMMIT, NOTEBOOK_LANGUAGE, Chunk
from gitmem.words import utf8_text

_CHUNK_TYPE_CODES: Final = {chunk_type: code for code, chunk_type in enumerate(CHUNK_TYPES)}
_HEAD_BYTES: Final = 256

_MAX_IDENTIFIERS: Final = 100_000
"""Identifiers whose terms and word pieces are kept for the next batch: some 40 MB."""


def build_rows(
    batch: Batch,
    encoder: BagEncoder | None,
    bounds: ChunkBounds = DEFAULT_BOUNDS,
    check_stop: Callable[[], None] = lambda: None,
    known: KnownVectors | None = None,
) -> PackedRows:
    """Return the rows of one batch of blobs, see `RowBuilder.build`."""
    return RowBuilder(encoder, bounds).build(batch, check_stop, known)


class _Text(NamedTuple):
    """Text of a blob, its language, why it gets no rows, else "", and the cells in it if it is a notebook."""

    language: str
    reason: str
    content: bytes
    cells: tuple[Cell, ...] = ()


def _read_text(language: str, content: bytes) -> _Text:
    """Return the text of a blob. If no language is requested, the content determines it."""
    language = language or language_from_head(content[:_HEAD_BYTES])
    notebook = read_notebook(content) if language == NOTEBOOK_LANGUAGE else None
    if notebook is not None:
        return _Text(language, "" if notebook.cells else "empty", notebook.text, notebook.cells)
    language = DAMAGED_LANGUAGE if language == NOTEBOOK_LANGUAGE else language
    content = commit_text(content) if language == COMMIT else content
    # The parser reads UTF-8 alone: an identifier in Latin-1 would end at its first letter beyond ASCII.
    reason = skip_reason(content, language)
    return _Text(language, reason, content if reason else utf8_text(content))


class RowBuilder:
    """Builds the rows of one batch of blobs after the other. Keeps what it knows about identifiers in between.

    Without an encoder the rows have no vectors, but their texts, for a provider that reads text.
    """

    def __init__(self, encoder: BagEncoder | None, bounds: ChunkBounds = DEFAULT_BOUNDS) -> None:
        self._encoder = encoder
        self.bounds = bounds
        self.embeds = encoder is not None
        self._definitions = Definitions() if bounds.past_run else None
        self._forget()

    def _forget(self) -> None:
        self._identifiers = Identifiers()
        self._terms = IdentifierTerms()
        self._term_ids = IdTable(self._terms.look_up)

    def build(
        self, batch: Batch, check_stop: Callable[[], None] = lambda: None, known: KnownVectors | None = None
    ) -> PackedRows:
        """Return the rows of a batch. `check_stop` runs before each blob and each few chunks.

        Chunks in `known` are not embedded.
        """
        if len(self._identifiers) > _MAX_IDENTIFIERS:
            self._forget()
        if self._definitions is not None:
            self._definitions.roll_back()
        chunks = _BatchChunks(self.bounds, self._identifiers, self._definitions)
        # Secrets are masked byte for byte before anything reads the text, so no term, name or vector can leak one, and
        # the byte offsets of the chunks still hold for the text that `chunking.blob_text` makes of the blob.
        texts = [_read_text(*blob) for blob in batch]
        masked = iter(mask_each([text.content for text in texts if not text.reason]))
        for text in texts:
            check_stop()
            chunks.add(text._replace(content=b"" if text.reason else next(masked)))
        size = len(chunks.symbols)
        bodies, names = chunks.count_bodies(), chunks.count_names()
        # Terms of body and symbol are separate fields of the lexical index, but one text for the embedding. Embedding
        # waits for the whole batch because the encoder is much faster with many texts at once.
        both = Counts(*(np.concatenate(pair) for pair in zip(bodies, names, strict=True)))
        vectors = self._embed(chunks.contents, both, check_stop, known or KnownVectors())
        passages = chunks.read_texts() if self._encoder is None else []
        body = self._term_ids.count(Bags(self._identifiers, size, bodies))
        symbol = self._term_ids.count(Bags(self._identifiers, size, names))
        columns = {name: np.array(values, "<u4").tobytes() for name, values in chunks.columns.items()}
        columns["words"] = np.bincount(body.bags, body.counts, size).clip(max=65535).astype("<u4").tobytes()
        columns["scale"] = vectors.scales.tobytes()
        columns["norm"] = vectors.norms.tobytes()
        if self._definitions is not None:
            self._definitions.commit()
        return PackedRows(
            chunks.blobs,
            columns,
            chunks.labels,
            vectors.vectors.tobytes(),
            vectors.vectors.shape[1],
            {"text": self._pack_postings(body), "symbol": self._pack_postings(symbol)},
            b"".join(chunks.contents),
            texts=passages,
        )

    def _embed(
        self, contents: Sequence[bytes], counts: Counts, check_stop: Callable[[], None], known: KnownVectors
    ) -> Vectors:
        """Return the vectors of all texts; each content is embedded once, and not at all if it is known."""
        hashes = np.frombuffer(b"".join(contents), np.uint8).reshape(-1, CONTENT_BYTES)
        if self._encoder is None:
            return KnownVectors().find(hashes, 0)
        found = known.find(hashes, self._encoder.dimensions)
        first: dict[bytes, int] = {}  # of equal contents in this batch the first is embedded
        for text in found.missing.tolist():
            first.setdefault(contents[text], text)
        new = np.fromiter(first.values(), np.int64, len(first))
        bags = Bags(self._identifiers, len(new), _select_bags(counts, new, len(contents)))
        embeddings = self._encoder.encode(bags, check_stop)
        quantised = snap_to_levels(*quantise(embeddings.vectors))
        found.vectors[new] = quantised.vectors
        found.scales[new], found.norms[new] = quantised.scales.astype("<f2"), embeddings.norms.astype("<f2")
        sources = np.fromiter((first[contents[text]] for text in found.missing.tolist()), np.int64, len(found.missing))
        for values in (found.vectors, found.scales, found.norms):
            values[found.missing] = values[sources]
        return found

    def _pack_postings(self, counts: Counts) -> PackedPostings:
        """Return the postings of one field. Only the terms that occur are listed, and numbered anew."""
        names = self._terms.names
        is_used = np.zeros(len(names), np.bool_)
        is_used[counts.ids] = True
        return PackedPostings(
            [names[number] for number in np.flatnonzero(is_used).tolist()],
            (np.cumsum(is_used) - 1)[counts.ids].astype("<i4").tobytes(),
            counts.bags.astype("<i4").tobytes(),
            counts.counts.clip(max=255).astype("<u1").tobytes(),
        )


def _select_bags(counts: Counts, selected: Numbers, size: int) -> Counts:
    """Return the counts of selected bags, ascending, of `size` bags; they are numbered anew."""
    numbers = np.full(size, -1, np.int64)
    numbers[selected] = np.arange(len(selected))
    bags = numbers[counts.bags]
    is_selected = bags >= 0
    return Counts(bags[is_selected], counts.ids[is_selected], counts.counts[is_selected])


class _BatchChunks:
    """Chunks of a batch under construction, as columns, with the identifiers in them."""

    def __init__(self, bounds: ChunkBounds, identifiers: Identifiers, definitions: Definitions | None) -> None:
        self._bounds = bounds
        self._identifiers = identifiers
        self._definitions = definitions
        self.blobs: list[BlobOutcome] = []
        self.columns: dict[str, list[int]] = {
            name: [] for name in ("start", "length", "line", "lines", "kind", "kinds")
        }
        self.symbols: list[bytes] = []
        self.labels: list[bytes] = []
        self.contents: list[bytes] = []
        self._texts: list[bytes] = []
        self._rows: list[list[Spans]] = []

    def add(self, text: _Text) -> None:
        """Chunk one text without secrets. With a reason it gets no rows, and the reason is its outcome."""
        if text.reason:
            self.blobs.append(BlobOutcome(text.language, text.reason, 0))
            return
        chunked = chunk_blob(text.content, text.language, self._bounds, text.cells)
        chunks, names = chunked.chunks, chunked.names
        encoding = encoding_of(text.content)
        contents = [content_hash(_symbol(chunk), text.content, chunk.parts, encoding) for chunk in chunks]
        if self._definitions is not None:
            new, names = self._definitions.select(chunks, contents)
            chunks, contents = [chunks[place] for place in new], [contents[place] for place in new]
        if chunks:
            traits = GENERATED_BIT if is_generated(text.content) else 0
            traits |= TESTS_BIT if may_contain_tests(text.content, chunked.language) else 0
            self._add_chunks(chunks, contents, text.content, traits)
        outcome = ("parsed" if chunked.parsed else "text") if chunked.chunks else "empty"
        self.blobs.append(BlobOutcome(chunked.language, outcome, len(chunks), pack_occurrences(names)))

    def _add_chunks(self, chunks: Sequence[Chunk], contents: Sequence[bytes], content: bytes, traits: int) -> None:
        columns = self.columns
        columns["start"] += [chunk.start for chunk in chunks]
        columns["length"] += [chunk.end - chunk.start for chunk in chunks]
        columns["line"] += [chunk.start_line for chunk in chunks]
        columns["lines"] += [chunk.end_line - chunk.start_line + 1 for chunk in chunks]
        columns["kind"] += [_CHUNK_TYPE_CODES[chunk.chunk_type] for chunk in chunks]
        columns["kinds"] += [_kinds_of(chunk) | traits for chunk in chunks]
        symbols = list(map(_symbol, chunks))
        self.symbols += symbols
        self.labels += [pack_label(symbol, chunk) for symbol, chunk in zip(symbols, chunks, strict=True)]
        self.contents += contents
        self._texts.append(content)
        self._rows.append([chunk.parts for chunk in chunks])

    def read_texts(self) -> list[bytes]:
        """Return the text of each row as a model reads it: its symbol, then its own text."""
        symbols = iter(self.symbols)
        texts = []
        for content, rows in zip(self._texts, self._rows, strict=True):
            encoding = encoding_of(content)
            for parts in rows:
                symbol = next(symbols)
                text = chunk_text(content, parts, encoding)
                texts.append(symbol + b"\n" + text if symbol else text)
        return texts

    def count_bodies(self) -> Counts:
        """Count the identifiers in the own text of each row."""
        return count_occurrences(*find_words(self._texts, self._rows, self._identifiers))

    def count_names(self) -> Counts:
        """Count the identifiers in the symbol of each row."""
        rows: list[Spans] = [[(0, len(symbol))] for symbol in self.symbols]
        return count_occurrences(*find_words(self.symbols, [[row] for row in rows], self._identifiers))


def _symbol(chunk: Chunk) -> bytes:
    return chunk.symbol.encode("utf-8", "replace")


def _kinds_of(chunk: Chunk) -> int:
    """Return the set of the types of a chunk's results, as bits."""
    if not chunk.units:
        return 1 << _CHUNK_TYPE_CODES[chunk.chunk_type]
    kinds = 0
    for unit in chunk.units:
        kinds |= 1 << _CHUNK_TYPE_CODES[unit.chunk_type]
    return kinds
