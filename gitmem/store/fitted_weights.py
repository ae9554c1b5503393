"""Weights fitted on a repository's own history: one small file, read by every question."""

import math
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.fsio import read_file, write_atomic
from gitmem.store.format import Container, build_container, damaged

MAGIC: Final = b"GITMEMTW"
MAX_WEIGHT: Final = 100.0


class Tuning(NamedTuple):
    """Fusion weights and what they were found by.

    `maker` names model and ranking, for which alone they hold. `gain` is the difference in NDCG@10 to the default
    weights over so many `questions` that were held out.
    """

    maker: str
    semantic: float
    lexical: float
    gain: float
    questions: int


def find_tuning(path: Path) -> Tuning | None:
    """Read the weights, None where there are none. Raises DamagedFile, NewerFormat."""
    data = read_file(path)
    if data is None:
        return None
    fields = Container(path, MAGIC, data).fields
    try:
        maker, semantic, lexical, gain, questions = (fields[name] for name in Tuning._fields)
        made = Tuning(str(maker), float(semantic), float(lexical), float(gain), int(questions))
    except (KeyError, TypeError, ValueError, OverflowError) as problem:
        raise damaged(path, "its fields are not those of fitted weights") from problem
    if not (0 <= made.semantic <= MAX_WEIGHT and 0 <= made.lexical <= MAX_WEIGHT and math.isfinite(made.gain)):
        raise damaged(path, "it holds weights that nothing fits")
    return made


def write_tuning(path: Path, tuning: Tuning) -> None:
    """Publish the weights; from here on questions use them."""
    write_atomic(path, [bytes(part) for part in build_container(MAGIC, tuning._asdict(), {})])
