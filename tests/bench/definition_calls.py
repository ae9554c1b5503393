"""Calls of which an oracle names the definitions, and its answers."""

import argparse
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

Place = tuple[str, int]
"""Path in the repository and line."""

Answer = set[Place] | None
"""Definitions in the repository, empty for those of a library; None if none is known."""


class AskedCall(NamedTuple):
    """Place of a called name. Lines count from 1, columns from 0."""

    path: str
    line: int
    column: int


class Oracle(NamedTuple):
    """Ends of the names of its files, and the function that answers calls of one repository, in order."""

    extensions: tuple[str, ...]
    answer: Callable[[Path, Sequence[AskedCall], argparse.Namespace], Iterable[Answer]]
