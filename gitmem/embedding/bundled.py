"""The model that ships with gitmem: a static table of word-piece vectors inside an ONNX graph.

Many texts go through onnxruntime. One question is a handful of rows, so it is summed from the mapped file by numpy,
with the same formula: importing onnxruntime and opening a session would cost more than the rest of a query. The weights
are checked against the card before use: by SHA-256 for indexing, by CRC-32 for a question (7 times cheaper); what
splits words by CRC-32. `gitmem doctor` checks the SHA-256 of all.
"""

import hashlib
import os
import zlib
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gitmem.embedding.card import Card
from gitmem.embedding.encoder import Embeddings
from gitmem.embedding.pieces import Pieces, longest_of
from gitmem.embedding.vocabulary import Vocabulary
from gitmem.errors import ModelDamaged
from gitmem.fsio import map_file, read_file
from gitmem.paths import bundled
from gitmem.words import Text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BATCH_CELLS: Final = 1 << 14
"""Upper bound of rows times width of one padded batch: its gathered rows stay within the processor's cache."""


_NAMES: Final = 4096
"""Short texts whose vectors are remembered, a kilobyte each: the paths that questions meet are often the same."""

_WIDTH_STEP: Final = 16
"""Batches are padded to multiples of this, so that a vector does not depend on what else is in its batch."""


class BundledEncoder:
    """Distinct word pieces of a text, each weighted 1 + ln(count), summed and scaled to unit length."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or bundled("models")
        self._card = Card(self._folder)
        self.fingerprint, self.dimensions = self._card.fingerprint, self._card.dimensions
        self._names: dict[str, NDArray[np.float32]] = {}

    def encode(self, texts: Sequence[Text]) -> Embeddings:
        import numpy as np

        from gitmem.identifier_counts import count_ids

        held = count_ids([text.identifiers for text in texts], self._pieces.of_identifier)
        weights = (1.0 + np.log(held.counts)).astype(np.float32)
        sizes = np.bincount(held.bags, minlength=len(texts))
        starts = np.cumsum(sizes) - sizes
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        norms = np.zeros(len(texts), np.float32)
        for places in _batches(sizes.tolist()):
            columns = np.arange(-(-int(sizes[places[-1]]) // _WIDTH_STEP) * _WIDTH_STEP)
            filled = columns < sizes[places, None]
            cells = np.where(filled, starts[places, None] + columns, 0)
            if not filled.any():
                continue
            feed = {"input_ids": np.where(filled, held.ids[cells], 0), "token_weight": weights[cells] * filled}
            vectors[places], norms[places] = self._session.run(None, feed)
        return Embeddings(vectors, norms)

    def encode_query(self, text: Text) -> "NDArray[np.float32]":
        vector: NDArray[np.float32] = self.encode_names([text])[0]
        return vector

    def encode_names(self, texts: Sequence[Text]) -> "NDArray[np.float32]":
        import numpy as np

        known = {text.text: self._names.get(text.text) for text in texts}
        new = [text for text in texts if known[text.text] is None]
        if new:
            made = dict(zip([text.text for text in new], self._encode_few(new), strict=True))
            if len(self._names) + len(made) > _NAMES:
                self._names.clear()
            self._names.update(made)
            known.update(made)
        return np.array([known[text.text] for text in texts], np.float32).reshape(len(texts), self.dimensions)

    def _encode_few(self, texts: Sequence[Text]) -> "NDArray[np.float32]":
        import numpy as np

        from gitmem.identifier_counts import count_ids

        held = count_ids([text.identifiers for text in texts], self._few_pieces.of_identifier)
        table, scale = self._tables
        weights = (1.0 + np.log(held.counts)).astype(np.float32) * scale[held.ids]
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        filled = np.flatnonzero(np.bincount(held.bags, minlength=len(texts)))
        if len(filled):
            starts = np.searchsorted(held.bags, filled)
            vectors[filled] = np.add.reduceat(table[held.ids] * weights[:, None], starts)
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        vectors /= np.maximum(lengths, 1e-6)[:, None]
        return vectors

    @cached_property
    def _pieces(self) -> Pieces:
        """For many texts: the whole vocabulary in a dictionary."""
        return self._split_with(longest_of(self._vocabulary.load()))

    @cached_property
    def _few_pieces(self) -> Pieces:
        """For one question: a dozen words need not load a vocabulary."""
        return self._split_with(self._vocabulary.find_longest)

    def _split_with(self, longest: Callable[[str], tuple[int, int] | None]) -> Pieces:
        return Pieces(longest, self._card.unknown, self._card.longest_word, lambda: self._read("tokenizer.json"))

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self._read("pieces.bin"))

    def _read(self, name: str) -> bytes:
        data = read_file(self._folder / name)
        self._require(data is not None and zlib.crc32(data) == self._card.crc32[name], name)
        assert data is not None
        return data

    @cached_property
    def _tables(self) -> "tuple[NDArray[np.int8], NDArray[np.float32]]":
        import numpy as np

        mapped = map_file(self._folder / "model.onnx")
        self._require(mapped is not None and zlib.crc32(mapped) == self._card.crc32["model.onnx"], "model.onnx")
        assert mapped is not None
        rows, width = self._card.vocabulary, self.dimensions
        ends = self._card.table_offset + rows * width, self._card.scale_offset + 4 * rows
        self._require(min(rows, width) > 0 and max(ends) <= len(mapped), "model.onnx")
        table = np.frombuffer(mapped, np.int8, rows * width, self._card.table_offset).reshape(rows, width)
        scale = np.frombuffer(mapped, "<f4", rows, self._card.scale_offset)
        self._require(bool(((scale >= 0) & (scale < 1)).all()), "card.json")  # offsets that miss the scales
        return table, scale

    @cached_property
    def _session(self) -> Any:
        # The requirements exclude releases of onnxruntime that can send usage events to its makers. Where one is there
        # nonetheless, this keeps it from starting its uploader and from writing an identifier into the home.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import onnxruntime

        data = read_file(self._folder / "model.onnx")
        sha256 = hashlib.sha256(data or b"").hexdigest()
        self._require(data is not None and sha256 == self._card.sha256["model.onnx"], "model.onnx")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])

    def _require(self, good: bool, name: str) -> None:
        if not good:
            raise ModelDamaged(f"`{self._folder / name}` is not the file its card describes")


def _batches(lengths: list[int]) -> list[list[int]]:
    """Group texts of like length, so that little of a batch is padding; order inside follows length."""
    groups: list[list[int]] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if groups and (len(groups[-1]) + 1) * max(1, lengths[place]) <= _BATCH_CELLS:
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups
