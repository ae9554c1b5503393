"""Remarks: notes that are about the code of a hit, as they name its path or its symbol.

A note about a folder is about all files below it, one about `Session` about `Session.close` too, and one about `close`
about every `close`. A note that names paths and symbols is about these symbols in these paths.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from gitmem.display import first_line
from gitmem.git.trees import find_paths
from gitmem.record import parse_record
from gitmem.types import RECORD_KINDS
from gitmem.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.git.object_reader import ObjectReader
    from gitmem.indexing.record_views import Records
    from gitmem.search.hits import Hit

MOST: Final = 3


class Remark(NamedTuple):
    """A note beside a hit, with its first line."""

    id: str
    type: str
    time: str
    text: str


def read_remarks(records: "Records", hits: "Sequence[Hit]", reader: "ObjectReader") -> list[list[Remark]]:
    """At most MOST notes for each hit, the newest first. Nothing is read but these notes. Raises DamagedFile."""
    entries = [found[:MOST] for found in _find_entries(records, hits)]
    oids = {entry: records.oid(entry) for found in entries for entry in found}
    data = dict(reader.read_many(dict.fromkeys(oids.values()))) if oids else {}
    return [[_load_remark(told) for entry in found if (told := data[oids[entry]])] for found in entries]


class _Names(NamedTuple):
    """What notes may call the code of a hit; nothing where it is a record."""

    paths: set[str]
    symbols: set[str]

    @classmethod
    def of(cls, hit: "Hit") -> "_Names":
        return (
            cls(_paths_above(hit.path), _parts_of(hit.symbol))
            if hit.chunk_type not in RECORD_KINDS
            else cls(set(), set())
        )


def _find_entries(records: "Records", hits: "Sequence[Hit]") -> list[list[int]]:
    """The entries of the notes that are about each hit."""
    paths, symbols = records.column("paths"), records.column("symbols")
    if not hits or not (any(paths.values) or any(symbols.values)):
        return [[] for _ in hits]
    names = [_Names.of(hit) for hit in hits]
    all_names = _Names(*(set().union(*sets) for sets in zip(*names, strict=True)))
    about = paths.select(bool) | symbols.select(bool)
    about &= paths.select(lambda told: _meets(told, all_names.paths))
    about &= symbols.select(lambda told: _meets(told, all_names.symbols))
    found = np.flatnonzero(about)
    newest = found[np.argsort(records.column("time").ranks()[found], kind="stable")[::-1]].tolist()
    told = [(entry, paths.text(entry), symbols.text(entry)) for entry in newest]
    return [
        [entry for entry, path, symbol in told if own.paths and _meets(path, own.paths) and _meets(symbol, own.symbols)]
        for own in names
    ]


def _meets(told: str, names: set[str]) -> bool:
    """Whether one of the names told, a line each, is among others; where none is told, any will do."""
    return not told or not names.isdisjoint(told.split("\n"))


def _paths_above(path: str) -> set[str]:
    """A path and the folders it lies in."""
    parts = path.split("/")
    return {"/".join(parts[:length]) for length in range(1, len(parts) + 1)}


def _parts_of(symbol: str) -> set[str]:
    """What a chunk's symbol may be called: `A.b.c` is also `b.c`, `c`, `A` and `A.b`; a chunk may have several."""
    names: set[str] = set()
    for one in symbol.split(", "):
        parts = one.split(".")
        spans = ((first, last) for first in range(len(parts)) for last in range(first + 1, len(parts) + 1))
        names |= {".".join(parts[first:last]) for first, last in spans}
    return names - {""}


def missing_paths(workspace: Workspace, paths: Sequence[str]) -> list[str]:
    """Those of some paths that neither the working tree nor HEAD has: never were there, or are gone by now."""
    location = workspace.location
    worktree = location.worktree
    lacking = [path for path in paths if worktree is None or not os.path.lexists(worktree / path)]
    if not lacking or location.head_tree is None:
        return lacking
    known = find_paths(location, location.head_tree, lacking)
    return [path for path in lacking if path not in known]


def _load_remark(data: bytes) -> Remark:
    record = parse_record(data, "note")
    fields = record.fields
    return Remark(record.id, str(fields.get("type", "")), str(fields.get("time", "")), first_line(record.text))
