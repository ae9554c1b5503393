"""The bundled model: static embeddings, a table of word-piece vectors inside an ONNX graph.

numpy sums the vectors from the mapped file, for texts and queries alike: importing onnxruntime and opening a session
would cost more than a query, or than embedding a hundred chunks. The files are checked against the card by CRC-32
before use. `gitmem doctor` checks their SHA-256.
"""

import hashlib
import mmap
import threading
import zlib
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.embedding.card import Card
from gitmem.embedding.encoder import STEP_TEXTS, Embeddings
from gitmem.embedding.pieces import MAX_CACHED, LongestPiece, WordPieces, longest_piece_in
from gitmem.embedding.vocabulary import Vocabulary
from gitmem.errors import ModelDamaged
from gitmem.fsio import read_file
from gitmem.identifier_counts import Bags, Counts, IdTable, PartIds, bag_texts, one_by_one
from gitmem.maps import map_file
from gitmem.paths import bundled
from gitmem.words import Text

BLOCK_PIECES: Final = 512
"""Vectors that are converted at once: they fit into the processor's cache."""

_UNIT: Final = float(1 << 24)
"""Fixed-point unit of weights. A weight is below 32, a component at most 127, and a text has at most 65,536 different
pieces, so every sum is a whole number below 2 ** 53 and exact in double precision."""

_CACHED_NAMES: Final = 4096
"""Short texts whose vectors are cached, one kilobyte each. Queries meet the same paths often."""

_MAX_CACHED_TEXT: Final = 1000
"""Longest text, in characters, whose vector is cached. Longer ones are parts of issues and logs and do not recur."""

_CACHED_QUERY_WORDS: Final = 1 << 14
"""Words of queries and paths whose pieces a long-lived process caches: at most some 5 MB."""


class BundledEncoder:
    """Sums the vectors of a text's distinct word pieces, weighted by 1 + ln(count), and scales the sum to unit length.

    The logarithm is the sublinear term frequency of information retrieval: a repeated word counts more, but not in
    proportion. Raises ModelDamaged if a file is missing or differs from the card.
    """

    def __init__(self, folder: Path | None = None, cached_names: int = _CACHED_NAMES) -> None:
        self._folder = folder or bundled("models")
        self._card = Card(self._folder)
        self.fingerprint, self.dimensions = self._card.fingerprint, self._card.dimensions
        self._cached_names = cached_names
        self._names: dict[str, NDArray[np.float32]] = {}
        self._loading = threading.Lock()

    @property
    def names(self) -> "BundledEncoder":
        """Return this encoder: it embeds a path within microseconds."""
        return self

    def load(self) -> None:
        """Read the files that `encode` needs. Raises ModelDamaged."""
        _ = self._piece_ids, self._tables

    def check(self) -> None:
        """Compare the SHA-256 of all files with the card. Raises ModelDamaged."""
        for name, expected in self._card.sha256.items():
            data = read_file(self._folder / name)
            self._require(data is not None and hashlib.sha256(data).hexdigest() == expected, name)

    def encode(self, texts: Bags, before_step: Callable[[], None] = lambda: None) -> Embeddings:
        return self._sum_pieces(self._piece_ids.count(texts), texts.size, before_step)

    def encode_query(self, text: Text) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self.encode_names([text])[0]
        return vector

    def encode_names(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        vectors = {text.text: self._names.get(text.text) for text in texts}
        new = [text for text in texts if vectors[text.text] is None]
        if new:
            added = dict(zip([text.text for text in new], self._encode_directly(new), strict=True))
            kept = {text: vector for text, vector in added.items() if len(text) <= _MAX_CACHED_TEXT}
            if len(self._names) + len(kept) > self._cached_names:
                self._names.clear()
            self._names.update(kept)
            vectors.update(added)
        return np.array([vectors[text.text] for text in texts], np.float32).reshape(len(texts), self.dimensions)

    def _encode_directly(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        """Embed a few texts without loading the vocabulary."""
        # From Python 3.12 on, cached_property does not lock: concurrent first queries would each check the whole file.
        with self._loading:
            splitter, _ = self._query_pieces, self._tables
        pieces = IdTable(one_by_one(splitter.ids_of)).count(bag_texts(texts))
        return self._sum_pieces(pieces, len(texts)).vectors

    def _sum_pieces(self, pieces: Counts, size: int, before_step: Callable[[], None] = lambda: None) -> Embeddings:
        """Embed `size` texts, given their pieces."""
        pieces = self._without_unknown(pieces)
        table, scale = self._tables
        # A vector is int8 with a scale, which is multiplied into the weight: that saves dequantising the rows. Weights
        # are whole numbers, so that sums are exact: they depend neither on the order, in which libraries and processors
        # differ, nor on the other texts.
        weights = np.rint((1.0 + np.log(pieces.counts)) * scale[pieces.ids] * _UNIT)
        ends = np.searchsorted(pieces.bags, np.arange(size + 1)).tolist()
        sums = np.zeros((size, self.dimensions))
        for first in range(0, size, STEP_TEXTS):
            before_step()
            end = ends[min(first + STEP_TEXTS, size)]
            for start in range(ends[first], end, BLOCK_PIECES):
                stop = min(start + BLOCK_PIECES, end)
                rows = table[pieces.ids[start:stop]].astype(np.float64)
                for text in range(pieces.bags[start], pieces.bags[stop - 1] + 1):
                    own = slice(max(ends[text], start), min(ends[text + 1], stop))
                    sums[text] += weights[own] @ rows[own.start - start : own.stop - start]
        sums /= _UNIT
        norms = np.sqrt(np.square(sums).sum(axis=1))
        vectors = sums / np.maximum(norms, 1e-6)[:, None]
        return Embeddings(vectors.astype(np.float32), norms.astype(np.float32))

    def _without_unknown(self, pieces: Counts) -> Counts:
        """Leave out the vector that all words without pieces share: texts of such words would resemble each other."""
        return Counts(*(column[pieces.ids != self._card.unknown] for column in pieces))

    @cached_property
    def _pieces(self) -> WordPieces:
        """Splitter for many texts, with the whole vocabulary in a dictionary."""
        return self._split_with(longest_piece_in(self._vocabulary.load()), MAX_CACHED)

    @cached_property
    def _piece_ids(self) -> IdTable:
        return IdTable(PartIds(self._pieces.ids_of_part, self._pieces.ids_of).look_up)

    @cached_property
    def _query_pieces(self) -> WordPieces:
        """Splitter for queries, by lookups in the file: for a dozen words, loading the vocabulary would not pay."""
        return self._split_with(self._vocabulary.find_longest, _CACHED_QUERY_WORDS)

    def _split_with(self, longest: LongestPiece, max_cached: int) -> WordPieces:
        card = self._card
        return WordPieces(longest, card.unknown, card.longest_word, lambda: self._read("tokenizer.json"), max_cached)

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self._read("pieces.bin"))

    def _read(self, name: str) -> bytes:
        """Read a file and check its CRC-32."""
        data = read_file(self._folder / name)
        self._require(data is not None and zlib.crc32(data) == self._card.crc32[name], name)
        assert data is not None
        return data

    @cached_property
    def _tables(self) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """Vectors [vocabulary, dimensions] and their scales [vocabulary], as views of the mapped file."""
        mapped = map_file(self._folder / "model.onnx")
        self._require(mapped is not None and zlib.crc32(mapped) == self._card.crc32["model.onnx"], "model.onnx")
        assert mapped is not None
        return self._view_tables(mapped)

    def _view_tables(self, mapped: mmap.mmap | bytes) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        rows, width = self._card.vocabulary, self.dimensions
        ends = self._card.table_offset + rows * width, self._card.scale_offset + 4 * rows
        self._require(min(rows, width) > 0 and max(ends) <= len(mapped), "model.onnx")
        table = np.frombuffer(mapped, np.int8, rows * width, self._card.table_offset).reshape(rows, width)
        scale = np.frombuffer(mapped, "<f4", rows, self._card.scale_offset)
        # A wrong offset in the card would read other bytes as scales, and those are hardly ever all between 0 and 1.
        self._require(bool(((scale >= 0) & (scale < 1)).all()), "card.json")
        return table, scale

    def _require(self, good: bool, name: str) -> None:
        if not good:
            raise ModelDamaged(f"`{self._folder / name}` differs from its card")
