"""Mined pairs as they lie on disk: one JSON object a line, as `mine.py` writes them, packed by xz or not."""

import json
import lzma
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from models.recipe.pairs import MAX_CODE


class Record(NamedTuple):
    """What training reads of a pair; `name` is '' where there is none."""

    question: str
    code: str
    kind: str
    path: str
    name: str
    package: str


def get_files(folder: Path, side: str) -> list[Path]:
    """The files of one side, `train` or `heldout`; raise `FileNotFoundError` where there are none."""
    found = sorted([*folder.glob(f"{side}*.jsonl"), *folder.glob(f"{side}*.jsonl.xz")])
    if not found:
        raise FileNotFoundError(f"no {side}*.jsonl or {side}*.jsonl.xz in {folder}")
    return found


def iter_records(files: Iterable[Path]) -> Iterator[Record]:
    """The pairs of some files, in their order."""
    for row in iter_rows(files):
        yield Record(row["q"], row["c"][:MAX_CODE], row["type"], row["path"], row["name"] or "", row["pkg"])


def iter_rows(files: Iterable[Path]) -> Iterator[dict[str, str]]:
    """The objects of some files of JSON lines."""
    for path in files:
        with lzma.open(path, "rt") if path.suffix == ".xz" else path.open() as lines:
            for line in lines:
                row: dict[str, str] = json.loads(line)
                yield row
