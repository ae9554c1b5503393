"""Where training begins: a table of word-piece vectors whose sums already lie near a sentence encoder's vectors.

Each piece is embedded alone and projected onto the principal axes of the vectors of whole texts; then the table is
regressed, so that the weighted sum of a text's rows points where the encoder points for the text.
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
from models.recipe.tokenizer import CONTINUES, PADDING, pieces_of

_LOG: Final = logging.getLogger(__name__)
_MAX_QUESTION: Final = 400
_MAX_CODE: Final = 420
_TEACHER_TOKENS: Final = 96
_AXES_FROM: Final = 20_000
"""Texts that the principal axes are computed from."""


class SentenceEncoder(Protocol):
    """The teacher, or in tests something that stands in for it."""

    def embed(self, texts: Sequence[str], max_tokens: int) -> NDArray[np.float32]:
        """Unit vectors float32 [texts, width]."""


def sample_texts(records: Iterable[Record], questions: int, codes: int) -> list[str]:
    """Distinct questions and the heads of codes with their names, drawn and ordered by the hash of their text."""
    asked: set[str] = set()
    drawn: list[tuple[bytes, str]] = []
    for record in records:
        if record.kind != "name":
            asked.add(record.question[:_MAX_QUESTION])
        drawn.append(_lot(f"{record.name}\n{record.code[:_MAX_CODE]}"))
        if len(drawn) > 4 * codes + 1000:
            drawn = heapq.nsmallest(codes, drawn)
    chosen = heapq.nsmallest(questions, map(_lot, asked)) + heapq.nsmallest(codes, drawn)
    return [text for _, text in sorted(chosen)]


def _lot(text: str) -> tuple[bytes, str]:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), text


def make_start(
    teacher: SentenceEncoder, tokenizer: Tokenizer, texts: Sequence[str], settings: Settings
) -> NDArray[np.float32]:
    """The start table, float32 [pieces, dimensions]; the row of the padding is 0."""
    alone = teacher.embed([piece.removeprefix(CONTINUES) for piece in pieces_of(tokenizer)], _TEACHER_TOKENS)
    wanted = teacher.embed(texts, _TEACHER_TOKENS)
    mean = wanted.mean(axis=0)
    axes = principal_axes(wanted[:_AXES_FROM] - mean, settings.dimensions)
    targets = unit((wanted - mean) @ axes)
    bags = bags_of_texts(tokenizer, texts)
    rows = unit((alone - alone.mean(axis=0)) @ axes) * rarity(bags, len(alone))[:, None]
    rows[PADDING] = 0
    return regress(rows, bags, targets, settings)


def principal_axes(centred: NDArray[np.float32], dimensions: int) -> NDArray[np.float32]:
    """The directions in which vectors differ most, as columns, float32 [width, dimensions]; by decreasing variance."""
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
    """Length a row starts with, float32 [pieces]: idf = ln((n + 1) / (df + 1)) relative to ln(n), within 0.1 and 2."""
    texts = len(bags.sizes)
    found = np.bincount(bags.ids, minlength=pieces)
    idf = np.log((texts + 1) / (found + 1)) / np.log(texts)
    lengths: NDArray[np.float32] = np.clip(1.6 * idf, 0.1, 2).astype(np.float32)
    return lengths


def regress(
    rows: NDArray[np.float32], bags: Bags, targets: NDArray[np.float32], settings: Settings
) -> NDArray[np.float32]:
    """Move the rows until sums point along the targets (mean of 1 - cosine, Adam, rate falling to almost 0)."""
    table = torch.tensor(rows, requires_grad=True)
    rate = settings.start_rate
    optimizer = torch.optim.Adam([table], lr=rate, betas=(0.9, 0.99), fused=True)
    random = np.random.default_rng(0)
    known = np.flatnonzero(bags.sizes)
    size = min(settings.start_batch, len(known))
    steps = settings.start_epochs * (len(known) // size)
    for epoch in range(settings.start_epochs):
        order = random.permutation(known)
        for batch, first in enumerate(range(0, len(order) - size + 1, size)):
            chosen = order[first : first + size]
            ids, weights, offsets = map(torch.from_numpy, bags.take(chosen))
            sums = F.embedding_bag(ids, table, offsets, mode="sum", per_sample_weights=weights)
            loss = 1 - F.cosine_similarity(sums, torch.from_numpy(targets[chosen])).mean()
            done = (epoch * (len(order) // size) + batch) / steps
            optimizer.param_groups[0]["lr"] = rate * (1 - done) + 1e-5
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        _LOG.info("start: epoch %d, 1 - cosine %.4f", epoch + 1, loss.item())
    moved: NDArray[np.float32] = table.detach().numpy()
    return moved
