"""Events: what a process does, counted across processes and, if the user wants it, logged.

An event has a name of component and operation (`search.query`), an outcome, a duration and amounts. Each is appended to
a journal next to the index as one short line, which takes some 50 µs; `metrics` adds them up. With a level selected
(`gitmem.log`), each is also written as a line of JSON to standard error and to a rotating file.

Queries and other texts belong to the level `debug` alone. Secrets are masked in everything that is written. Nothing is
written into a folder that `workspace` has not found to be an index of this repository: it may come from a stranger.
"""

import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Final

from gitmem.errors import StorageFailed, UnsafeIndex
from gitmem.fsio import append_file, make_folder, rename_file, require_own_folder
from gitmem.paths import IndexPaths
from gitmem.settings import LOG_LEVELS, LOG_OFF

LOG: Final = "gitmem.jsonl"
"""Name of the log in its folder; older ones have a number behind it."""

OLD_LOGS: Final = 3
_LOG_BYTES: Final = 4 << 20
"""Size from which a log is renamed, and a new one begun."""

_SUCCESSES: Final = ("ok", "partial", "exit_1")
"""Outcomes that are no failures; a search without results ends with exit code 1."""

_MASK: Final = "(hidden)"


class _Sink:
    """Selected level, the values that are never written, and the index folders that may be written into."""

    def __init__(self) -> None:
        self.level = LOG_OFF
        self.hidden: set[str] = set()
        self.indexes: set[Path] = set()


_sink: Final = _Sink()


def select_level(level: str) -> None:
    """Log events of this level and above from now on."""
    _sink.level = level


def hide(*secrets: str) -> None:
    """Never write these values. Keys of providers need not look like secrets."""
    _sink.hidden.update(secret for secret in secrets if secret)


def trust_index(root: Path) -> None:
    """Write events into this index folder from now on: gitmem made it in this repository."""
    _sink.indexes.add(root)


def distrust_index(root: Path) -> None:
    """Write nothing into this folder any more."""
    _sink.indexes.discard(root)


class Measured:
    """Operation that runs. The caller adds amounts (numbers), ids and, for the level `debug`, texts.

    `paths` is the index of the repository, whose journal counts the event once the index is trusted. None stands for
    that of the operation around it, and without one the event is counted nowhere.
    """

    __slots__ = ("amounts", "ids", "name", "outcome", "paths", "texts")

    def __init__(self, name: str, paths: IndexPaths | None) -> None:
        self.name = name
        self.paths = paths
        self.outcome = "ok"
        self.amounts: dict[str, int] = {}
        self.ids: dict[str, str] = {}
        self.texts: dict[str, str] = {}


_running: ContextVar[Measured | None] = ContextVar("operation", default=None)
"""Innermost operation of this thread. An encoder, which many repositories share, finds by it whose query it embeds."""


@contextmanager
def measured(name: str, paths: IndexPaths | None = None) -> Iterator[Measured]:
    """Emit an event at the end of a `with` block. An exception is its outcome, and goes on."""
    around = _running.get()
    operation = Measured(name, paths or (around.paths if around else None))
    token, started = _running.set(operation), time.perf_counter()
    try:
        yield operation
    except BrokenPipeError:  # the reader, `head` for example, has enough
        raise
    except BaseException as problem:
        operation.outcome = type(problem).__name__
        raise
    finally:
        _running.reset(token)
        emit(operation, time.perf_counter() - started)


def emit(operation: Measured, seconds: float) -> None:
    """Count an event, and log it if its level is selected. A failure to write is ignored: no command fails by that."""
    paths = operation.paths if operation.paths is not None and operation.paths.root in _sink.indexes else None
    if paths is not None and os.access(paths.state, os.W_OK):  # nothing is tried in an index that can only be read
        amounts = [f"{key}={value}" for key, value in operation.amounts.items()]
        line = " ".join([operation.name, operation.outcome, f"{seconds:.6f}", *amounts])
        with suppress(StorageFailed):
            append_file(paths.journal, line.encode() + b"\n")
    if _sink.level != LOG_OFF:
        level = "info" if operation.outcome in _SUCCESSES else "error"
        if LOG_LEVELS.index(level) >= LOG_LEVELS.index(_sink.level):
            _log(level, operation, seconds, paths)


def _log(level: str, operation: Measured, seconds: float, paths: IndexPaths | None) -> None:
    import json  # only for users who want a log

    component, _, action = operation.name.partition(".")
    now = time.time()
    values = {
        "time": f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1000):03}Z",
        "level": level,
        "component": component,
        "operation": action,
        "outcome": operation.outcome,
        "duration_ms": round(seconds * 1000, 3),
        "pid": os.getpid(),
        **_masked(operation.ids),
        **operation.amounts,
        **(_masked(operation.texts) if _sink.level == "debug" else {}),
    }
    line = json.dumps(values) + "\n"
    with suppress(OSError, ValueError):
        sys.stderr.write(line)
        sys.stderr.flush()
    if paths is not None:
        with suppress(StorageFailed, UnsafeIndex):
            _append_to_log(paths.logs / LOG, line.encode())


def hide_keys(text: str) -> str:
    """Return a text without the keys of the configuration, which need not look like keys."""
    for secret in _sink.hidden:
        text = text.replace(secret, _MASK)
    return text


def _masked(texts: Mapping[str, str]) -> dict[str, str]:
    from gitmem.secrets.masking import mask_text

    return {name: mask_text(hide_keys(text)) for name, text in texts.items()}


def _append_to_log(file: Path, line: bytes) -> None:
    """Append a line. A file that has become too large is renamed, and the oldest one is replaced."""
    make_folder(file.parent)
    require_own_folder(file.parent)  # a link would lead out of the index
    if append_file(file, line) < _LOG_BYTES:
        return
    for number in range(OLD_LOGS - 1, 0, -1):
        rename_file(file.with_name(f"{LOG}.{number}"), file.with_name(f"{LOG}.{number + 1}"))
    rename_file(file, file.with_name(f"{LOG}.1"))
