"""Fusion weights fitted on a repository's own history: one small file, read by every query."""

import math
from pathlib import Path
from typing import Final

from gitmem.fsio import read_file, write_atomic
from gitmem.named_tuple import NamedTuple
from gitmem.store.format import FIRST_FORMAT, Container, build_container
from gitmem.store.section import damaged

MAGIC: Final = b"GITMEMTW"
MAX_WEIGHT: Final = 100.0
_FIELDS: Final = ("maker", "semantic", "lexical", "gain", "questions")
"""Names of the fields in the file, in the order of Tuning."""


class Tuning(NamedTuple):
    """Fusion weights and their evaluation.

    `fingerprint` identifies the model and ranking for which they are valid. `gain` is the difference in NDCG@10 to the
    default weights, over `queries` held-out queries.
    """

    fingerprint: str
    semantic: float
    lexical: float
    gain: float
    queries: int


def find_tuning(path: Path) -> Tuning | None:
    """Read the weights, or None without a file. Raises DamagedFile, NewerFormat."""
    data = read_file(path)
    if data is None:
        return None
    fields = Container(path, MAGIC, data, oldest=FIRST_FORMAT).fields
    try:
        fingerprint, semantic, lexical, gain, queries = (fields[name] for name in _FIELDS)
        tuning = Tuning(str(fingerprint), float(semantic), float(lexical), float(gain), int(queries))
    except (KeyError, TypeError, ValueError, OverflowError) as problem:
        raise damaged(path, "its fields are not those of fitted weights") from problem
    if not (0 <= tuning.semantic <= MAX_WEIGHT and 0 <= tuning.lexical <= MAX_WEIGHT and math.isfinite(tuning.gain)):
        raise damaged(path, "its weights are out of range")
    return tuning


def write_tuning(path: Path, tuning: Tuning) -> None:
    """Publish the weights; later queries use them."""
    fields = dict(zip(_FIELDS, tuning, strict=True))
    write_atomic(path, [bytes(part) for part in build_container(MAGIC, fields, {})])
