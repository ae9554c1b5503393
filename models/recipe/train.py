"""The contrastive stage: a question's sum of rows must lie nearer to its own code than to the others of its batch.

A row is a sum of parts that pieces share (`Table`); after training the parts are added up, and runs are averaged, so
that what ships is one plain table.
"""

import logging
import math
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import snowballstemmer
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray

from models.recipe.bags import Bags, Corpus, Weighted, join
from models.recipe.parts import GRAM_BUCKETS, hash_grams, number_stems
from models.recipe.settings import Settings

_LOG: Final = logging.getLogger(__name__)
_WARM_UP: Final = 0.08
"""Share of the steps in which the rate rises; then it falls along a half cosine to a fiftieth."""

_LEAST_RATE: Final = 0.02
_MASKED: Final = -1e4
_REPORTS: Final = 20


class Trained(NamedTuple):
    """A collapsed `table` float32 [pieces, dimensions] and the loss of every step."""

    table: NDArray[np.float32]
    losses: list[float]


def train(corpus: Corpus, start: NDArray[np.float32], pieces: Sequence[str], settings: Settings) -> NDArray[np.float32]:
    """The mean table of one run for each seed."""
    runs = [train_once(corpus, start, pieces, settings, seed).table for seed in settings.seeds]
    mean: NDArray[np.float32] = np.mean(runs, axis=0, dtype=np.float32)
    return mean


def train_once(
    corpus: Corpus, start: NDArray[np.float32], pieces: Sequence[str], settings: Settings, seed: int
) -> Trained:
    """One run; the seed decides the order of the pairs and which of them show a name."""
    table = Table(start, pieces, settings)
    optimizer = torch.optim.Adam(table.parameters, lr=settings.learning_rate, betas=(0.9, 0.99), eps=1e-9, fused=True)
    plan = Plan(corpus, settings)
    losses: list[float] = []
    for step, batch in enumerate(islice(plan.batches(np.random.default_rng(seed)), plan.steps)):
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * rate_at(step, plan.steps)
        questions, codes = table.embed(batch.questions, batch.codes)
        loss = contrastive_loss(questions, codes, torch.from_numpy(batch.keys), settings)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if (step + 1) % max(1, plan.steps // _REPORTS) == 0:
            _LOG.info("seed %d: step %d of %d, loss %.3f", seed, step + 1, plan.steps, np.mean(losses[-20:]))
    return Trained(table.collapse(), losses)


def rate_at(step: int, steps: int) -> float:
    """Share of the full learning rate at a step."""
    warm = min(1.0, (step + 1) / max(5, int(_WARM_UP * steps)))
    cosine = (1 + math.cos(math.pi * step / steps)) / 2
    return warm * (cosine * (1 - _LEAST_RATE) + _LEAST_RATE)


def contrastive_loss(questions: Any, codes: Any, keys: Any, settings: Settings) -> Any:
    """InfoNCE over unit vectors [batch, dimensions]; pairs with one key ask the same and are no negatives."""
    same = keys[:, None] == keys[None, :]
    same.fill_diagonal_(False)
    scores = (questions @ codes.T / settings.temperature).masked_fill(same, _MASKED)
    own = torch.arange(len(scores))
    loss = (1 - settings.backward) * F.cross_entropy(scores, own)
    return loss + settings.backward * F.cross_entropy(scores.T, own) if settings.backward else loss


class Table:
    """Row of a piece = its own vector + its stem's + the mean of its n-grams' + its start row @ a learnt matrix.

    Without the projection, own vectors begin at the start table; with it, at 0, and the matrix at the identity.
    """

    def __init__(self, start: NDArray[np.float32], pieces: Sequence[str], settings: Settings) -> None:
        width = start.shape[1]
        begin = torch.tensor(start)
        self._own = (torch.zeros_like(begin) if settings.projection else begin.clone()).requires_grad_()
        self.parameters = [self._own]
        self._stem_of = self._grams = self._start = None
        if settings.stems:
            stems = number_stems(pieces, snowballstemmer.stemmer("english").stemWord)
            self._stem_of = torch.from_numpy(stems)
            self._stems = self._parameter(torch.zeros(int(stems.max()) + 1, width))
        if settings.grams:
            self._grams = hash_grams(pieces)
            self._gram_rows = self._parameter(torch.zeros(GRAM_BUCKETS, width))
        if settings.projection:
            self._start = begin
            self._matrix = self._parameter(torch.eye(width))

    def _parameter(self, values: Any) -> Any:
        values.requires_grad_()
        self.parameters.append(values)
        return values

    def rows(self, ids: NDArray[np.int64]) -> Any:
        """The rows of some pieces, [ids, dimensions]."""
        chosen = torch.from_numpy(ids)
        rows = self._own[chosen]
        if self._stem_of is not None:
            rows = rows + self._stems[self._stem_of[chosen]]
        if self._grams is not None:
            rows = rows + _mean_rows(self._grams, ids, self._gram_rows)
        if self._start is not None:
            rows = rows + self._start[chosen] @ self._matrix
        return rows

    def embed(self, *sides: Weighted) -> list[Any]:
        """Unit vectors [bags, dimensions] of each side; rows that stand in several bags are made once."""
        ids, places = np.unique(np.concatenate([side.ids for side in sides]), return_inverse=True)
        rows = self.rows(ids)
        ends = np.cumsum([len(side.ids) for side in sides])
        vectors = []
        for side, end in zip(sides, ends, strict=True):
            own = torch.from_numpy(places[end - len(side.ids) : end])
            weights, offsets = torch.from_numpy(side.weights), torch.from_numpy(side.offsets)
            sums = F.embedding_bag(own, rows, offsets, mode="sum", per_sample_weights=weights)
            vectors.append(F.normalize(sums, dim=1, eps=1e-6))
        return vectors

    def collapse(self) -> NDArray[np.float32]:
        """The parts added up, float32 [pieces, dimensions]."""
        with torch.no_grad():
            table: NDArray[np.float32] = self.rows(np.arange(len(self._own))).numpy()
        return table


def _mean_rows(bags: Bags, ids: NDArray[np.int64], rows: Any) -> Any:
    """The mean of each bag's rows, repeats counted; 0 for an empty bag."""
    places, offsets = bags.places_of(ids)
    totals = np.add.reduceat(np.append(bags.counts, 0), bags.starts[:-1], dtype=np.float32)
    shares = bags.counts[places] / np.repeat(totals[ids], bags.sizes[ids])
    chosen = torch.from_numpy(bags.ids[places].astype(np.int64))
    weights = torch.from_numpy(shares.astype(np.float32))
    return F.embedding_bag(chosen, rows, torch.from_numpy(offsets), mode="sum", per_sample_weights=weights)


class Batch(NamedTuple):
    """Question i belongs to code i; `keys` int64 are equal where questions are."""

    questions: Weighted
    codes: Weighted
    keys: NDArray[np.int64]


class Plan:
    """Which pairs an epoch takes and how they are put into batches."""

    def __init__(self, corpus: Corpus, settings: Settings) -> None:
        self._corpus, self._settings = corpus, settings
        self._asked = np.flatnonzero((corpus.question.sizes > 1) & (corpus.code.sizes > 3))
        self._called = np.flatnonzero((corpus.name.sizes > 1) & (corpus.masked.sizes > 5))
        self._names = int(len(self._called) * settings.name_share)
        self._size = min(settings.batch, len(self._asked) + self._names)
        if not self._size:
            raise ValueError("no pair to train on")
        self.steps = int(settings.epochs * (len(self._asked) + self._names) / self._size)

    def batches(self, random: np.random.Generator) -> Iterator[Batch]:
        """Full batches without end, what an epoch leaves over is dropped."""
        while True:
            pairs, by_name = self._epoch(random)
            for first in range(0, len(pairs) - self._size + 1, self._size):
                chosen = slice(first, first + self._size)
                yield self._batch(pairs[chosen], by_name[chosen], random)

    def _epoch(self, random: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Pairs in groups of one package, the groups shuffled; and whether each is asked for by its name."""
        pairs = np.concatenate([self._asked, random.permutation(self._called)[: self._names]])
        by_name = np.arange(len(pairs)) >= len(self._asked)
        shuffled = random.permutation(len(pairs))
        order = shuffled[np.argsort(self._corpus.package[pairs[shuffled]], kind="stable")]
        packages = self._corpus.package[pairs[order]]
        bounds = [0, *(np.flatnonzero(np.diff(packages)) + 1), len(order)]
        groups = [
            order[first : min(first + self._settings.group, end)]
            for begin, end in pairwise(bounds)
            for first in range(begin, end, self._settings.group)
        ]
        order = np.concatenate([groups[place] for place in random.permutation(len(groups))])
        return pairs[order], by_name[order]

    def _batch(self, pairs: NDArray[np.int64], by_name: NDArray[np.bool_], random: np.random.Generator) -> Batch:
        shows_name = random.random(len(pairs)) < self._settings.name_prefix
        plain, named = pairs[~by_name & ~shows_name], pairs[~by_name & shows_name]
        called = pairs[by_name]
        asked = np.concatenate([plain, named])
        held = self._corpus
        return Batch(
            join([held.question.take(asked), held.name.take(called)]),
            join([held.code.take(plain), held.named.take(named), held.masked.take(called)]),
            # A name is no other pair's question: keys of questions are not negative.
            np.concatenate([held.question_key[asked], -1 - called]),
        )
