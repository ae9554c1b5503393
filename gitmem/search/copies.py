"""Find candidates that are copies of each other: the same or nearly the same chunk in several files.

Amalgamated headers, built files, vendored libraries and versioned folders repeat whole files with small changes. Their
chunks have the same symbol and almost the same vector and length, so one result can stand for all of them.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.types import CHUNK_TYPES, PROSE_KINDS

LEAST_COSINE: Final = 0.995
"""Least cosine of two copies."""

LENGTH_TOLERANCE: Final = 0.05
"""Greatest difference between the lengths of two copies, in words, relative to the longer one."""

_NEVER_COPIES: Final = frozenset(CHUNK_TYPES.index(name) for name in (*PROSE_KINDS, "module", "namespace"))
"""Records and commits, each of which was said on its own, and what only holds the rest of a file."""


def possible_copies(
    paths: Sequence[str], file: NDArray[np.int64], chunk_type: NDArray[np.uint8], symbol: Sequence[str]
) -> list[NDArray[np.int64]]:
    """Return groups of positions that agree in type and symbol, in several files; only their vectors are compared.

    The arguments are columns of candidates. Of chunks without a symbol, such as the imports at the head of a file, the
    files must have the same name instead.
    """
    groups: dict[tuple[int, str, str], list[int]] = defaultdict(list)
    for position, (number, kind, name) in enumerate(zip(file.tolist(), chunk_type.tolist(), symbol, strict=True)):
        if kind not in _NEVER_COPIES:
            groups[kind, name, "" if name else paths[number].rpartition("/")[2]].append(position)
    found = [np.array(group) for group in groups.values() if len(group) > 1]
    return [group for group in found if (file[group] != file[group[0]]).any()]


def group_copies(
    groups: Sequence[NDArray[np.int64]],
    vectors: NDArray[np.float32],
    file: NDArray[np.int64],
    words: NDArray[np.float32],
) -> NDArray[np.int64]:
    """Return for each candidate the position of the first one that it copies, its own if there is none.

    `groups` are those of `possible_copies`, `vectors` has a row for each of their positions, [n, dimensions].
    Each candidate is compared with the first of each set of copies, so that copies of copies do not drift apart.
    """
    leader = np.arange(len(file))
    first = 0
    for group in groups:
        is_copy = _compare(vectors[first : first + len(group)], file[group], words[group])
        first += len(group)
        for own in range(1, len(group)):
            # Of the earlier candidates only those that lead count; `leader` of the others points elsewhere.
            others = is_copy[own, :own] & (leader[group[:own]] == group[:own])
            if others.any():
                leader[group[own]] = group[int(others.argmax())]
    return leader


def _compare(vectors: NDArray[np.float32], file: NDArray[np.int64], words: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return which candidates of a group are copies of which, [n, n]. A zero vector, of no words, copies none."""
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    unit = vectors / np.maximum(norms, 1e-9)[:, None]
    longer = np.maximum(words[:, None], words[None, :])
    alike: NDArray[np.bool_] = (unit @ unit.T >= LEAST_COSINE) & (file[:, None] != file[None, :])
    alike &= np.abs(words[:, None] - words[None, :]) <= LENGTH_TOLERANCE * longer
    return alike
