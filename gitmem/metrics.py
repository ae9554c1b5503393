"""Metrics of a repository over all processes: sums of the events in the journal (`events`).

A command lives too short to keep counters, so each event is a line of a journal. A journal that has grown is closed by
a new name. It is added to the sums and removed at the earliest a minute later, when no process can still have it open.
The sums name the journals that they contain, so a killed process neither loses nor counts one twice.
"""

import json
import time
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from gitmem.fsio import read_file, remove_file, rename_file, write_atomic
from gitmem.paths import IndexPaths

BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Upper bounds of the buckets of a histogram in seconds; one without a bound follows."""

_VERSION: Final = 1
_JOURNAL_BYTES: Final = 1 << 16
_CLOSED_NS: Final = 60 * 10**9


@dataclass(slots=True)
class Series:
    """Events of one name and outcome: number, total duration, histogram of the durations, and summed amounts."""

    count: int = 0
    seconds: float = 0.0
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    amounts: dict[str, int] = field(default_factory=dict)

    def add(self, seconds: float, amounts: dict[str, int]) -> None:
        """Count one event."""
        self.count += 1
        self.seconds += seconds
        self.buckets[bisect_left(BUCKETS, seconds)] += 1
        for name, value in amounts.items():
            self.amounts[name] = self.amounts.get(name, 0) + value

    def quantile(self, share: float) -> float:
        """Return an upper bound of the durations of this share of the events, infinite in the last bucket."""
        left = share * self.count
        for bound, number in zip((*BUCKETS, float("inf")), self.buckets, strict=True):
            left -= number
            if left <= 0:
                return bound
        return float("inf")


Metrics = dict[tuple[str, str], Series]
"""Series by name (`search.query`) and outcome (`ok`, or what went wrong)."""


def read_metrics(paths: IndexPaths) -> Metrics:
    """Return the metrics, including the open journal. Raises: StorageFailed."""
    # The journals come first: one that is added to the sums in between is then named there, and not counted again.
    journals = {file.name: read_file(file) or b"" for file in (*_closed(paths), paths.journal)}
    metrics, contained = _read_sums(paths)
    for name, content in journals.items():
        if name not in contained:
            _add_lines(metrics, content.splitlines())
    return metrics


def fold_journals(paths: IndexPaths) -> None:
    """Add closed journals to the sums, and close one that has grown. The caller holds the writer lock.

    Raises: StorageFailed.
    """
    now = time.time_ns()
    # abs: after the clock was set back, a time in the future does not keep a journal for ever.
    ready = [file for file in _closed(paths) if abs(now - int(file.name.rpartition("-")[2])) >= _CLOSED_NS]
    if ready:
        metrics, contained = _read_sums(paths)
        for file in ready:
            if file.name not in contained:
                _add_lines(metrics, (read_file(file) or b"").splitlines())
        write_atomic(paths.metrics, [_pack(metrics, [file.name for file in ready])])
        for file in ready:
            remove_file(file)
    if paths.journal.is_file() and paths.journal.stat().st_size >= _JOURNAL_BYTES:
        rename_file(paths.journal, paths.journal.with_name(f"{paths.journal.name}-{now}"))


def reset_metrics(paths: IndexPaths) -> None:
    """Remove the sums and all journals. The caller holds the writer lock. Raises: StorageFailed.

    The sums go last: they name the journals that they contain, and a process that is killed before must not leave one
    of these to be counted again. What another process writes at this moment may be lost, as if it came before.
    """
    for file in (*_closed(paths), paths.journal, paths.metrics):
        remove_file(file)


def _closed(paths: IndexPaths) -> list[Path]:
    names = paths.state.glob(f"{paths.journal.name}-*")
    return sorted(file for file in names if file.name.rpartition("-")[2].isdecimal())


def _add_lines(metrics: Metrics, lines: Iterable[bytes]) -> None:
    """Count the events of a journal. A line that a power cut left incomplete is skipped."""
    for line in lines:
        try:
            name, outcome, seconds, *amounts = line.decode("ascii").split(" ")
            pairs = (amount.split("=") for amount in amounts)
            values, duration = {key: int(value) for key, value in pairs}, float(seconds)
        except ValueError:
            continue
        if "." in name and 0 <= duration < float("inf"):
            metrics.setdefault((name, outcome), Series()).add(duration, values)


def _pack(metrics: Metrics, contained: list[str]) -> bytes:
    series = [
        [name, outcome, one.count, one.seconds, one.buckets, one.amounts] for (name, outcome), one in metrics.items()
    ]
    return json.dumps({"version": _VERSION, "contained": contained, "series": series}).encode("ascii")


def _read_sums(paths: IndexPaths) -> tuple[Metrics, set[str]]:
    """Return the sums and the names of the journals in them. Damaged ones begin anew, as after a new installation."""
    try:
        parsed: Any = json.loads(read_file(paths.metrics) or b"{}")
        if parsed.get("version") != _VERSION:
            return {}, set()
        series = {
            (str(name), str(outcome)): Series(int(count), float(seconds), _buckets(buckets), dict(amounts))
            for name, outcome, count, seconds, buckets, amounts in parsed["series"]
        }
        return series, set(map(str, parsed["contained"]))
    except (ValueError, TypeError, KeyError, AttributeError):
        return {}, set()


def _buckets(values: list[Any]) -> list[int]:
    if len(values) != len(BUCKETS) + 1:
        raise ValueError("the number of buckets differs")
    return [int(value) for value in values]
