"""The log of background runs, which nobody sees at work: one JSON object a line, the newest last."""

import json
import time
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.fsio import read_file, write_atomic
from gitmem.paths import IndexPaths

DONE: Final = "done"
DEFERRED: Final = "deferred"
FAILED: Final = "failed"

_KEPT: Final = 100
_MOST_BYTES: Final = 1 << 20


class Entry(NamedTuple):
    """One run: when it ended (UTC), what caused it, the working tree, what came of it, and the rest in words."""

    at: str
    event: str
    place: str
    outcome: str
    told: str
    seconds: float


def add_entry(paths: IndexPaths, event: str, place: Path, outcome: str, told: str, seconds: float) -> None:
    """Add a run to the log, and drop the oldest. Call with the background lock held. Raises StorageFailed."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    entry = Entry(at, event, str(place), outcome, told, round(seconds, 3))
    kept = [*read_entries(paths), entry][-_KEPT:]
    write_atomic(paths.log, [json.dumps(line).encode() + b"\n" for line in kept], durable=False)


def read_entries(paths: IndexPaths) -> list[Entry]:
    """The runs that are on record, the oldest first; lines that are none are left out. Raises StorageFailed."""
    lines = (read_file(paths.log, _MOST_BYTES) or b"").splitlines()
    return [entry for line in lines if (entry := _parse(line))]


def _parse(line: bytes) -> Entry | None:
    try:
        at, event, place, outcome, told, seconds = json.loads(line)
        return Entry(str(at), str(event), str(place), str(outcome), str(told), float(seconds))
    except (ValueError, TypeError):
        return None
