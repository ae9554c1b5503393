"""Read mined pairs: one JSON object on each line, as written by `mine.py`, with or without xz."""

import json
import lzma
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from models.recipe.pairs import MAX_CODE


class Record(NamedTuple):
    """Fields of a pair that training uses. `name` is '' if there is none."""

    query: str
    code: str
    kind: str
    path: str
    name: str
    package: str


def get_files(folder: Path, side: str) -> list[Path]:
    """Return the files of one side, `train` or `heldout`. Raises FileNotFoundError if there are none."""
    paths = sorted([*folder.glob(f"{side}*.jsonl"), *folder.glob(f"{side}*.jsonl.xz")])
    if not paths:
        raise FileNotFoundError(f"no {side}*.jsonl or {side}*.jsonl.xz in {folder}")
    return paths


def iter_records(files: Iterable[Path]) -> Iterator[Record]:
    """Yield the pairs of some files, in order."""
    for row in iter_rows(files):
        yield Record(row["q"], row["c"][:MAX_CODE], row["type"], row["path"], row["name"] or "", row["pkg"])


def iter_rows(files: Iterable[Path]) -> Iterator[dict[str, str]]:
    """Yield the objects of some files of JSON lines."""
    for path in files:
        with lzma.open(path, "rt") if path.suffix == ".xz" else path.open() as lines:
            for line in lines:
                row: dict[str, str] = json.loads(line)
                yield row
