"""Cache of histories in the index folder: for each path the commits that changed it, traces and elements.

Commits never change, so an entry is valid for good if it is keyed by commit, blob and span. A trace is keyed by the
last commit that changed the path: later commits that leave the path alone find it too.
"""

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from gitmem.chunking import CHUNKER_VERSION
from gitmem.chunking.element import Element, FileElements
from gitmem.errors import StorageFailed
from gitmem.git.file_history import PathChange
from gitmem.history.origins import Source
from gitmem.history.trace import Change, Trace
from gitmem.history.version import Version
from gitmem.named_tuple import NamedTuple
from gitmem.paths import HISTORY
from gitmem.store.history_file import read_history, write_history

TRACER_VERSION: Final = 5
"""Version of this package: increase it when any trace would differ."""

_VERSION: Final = f"{CHUNKER_VERSION}.{TRACER_VERSION}"
_MAX_LISTS: Final = 4
_MAX_TRACES: Final = 64
_MAX_BLOBS: Final = 2
"""Entries of one path; those added first are dropped first."""


class _PathHistory(NamedTuple):
    """Entries of one path, oldest first: lists of changes by start, traces and elements by their keys."""

    lists: dict[str, list[PathChange]]
    traces: dict[str, Trace]
    elements: dict[str, FileElements]


class TraceCache:
    """Cached histories of one repository. Additions are written by `save`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: dict[bytes, _PathHistory] = {}
        self._changed: set[bytes] = set()

    def find_changes(self, start: str, path: bytes) -> list[PathChange] | None:
        """Return the commits that changed a path in the history of a commit."""
        return self._open(path).lists.get(start)

    def add_changes(self, start: str, path: bytes, changes: list[PathChange]) -> None:
        """Add the commits that changed a path in the history of a commit."""
        _add(self._open(path).lists, start, changes, _MAX_LISTS)
        self._changed.add(path)

    def find_trace(self, last: str, version: Version) -> Trace | None:
        """Return the trace of an element; `last` is the last commit that changed its path."""
        return self._open(version.path).traces.get(_key(last, version))

    def add_trace(self, last: str, version: Version, trace: Trace) -> None:
        """Add the trace of an element."""
        _add(self._open(version.path).traces, _key(last, version), trace, _MAX_TRACES)
        self._changed.add(version.path)

    def find_elements(self, path: bytes, oid: str, language: str) -> FileElements | None:
        """Return the elements of a blob."""
        return self._open(path).elements.get(f"{oid} {language}")

    def add_elements(self, path: bytes, oid: str, language: str, elements: FileElements) -> None:
        """Add the elements of a blob. Few are kept: those in which a trace began."""
        _add(self._open(path).elements, f"{oid} {language}", elements, _MAX_BLOBS)
        self._changed.add(path)

    def save(self) -> None:
        """Write the additions. A failure loses only them."""
        with suppress(StorageFailed):
            for path in sorted(self._changed):
                write_history(self._file(path), _fields(path, self._paths[path]))
        self._changed.clear()

    def _open(self, path: bytes) -> _PathHistory:
        if path not in self._paths:
            self._paths[path] = _load(path, read_history(self._file(path)))
        return self._paths[path]

    def _file(self, path: bytes) -> Path:
        return self._folder / f"{HISTORY}{hashlib.sha256(path).hexdigest()[:32]}"


def _add(entries: dict[str, Any], key: str, value: object, most: int) -> None:
    entries.pop(key, None)
    entries[key] = value
    for old in list(entries)[:-most]:
        del entries[old]


def _key(last: str, version: Version) -> str:
    element = version.element
    return f"{last} {version.source.oid} {element.chunk_type} {element.start}-{element.end}"


def _fields(path: bytes, history: _PathHistory) -> dict[str, Any]:
    return {
        "version": _VERSION,
        "path": path,
        "lists": history.lists,
        "traces": history.traces,
        "elements": history.elements,
    }


def _load(path: bytes, fields: Mapping[str, Any]) -> _PathHistory:
    """Return the entries of a file; none if another version or another path wrote it."""
    with suppress(KeyError, TypeError, ValueError, AttributeError):
        if (fields["version"], fields["path"]) == (_VERSION, path):
            lists = {key: [_load_change(values) for values in entry] for key, entry in fields["lists"].items()}
            traces = {key: _load_trace(*values) for key, values in fields["traces"].items()}
            elements = {key: _load_elements(*values) for key, values in fields["elements"].items()}
            return _PathHistory(lists, traces, elements)
    return _PathHistory({}, {}, {})


def _load_change(values: list[Any]) -> PathChange:
    commit, parents, blob, before, is_merge = values
    return PathChange(str(commit), tuple(map(str, parents)), str(blob), str(before), bool(is_merge))


def _load_trace(changes: list[list[Any]], cut: list[str]) -> Trace:
    loaded = []
    for commit, kinds, path, symbol, old_path, old_symbol, sources in changes:
        origins = tuple(Source(str(relation), bytes(place), str(name)) for relation, place, name in sources)
        place = bytes(path), str(symbol), bytes(old_path), str(old_symbol)
        loaded.append(Change(str(commit), tuple(map(str, kinds)), *place, origins))
    return Trace(loaded, list(map(str, cut)))


def _load_elements(elements: list[list[Any]], comments: list[list[int]]) -> FileElements:
    return FileElements([Element(*fields) for fields in elements], [(int(start), int(end)) for start, end in comments])
