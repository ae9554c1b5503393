"""The log of background runs, which have no terminal to print to: one JSON array a line, the newest last."""

import json
import time
from pathlib import Path
from typing import Final

from gitmem.fsio import read_file, write_atomic
from gitmem.named_tuple import NamedTuple
from gitmem.paths import IndexPaths
from gitmem.secrets.masking import mask_text

DONE: Final = "done"
DEFERRED: Final = "deferred"
FAILED: Final = "failed"

_MAX_ENTRIES: Final = 100
_MAX_BYTES: Final = 1 << 20


class Entry(NamedTuple):
    """One run: end time (UTC), triggering event, working tree, outcome (DONE, DEFERRED, FAILED), message, duration."""

    at: str
    event: str
    folder: str
    outcome: str
    message: str
    seconds: float


SHARING: Final = "sharing"
"""Event of an entry about the exchange of records in the background."""


def add_entry(paths: IndexPaths, event: str, folder: Path, outcome: str, message: str, seconds: float) -> None:
    """Append a run to the log and drop the oldest. The caller holds the background lock. Raises StorageFailed."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    # A message may quote git, and git a URL with a password.
    entry = Entry(at, event, str(folder), outcome, mask_text(message), round(seconds, 3))
    entries = [*read_entries(paths), entry][-_MAX_ENTRIES:]
    write_atomic(paths.log, [json.dumps(line).encode() + b"\n" for line in entries], durable=False)


def read_entries(paths: IndexPaths) -> list[Entry]:
    """Return the logged runs, the oldest first. Invalid lines are skipped. Raises StorageFailed."""
    lines = (read_file(paths.log, _MAX_BYTES) or b"").splitlines()
    return [entry for line in lines if (entry := _parse(line))]


def _parse(line: bytes) -> Entry | None:
    try:
        at, event, folder, outcome, message, seconds = json.loads(line)
        return Entry(str(at), str(event), str(folder), str(outcome), str(message), float(seconds))
    except (ValueError, TypeError):
        return None
