"""The bundled model: static embeddings, a table of word-piece vectors inside an ONNX graph.

Many texts go through onnxruntime. A query is a handful of rows, so numpy sums them from the mapped file with the same
formula. Importing onnxruntime and opening a session would cost more than the rest of a query. The files are checked
against the card before use. Indexing checks the weights by SHA-256. Queries check them by CRC-32, which is 7 times
cheaper. The files that split words are checked by CRC-32. `gitmem doctor` checks the SHA-256 of all files.
"""

import hashlib
import mmap
import os
import threading
import zlib
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gitmem.embedding.card import Card
from gitmem.embedding.encoder import STEP_TEXTS, Embeddings
from gitmem.embedding.graph_inputs import FLOAT, INT8, Constant, move_to_inputs
from gitmem.embedding.pieces import MAX_CACHED, LongestPiece, WordPieces, longest_piece_in
from gitmem.embedding.vocabulary import Vocabulary
from gitmem.errors import ModelDamaged
from gitmem.fsio import read_file
from gitmem.identifier_counts import Bags, Counts, IdTable, Numbers, PartIds, bag_texts, one_by_one
from gitmem.maps import map_file
from gitmem.paths import bundled
from gitmem.words import Text

_BATCH_CELLS: Final = 1 << 14
"""Upper bound of rows times width of one padded batch: its gathered rows fit into the processor's cache."""

_CACHED_NAMES: Final = 4096
"""Short texts whose vectors are cached, one kilobyte each. Queries meet the same paths often."""

_MAX_CACHED_TEXT: Final = 1000
"""Longest text, in characters, whose vector is cached. Longer ones are parts of issues and logs and do not recur."""

_CACHED_QUERY_WORDS: Final = 1 << 14
"""Words of queries and paths whose pieces a long-lived process caches: at most some 5 MB."""

_WIDTH_STEP: Final = 16
"""Batches are padded to multiples of this, so that a vector does not depend on the other texts of its batch."""


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

    def encode(self, texts: Bags, before_step: Callable[[], None] = lambda: None) -> Embeddings:
        pieces = self._without_unknown(self._piece_ids.count(texts))
        sizes = np.bincount(pieces.bags, minlength=texts.size)
        vectors = np.zeros((texts.size, self.dimensions), np.float32)
        norms = np.zeros(texts.size, np.float32)
        groups = [group for group in _batches(sizes.tolist()) if sizes[group[-1]]]
        # The last text of a batch is its longest.
        widths = [-(-int(sizes[group[-1]]) // _WIDTH_STEP) * _WIDTH_STEP for group in groups]
        ids, weights, ends = _pad(pieces, sizes, groups, widths)
        for group, width, end in zip(groups, widths, ends, strict=True):
            before_step()
            cells = slice(end - len(group) * width, end)
            feed = {"input_ids": ids[cells].reshape(-1, width), "token_weight": weights[cells].reshape(-1, width)}
            session, tables = self._session
            vectors[group], norms[group] = session.run(None, feed | tables)
        return Embeddings(vectors, norms)

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
        """Embed a few texts by numpy, from the mapped file."""
        # From Python 3.12 on, cached_property does not lock: concurrent first queries would each check the whole file.
        with self._loading:
            splitter, (table, scale) = self._query_pieces, self._tables
        pieces = self._without_unknown(IdTable(one_by_one(splitter.ids_of)).count(bag_texts(texts)))
        # The vectors are int8 with a scale each, which is multiplied into the weight: that saves dequantising the rows.
        weights = (1.0 + np.log(pieces.counts)).astype(np.float32) * scale[pieces.ids]
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        filled = np.flatnonzero(np.bincount(pieces.bags, minlength=len(texts)))
        if len(filled):
            starts = np.searchsorted(pieces.bags, filled)
            vectors[filled] = np.add.reduceat(table[pieces.ids] * weights[:, None], starts)
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        vectors /= np.maximum(lengths, 1e-6)[:, None]
        return vectors

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

    @cached_property
    def _session(self) -> tuple[Any, dict[str, NDArray[Any]]]:
        """Session of the library, and the inputs that are the same for all texts."""
        # The requirements exclude releases of onnxruntime that can send usage events to its makers. If one is installed
        # nonetheless, this stops it from starting its uploader and from writing an identifier into the home directory.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import onnxruntime  # lazily: a query never needs it, and importing it takes longer than the query

        mapped = map_file(self._folder / "model.onnx")
        sha256 = hashlib.sha256(mapped or b"").hexdigest()
        self._require(mapped is not None and sha256 == self._card.sha256["model.onnx"], "model.onnx")
        assert mapped is not None
        table, scale = self._view_tables(mapped)
        # The tables stay in the mapped file, which all workers share: a copy in each took 45 ms and 32 MB.
        constants = {"table": Constant(INT8, table.shape), "scale": Constant(FLOAT, scale.shape)}
        graph = move_to_inputs(memoryview(mapped), constants)
        # One thread: indexing runs a process for each core. The graph is a lookup and a sum, with nothing to optimise.
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        return session, {"table": table, "scale": scale}

    def _require(self, good: bool, name: str) -> None:
        if not good:
            raise ModelDamaged(f"`{self._folder / name}` differs from its card")


def _batches(lengths: list[int]) -> list[list[int]]:
    """Group at most `STEP_TEXTS` positions of texts of similar length, so that little of each batch is padding.

    Sorts by length and fills batches greedily: the last text of a batch is its longest.
    """
    groups: list[list[int]] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        fits = groups and (len(groups[-1]) + 1) * max(1, lengths[place]) <= _BATCH_CELLS
        if fits and len(groups[-1]) < STEP_TEXTS:
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups


def _pad(
    pieces: Counts, sizes: Numbers, groups: Sequence[Sequence[int]], widths: Sequence[int]
) -> tuple[Numbers, NDArray[np.float32], Sequence[int]]:
    """Return the piece ids and weights of all batches, each text padded to the width of its batch, one after the other.

    Also return where each batch ends. Padding has the weight 0 and so adds nothing.
    """
    texts = np.array([text for group in groups for text in group], np.int64)
    ends = np.cumsum(np.repeat(widths, [len(group) for group in groups]), dtype=np.int64)
    starts = np.zeros(len(sizes), np.int64)
    starts[texts[1:]] = ends[:-1]
    # Pieces are sorted by text, so the place of each within its text follows from the place of the first.
    places = np.arange(len(pieces.ids)) + np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
    ids = np.zeros(int(ends[-1]) if len(ends) else 0, np.int64)
    weights = np.zeros(len(ids), np.float32)
    ids[places], weights[places] = pieces.ids, 1.0 + np.log(pieces.counts)
    return ids, weights, np.cumsum([len(group) * width for group, width in zip(groups, widths, strict=True)]).tolist()
