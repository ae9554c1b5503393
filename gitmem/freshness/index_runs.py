"""The log of index runs: one file in the state folder for each run that changed the index.

Each file is named by the end of its run. It has a line of JSON, which is the report, followed by the ids of the blobs
that the run indexed, so that their chunks can be found again after segments were merged. A run with nothing to do
leaves no file: thousands of them would push out the others. The times of the files strictly increase, even if the
clock is set back, because they are chosen under the writer lock.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from gitmem.errors import StorageFailed
from gitmem.events import Measured, emit
from gitmem.fsio import read_file, remove_file, write_atomic
from gitmem.named_tuple import NamedTuple
from gitmem.paths import RUN, IndexPaths
from gitmem.secrets.masking import mask_text

MAX_RUNS: Final = 200
"""Number of runs that are kept."""

_TIME: Final = "%Y-%m-%dT%H:%M:%S.%fZ"
_NAME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d{6}\.\d{6}Z")
_HEAD_BYTES: Final = 1 << 20
_TICK: Final = timedelta(microseconds=1)
_COUNTED: Final = ("blobs_embedded", "chunks_added", "text_bytes")
"""Numbers of a report that the metrics sum."""


class IndexRun(NamedTuple):
    """Logged run: its end (UTC, with microseconds), what started it, its working tree, and its report as JSON values.

    `event` is `index`, `init`, `query`, `watch`, `mcp`, `refresh` or the name of a git hook.
    """

    at: str
    event: str
    folder: str
    report: Mapping[str, Any]


def log_run(paths: IndexPaths, event: str, folder: Path, report: Mapping[str, Any], blobs: bytes | bytearray) -> None:
    """Add a run to the log, with the concatenated ids of its blobs, and drop the oldest. Failures are ignored.

    The caller holds the writer lock.
    """
    _emit(paths, event, report)
    with suppress(StorageFailed):  # the index itself is complete without the log
        names = _list_names(paths)
        at = _next_time(names[-1] if names else "")
        # A message may quote git, and git a URL with a password.
        head = json.dumps({"event": event, "folder": mask_text(str(folder)), "report": _mask(report)})
        write_atomic(_file(paths, at), [head.encode("ascii"), b"\n", memoryview(blobs)], durable=False)
        for name in names[: max(0, len(names) + 1 - MAX_RUNS)]:
            remove_file(paths.state / name)


def _emit(paths: IndexPaths, event: str, report: Mapping[str, Any]) -> None:
    operation = Measured("index.run", paths)
    status = str(report.get("status", "success"))
    operation.outcome = "ok" if status == "success" else status
    operation.ids |= {"event": event, "tree": str(report.get("tree", ""))}
    operation.amounts |= {name: report[name] for name in _COUNTED if name in report}
    emit(operation, float(report.get("seconds", 0)))


def read_runs(paths: IndexPaths) -> list[IndexRun]:
    """Return the logged runs, the oldest first. Invalid files are skipped. Raises: StorageFailed."""
    return [run for name in _list_names(paths) if (run := _read(paths, name))]


def find_last_run(paths: IndexPaths, tree: str) -> IndexRun | None:
    """Return the last logged run if it indexed this tree completely."""
    names = _list_names(paths)
    run = _read(paths, names[-1]) if names else None
    return run if run and run.report.get("tree") == tree and run.report.get("status") == "success" else None


def last_run_time(paths: IndexPaths) -> str:
    """Return the time of the last logged run that changed the index, "" if there is none. Raises: StorageFailed."""
    names = _list_names(paths)
    run = _read(paths, names[-1]) if names else None
    return run.at if run else ""


def read_blobs(paths: IndexPaths, at: str) -> bytes | None:
    """Return the concatenated ids of the blobs that a run indexed, None for an unknown run. Raises: StorageFailed."""
    if not _NAME.fullmatch(at.replace(":", "")):
        return None
    content = read_file(_file(paths, at))
    return None if content is None else content.partition(b"\n")[2]


def forget_run(paths: IndexPaths, at: str) -> None:
    """Remove a run from the log. The caller holds the writer lock. Raises: StorageFailed."""
    remove_file(_file(paths, at))


def _next_time(last: str) -> str:
    """Return the present time, or the time just after the last run if the clock is behind it."""
    now = datetime.now(UTC)
    if last:
        before = datetime.strptime(last.removeprefix(RUN), _TIME.replace(":", "")).replace(tzinfo=UTC)
        now = max(now, before + _TICK)
    return now.strftime(_TIME)


def _file(paths: IndexPaths, at: str) -> Path:
    # Windows forbids colons in names.
    return paths.state / (RUN + at.replace(":", ""))


def _list_names(paths: IndexPaths) -> list[str]:
    try:
        names = [file.name for file in paths.state.iterdir()]
    except OSError:
        return []
    return sorted(name for name in names if name.startswith(RUN) and _NAME.fullmatch(name.removeprefix(RUN)))


def _read(paths: IndexPaths, name: str) -> IndexRun | None:
    content = read_file(paths.state / name, _HEAD_BYTES) or b""
    at = datetime.strptime(name.removeprefix(RUN), _TIME.replace(":", "")).strftime(_TIME)
    try:
        value = json.loads(content.partition(b"\n")[0])
        return IndexRun(at, str(value["event"]), str(value["folder"]), dict(value["report"]))
    except (ValueError, TypeError, KeyError):
        return None


def _mask(report: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: [mask_text(str(line)) for line in value] if isinstance(value, list) else value
        for name, value in report.items()
    }
