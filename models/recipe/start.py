"""Compute the table that training starts from, by distilling a sentence encoder into static word-piece vectors.

Each piece is embedded alone and projected onto the principal axes of the vectors of whole texts, similar to Model2Vec.
Then the table is regressed, so that the weighted sum of a text's rows has the direction of the encoder's vector of the
text.
"""

import hashlib
import heapq
import logging
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from tokenizers import Tokenizer

from models.recipe.bags import Bags, bags_of_texts
from models.recipe.records import Record
from models.recipe.settings import Settings
from models.recipe.tokenizer import CONTINUATION, PADDING, pieces_of

_LOG: Final = logging.getLogger(__name__)
_MAX_QUERY: Final = 400
_MAX_CODE: Final = 420
_TEACHER_TOKENS: Final = 96
_AXES_FROM: Final = 20_000
"""Number of texts from which the principal axes are computed."""


class SentenceEncoder(Protocol):
    """Interface of the teacher, which tests replace by a fake."""

    def embed(self, texts: Sequence[str], max_tokens: int) -> NDArray[np.float32]:
        """Return unit vectors float32 [texts, width]."""


def sample_texts(records: Iterable[Record], queries: int, codes: int) -> list[str]:
    """Draw distinct queries, and beginnings of codes with their names. Draw and order depend on the texts alone."""
    distinct: set[str] = set()
    drawn: list[tuple[bytes, str]] = []
    for record in records:
        if record.kind != "name":
            distinct.add(record.query[:_MAX_QUERY])
        drawn.append(_lot(f"{record.name}\n{record.code[:_MAX_CODE]}"))
        # Keep the smallest hashes seen so far, so that memory stays bounded.
        if len(drawn) > 4 * codes + 1000:
            drawn = heapq.nsmallest(codes, drawn)
    chosen = heapq.nsmallest(queries, map(_lot, distinct)) + heapq.nsmallest(codes, drawn)
    return [text for _, text in sorted(chosen)]


def _lot(text: str) -> tuple[bytes, str]:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), text


def make_start(
    teacher: SentenceEncoder, tokenizer: Tokenizer, texts: Sequence[str], settings: Settings
) -> NDArray[np.float32]:
    """Return the start table, float32 [pieces, dimensions]. The row of the padding is 0."""
    # Without the prefix of pieces that continue a word, which the teacher would read as text.
    alone = teacher.embed([piece.removeprefix(CONTINUATION) for piece in pieces_of(tokenizer)], _TEACHER_TOKENS)
    vectors = teacher.embed(texts, _TEACHER_TOKENS)
    mean = vectors.mean(axis=0)
    axes = principal_axes(vectors[:_AXES_FROM] - mean, settings.dimensions)
    # Centring removes the direction common to all texts, which says nothing about any of them.
    targets = unit((vectors - mean) @ axes)
    bags = bags_of_texts(tokenizer, texts)
    rows = unit((alone - alone.mean(axis=0)) @ axes) * rarity(bags, len(alone))[:, None]
    rows[PADDING] = 0
    return regress(rows, bags, targets, settings)


def principal_axes(centred: NDArray[np.float32], dimensions: int) -> NDArray[np.float32]:
    """Return the principal axes of centred vectors as columns, float32 [width, dimensions], by decreasing variance."""
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    if len(axes) < dimensions:
        raise ValueError(f"{len(centred)} vectors have no {dimensions} principal axes")
    return np.ascontiguousarray(axes[:dimensions].T)


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scaled to unit length; zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: NDArray[np.float32] = (vectors / np.maximum(lengths, 1e-6)).astype(np.float32)
    return scaled


def rarity(bags: Bags, pieces: int) -> NDArray[np.float32]:
    """Return the initial length of each row, float32 [pieces]: 1.6 idf within 0.1 and 2.

    idf = ln((n + 1) / (df + 1)) / ln(n) for n texts, of which df contain the piece.
    """
    texts = len(bags.sizes)
    frequencies = np.bincount(bags.ids, minlength=pieces)
    idf = np.log((texts + 1) / (frequencies + 1)) / np.log(texts)
    lengths: NDArray[np.float32] = np.clip(1.6 * idf, 0.1, 2).astype(np.float32)
    return lengths


def regress(
    rows: NDArray[np.float32], bags: Bags, targets: NDArray[np.float32], settings: Settings
) -> NDArray[np.float32]:
    """Adjust the rows until the sums have the directions of the targets.

    Minimises the mean of 1 - cosine by Adam. The learning rate falls linearly to almost 0.
    """
    # Only directions matter, as in training later, so the loss ignores the lengths of the sums.
    table = torch.tensor(rows, requires_grad=True)
    rate = settings.start_rate
    optimizer = torch.optim.Adam([table], lr=rate, betas=(0.9, 0.99), fused=True)
    random = np.random.default_rng(0)
    filled = np.flatnonzero(bags.sizes)
    size = min(settings.start_batch, len(filled))
    steps = settings.start_epochs * (len(filled) // size)
    for epoch in range(settings.start_epochs):
        order = random.permutation(filled)
        for batch, first in enumerate(range(0, len(order) - size + 1, size)):
            chosen = order[first : first + size]
            ids, weights, offsets = map(torch.from_numpy, bags.take(chosen))
            sums = F.embedding_bag(ids, table, offsets, mode="sum", per_sample_weights=weights)
            loss = 1 - F.cosine_similarity(sums, torch.from_numpy(targets[chosen])).mean()
            progress = (epoch * (len(order) // size) + batch) / steps
            optimizer.param_groups[0]["lr"] = rate * (1 - progress) + 1e-5
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        _LOG.info("start: epoch %d, 1 - cosine %.4f", epoch + 1, loss.item())
    regressed: NDArray[np.float32] = table.detach().numpy()
    return regressed
