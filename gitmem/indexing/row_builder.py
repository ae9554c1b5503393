"""Blobs to rows: chunk, count words, embed, quantise. The one place where chunking and embedding meet.

Runs inside a worker process. A batch goes in as (language, bytes) pairs and comes out as columns, ready to be joined
with other batches; see `store.rows` for what they mean.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.languages import language_from_head
from gitmem.credentials import hide_secrets
from gitmem.embedding.encoder import Encoder, quantise
from gitmem.identifier_counts import Counts, count_ids
from gitmem.indexing.skip_reason import skip_reason
from gitmem.types import CHUNK_TYPES, Chunk
from gitmem.words import Text, count_identifiers, terms_of

_CHUNK_TYPE_CODES = {chunk_type: code for code, chunk_type in enumerate(CHUNK_TYPES)}
_HEAD = 256


class RowBuilder:
    """A batch on its way: call `add` for each blob, then `finish`."""

    def __init__(self) -> None:
        self.blobs: list[tuple[str, str, int]] = []
        self.columns: dict[str, list[int]] = {name: [] for name in ("start", "length", "line", "lines", "kind")}
        self.symbols: list[bytes] = []
        self.texts: list[Text] = []
        self.bodies: list[dict[str, int]] = []
        self.names: list[dict[str, int]] = []

    def add(self, language: str, data: bytes) -> None:
        """Chunk one blob; a blob without rows is noted with the reason."""
        language = language or language_from_head(data[:_HEAD])
        reason = skip_reason(data, language)
        if reason:
            self.blobs.append((language, reason, 0))
            return
        data = hide_secrets(data)
        chunked = chunk_blob(data, language)
        encoding = _encoding(data)
        for chunk in chunked.chunks:
            self._add_chunk(chunk, data, encoding)
        outcome = ("parsed" if chunked.parsed else "text") if chunked.chunks else "empty"
        self.blobs.append((chunked.language, outcome, len(chunked.chunks)))

    def _add_chunk(self, chunk: Chunk, data: bytes, encoding: str) -> None:
        own = "\n".join(data[start:end].decode(encoding, "replace") for start, end in chunk.parts)
        body = count_identifiers(own)
        name = count_identifiers(chunk.symbol)
        columns = self.columns
        columns["start"].append(chunk.start)
        columns["length"].append(chunk.end - chunk.start)
        columns["line"].append(chunk.start_line)
        columns["lines"].append(chunk.end_line - chunk.start_line + 1)
        columns["kind"].append(_CHUNK_TYPE_CODES[chunk.chunk_type])
        self.bodies.append(body.identifiers)
        self.names.append(name.identifiers)
        self.symbols.append(chunk.symbol.encode("utf-8", "replace"))
        counts = dict(body.identifiers)
        for identifier, times in name.identifiers.items():
            counts[identifier] = counts.get(identifier, 0) + times
        self.texts.append(Text(f"{chunk.symbol}\n{own}", counts))

    def finish(self, encoder: Encoder) -> dict[str, Any]:
        """Embed the batch and return it in types `marshal` can carry."""
        import numpy as np

        embeddings = encoder.encode(self.texts)
        terms, held = _count_terms(self.bodies)
        words = np.bincount(held.bags, held.counts, len(self.texts)).clip(max=65535)
        quantised = quantise(embeddings.vectors)
        columns = {name: np.array(values, "<u4").tobytes() for name, values in self.columns.items()}
        columns["words"] = words.astype("<u4").tobytes()
        columns["scale"] = quantised.scales.astype("<f2").tobytes()
        columns["norm"] = embeddings.norms.astype("<f2").tobytes()
        return {
            "blobs": self.blobs,
            "columns": columns,
            "symbols": self.symbols,
            "vectors": quantised.vectors.tobytes(),
            "dimensions": encoder.dimensions,
            "postings": {
                "text": _pack_postings(terms, held),
                "symbol": _pack_postings(*_count_terms(self.names)),
            },
        }


def _count_terms(texts: Sequence[Mapping[str, int]]) -> tuple[list[bytes], Counts]:
    """The terms of a batch, numbered within it, and how often each stands in each row."""
    numbers: dict[str, int] = {}

    def ids_of(identifier: str) -> list[int]:
        return [numbers.setdefault(term, len(numbers)) for term in terms_of(identifier)]

    counts = count_ids(texts, ids_of)
    return [term.encode("utf-8", "replace") for term in numbers], counts


def _pack_postings(terms: list[bytes], counts: Counts) -> tuple[list[bytes], bytes, bytes, bytes]:
    capped = counts.counts.clip(max=255).astype("<u1")
    return terms, counts.ids.astype("<i4").tobytes(), counts.bags.astype("<i4").tobytes(), capped.tobytes()


def build_rows(batch: Iterable[tuple[str, bytes]], encoder: Encoder) -> dict[str, Any]:
    """Turn a batch of blobs into rows."""
    builder = RowBuilder()
    for language, data in batch:
        builder.add(language, data)
    return builder.finish(encoder)


def _encoding(data: bytes) -> str:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"
