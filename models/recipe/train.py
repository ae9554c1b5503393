"""Contrastive training: the vector of a query must be closer to its own code than to the others of its batch.

A row is a sum of parts shared by pieces (`Table`). After training the parts are added up and the runs are averaged, so
that the result is one plain table.
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
"""Share of the steps in which the learning rate rises. Then it falls along a half cosine to a fiftieth."""

_MIN_RATE: Final = 0.02
_MASKED: Final = -1e4
_REPORTS: Final = 20


class Trained(NamedTuple):
    """Result of a run: `table` float32 [pieces, dimensions] with its parts added up, and the loss of each step."""

    table: NDArray[np.float32]
    losses: list[float]


def train(corpus: Corpus, start: NDArray[np.float32], pieces: Sequence[str], settings: Settings) -> NDArray[np.float32]:
    """Return the mean of the tables of one run for each seed."""
    runs = [train_once(corpus, start, pieces, settings, seed).table for seed in settings.seeds]
    # Weight averaging (model soups, Wortsman et al. 2022) works because all runs begin at the same table.
    mean: NDArray[np.float32] = np.mean(runs, axis=0, dtype=np.float32)
    return mean


def train_once(
    corpus: Corpus, start: NDArray[np.float32], pieces: Sequence[str], settings: Settings, seed: int
) -> Trained:
    """Run the training once. The seed determines the order of the pairs, and which codes include their name."""
    table = Table(start, pieces, settings)
    optimizer = torch.optim.Adam(table.parameters, lr=settings.learning_rate, betas=(0.9, 0.99), eps=1e-9, fused=True)
    plan = Plan(corpus, settings)
    losses: list[float] = []
    for step, batch in enumerate(islice(plan.batches(np.random.default_rng(seed)), plan.steps)):
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * rate_at(step, plan.steps)
        queries, codes = table.embed(batch.queries, batch.codes)
        loss = contrastive_loss(queries, codes, torch.from_numpy(batch.keys), settings)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if (step + 1) % max(1, plan.steps // _REPORTS) == 0:
            _LOG.info("seed %d: step %d of %d, loss %.3f", seed, step + 1, plan.steps, np.mean(losses[-20:]))
    return Trained(table.collapse(), losses)


def rate_at(step: int, steps: int) -> float:
    """Return the share of the full learning rate at a step."""
    warm = min(1.0, (step + 1) / max(5, int(_WARM_UP * steps)))
    cosine = (1 + math.cos(math.pi * step / steps)) / 2
    return warm * (cosine * (1 - _MIN_RATE) + _MIN_RATE)


def contrastive_loss(queries: Any, codes: Any, keys: Any, settings: Settings) -> Any:
    """Return InfoNCE (van den Oord et al. 2018) over unit vectors [batch, dimensions], with in-batch negatives.

    Pairs with the same key have the same query and are not negatives of each other.
    """
    # Equal queries have several correct answers. As negatives of each other they would punish correct retrieval.
    same = keys[:, None] == keys[None, :]
    same.fill_diagonal_(False)
    scores = (queries @ codes.T / settings.temperature).masked_fill(same, _MASKED)
    own = torch.arange(len(scores))
    loss = (1 - settings.backward) * F.cross_entropy(scores, own)
    return loss + settings.backward * F.cross_entropy(scores.T, own) if settings.backward else loss


class Table:
    """Parameters of the rows. A row is the sum of up to four parts, by the settings:

    the piece's own vector, that of its stem, the mean of those of its n-grams, and its start row @ a trained matrix.
    Without the projection, own vectors start at the start table. With it, they start at 0 and the matrix at the
    identity.
    """

    def __init__(self, start: NDArray[np.float32], pieces: Sequence[str], settings: Settings) -> None:
        width = start.shape[1]
        initial = torch.tensor(start)
        self._own = (torch.zeros_like(initial) if settings.projection else initial.clone()).requires_grad_()
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
            self._start = initial
            self._matrix = self._parameter(torch.eye(width))

    def _parameter(self, values: Any) -> Any:
        values.requires_grad_()
        self.parameters.append(values)
        return values

    def rows(self, ids: NDArray[np.int64]) -> Any:
        """Return the rows of some pieces, [ids, dimensions]."""
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
        """Return the unit vectors [bags, dimensions] of each side. Rows in several bags are computed once."""
        # A batch repeats frequent pieces thousands of times. Their parts are added up only once.
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
        """Return the sum of the parts, float32 [pieces, dimensions]."""
        with torch.no_grad():
            table: NDArray[np.float32] = self.rows(np.arange(len(self._own))).numpy()
        return table


def _mean_rows(bags: Bags, ids: NDArray[np.int64], rows: Any) -> Any:
    """Return the mean of each bag's rows, weighted by their counts; 0 for an empty bag."""
    places, offsets = bags.places_of(ids)
    totals = np.add.reduceat(np.append(bags.counts, 0), bags.starts[:-1], dtype=np.float32)
    shares = bags.counts[places] / np.repeat(totals[ids], bags.sizes[ids])
    chosen = torch.from_numpy(bags.ids[places].astype(np.int64))
    weights = torch.from_numpy(shares.astype(np.float32))
    return F.embedding_bag(chosen, rows, torch.from_numpy(offsets), mode="sum", per_sample_weights=weights)


class Batch(NamedTuple):
    """Queries and their codes, in the same order. `keys` int64 are equal for equal queries."""

    queries: Weighted
    codes: Weighted
    keys: NDArray[np.int64]


class Plan:
    """Selection of the pairs of each epoch, and their division into batches."""

    def __init__(self, corpus: Corpus, settings: Settings) -> None:
        self._corpus, self._settings = corpus, settings
        self._by_query = np.flatnonzero((corpus.query.sizes > 1) & (corpus.code.sizes > 3))
        self._by_name = np.flatnonzero((corpus.name.sizes > 1) & (corpus.masked.sizes > 5))
        self._names = int(len(self._by_name) * settings.name_share)
        self._size = min(settings.batch, len(self._by_query) + self._names)
        if not self._size:
            raise ValueError("no pair to train on")
        self.steps = int(settings.epochs * (len(self._by_query) + self._names) / self._size)

    def batches(self, random: np.random.Generator) -> Iterator[Batch]:
        """Yield full batches without end. The remainder of an epoch is dropped."""
        while True:
            pairs, by_name = self._epoch(random)
            for first in range(0, len(pairs) - self._size + 1, self._size):
                chosen = slice(first, first + self._size)
                yield self._batch(pairs[chosen], by_name[chosen], random)

    def _epoch(self, random: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the pairs in shuffled groups of one package, and whether each uses its name as the query."""
        # Every pair once with its query, and a random share of the pairs once more with the name.
        pairs = np.concatenate([self._by_query, random.permutation(self._by_name)[: self._names]])
        by_name = np.arange(len(pairs)) >= len(self._by_query)
        # A stable sort by package of a shuffled order shuffles the pairs within each package.
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
        # Three forms of pairs: (query, code), (query, code with its name in front), (name, code without the name).
        shows_name = random.random(len(pairs)) < self._settings.name_prefix
        plain, named = pairs[~by_name & ~shows_name], pairs[~by_name & shows_name]
        from_name = pairs[by_name]
        from_query = np.concatenate([plain, named])
        corpus = self._corpus
        return Batch(
            join([corpus.query.take(from_query), corpus.name.take(from_name)]),
            join([corpus.code.take(plain), corpus.named.take(named), corpus.masked.take(from_name)]),
            # A name equals no query: it gets a negative key, while the keys of queries are not negative.
            np.concatenate([corpus.query_key[from_query], -1 - from_name]),
        )
