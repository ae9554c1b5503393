"""Precision and recall of the detection of similar notes."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.embedding.bundled import BundledEncoder
from gitmem.identifier_counts import bag_texts
from gitmem.records.similar_notes import min_score
from gitmem.words import count_identifiers
from tests.bench.figures import Figure

LABELS: Final = Path(__file__).with_name("similar_notes.json")
"""Labelled pairs of notes. The threshold was fitted on every second pair, starting with the first."""

PRECISION: Final = 0.95
RECALL: Final = 0.7


class Pair(NamedTuple):
    """Two notes, and whether they have the same meaning."""

    old: str
    new: str
    same: bool


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add no options."""


def measure(options: argparse.Namespace) -> list[Figure]:
    """Measure both halves of the pairs."""
    pairs = load_pairs()
    return [*judge("fitted on", pairs[::2]), *judge("held out", pairs[1::2], PRECISION, RECALL)]


def load_pairs() -> list[Pair]:
    """Return all pairs in file order."""
    return [Pair(*labelled) for labelled in json.loads(LABELS.read_text(encoding="utf-8"))]


def judge(
    subject: str, pairs: Sequence[Pair], precision: float | None = None, recall: float | None = None
) -> list[Figure]:
    """Return precision and recall of the reported pairs, and the number of notes with a false report.

    For the latter each note is compared with all others, as if it were added last.
    """
    texts = list(dict.fromkeys(text for pair in pairs for text in pair[:2]))
    similar = find_similar(texts)
    place = {text: number for number, text in enumerate(texts)}
    reported = [bool(similar[place[pair.new], place[pair.old]]) for pair in pairs]
    right = sum(pair.same for pair, is_reported in zip(pairs, reported, strict=True) if is_reported)
    for pair in pairs:
        if pair.same:
            similar[place[pair.new], place[pair.old]] = similar[place[pair.old], place[pair.new]] = False
    return [
        Figure(subject, "pairs", len(pairs)),
        Figure(subject, "precision", right / max(1, sum(reported)), at_least=precision),
        Figure(subject, "recall", right / sum(pair.same for pair in pairs), at_least=recall),
        Figure(subject, f"false alarms, of {len(texts)} notes", int(similar.any(axis=1).sum())),
    ]


def find_similar(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Return which notes are reported as similar to each one, [new, old]."""
    embeddings = BundledEncoder().encode(bag_texts([count_identifiers(f"\n{text}") for text in texts]))
    thresholds = np.array([min_score(float(norm)) for norm in embeddings.norms])
    similar: NDArray[np.bool_] = embeddings.vectors @ embeddings.vectors.T >= thresholds[:, None]
    np.fill_diagonal(similar, False)
    return similar
