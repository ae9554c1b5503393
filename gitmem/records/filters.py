"""What records must have to be found or listed: their type, source, sensitivity, visibility, conversation, time and
confidence. A record that lacks what is asked for is left out.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gitmem.indexing.record_views import Records

_DATE: Final = len("2026-01-31")


class RecordFilters(NamedTuple):
    """Limits that must all hold; several values of one mean any of them. Times are inclusive, as records write them."""

    type: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    sensitivity: tuple[str, ...] = ()
    visibility: tuple[str, ...] = ()
    conversation: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    min_confidence: float = 0.0

    @property
    def any(self) -> bool:
        return self != NO_FILTERS


NO_FILTERS: Final = RecordFilters()
_WORDS: Final = ("type", "source", "sensitivity", "visibility", "conversation")


def parse_filters(
    *,
    type_: Iterable[str] = (),
    source: Iterable[str] = (),
    sensitivity: Iterable[str] = (),
    visibility: Iterable[str] = (),
    conversation: Iterable[str] = (),
    since: str = "",
    until: str = "",
    min_confidence: float = 0.0,
) -> RecordFilters:
    """Limits as a person gives them; a date as `until` is that whole day. Raises UsageError."""
    from gitmem.memory.bounds import check_choice, check_number, check_time
    from gitmem.memory.document import DOCUMENT_TYPES, SENSITIVITIES, VISIBILITIES
    from gitmem.memory.note import NOTE_TYPES

    def choose(field: str, values: Iterable[str], choices: Sequence[str]) -> tuple[str, ...]:
        return tuple(check_choice(field, value, choices) for value in values)

    return RecordFilters(
        choose("record type", type_, (*NOTE_TYPES, *DOCUMENT_TYPES)),
        tuple(source),
        choose("sensitivity", sensitivity, SENSITIVITIES),
        choose("visibility", visibility, VISIBILITIES),
        tuple(conversation),
        check_time("time since when", since) if since else "",
        _end_of(check_time("time until when", until), until) if until else "",
        float(check_number("least confidence", min_confidence, 0, 1)),
    )


def _end_of(time: str, told: str) -> str:
    """The last moment of what was told."""
    if len(told.strip()) > _DATE:
        return time
    from datetime import datetime

    from gitmem.memory.bounds import format_time

    return format_time(datetime.fromisoformat(time) + timedelta(days=1, microseconds=-1))


def matching_records(records: "Records", filters: RecordFilters) -> "NDArray[np.bool_]":
    """Which records keep within limits, [records]. Only the columns that are asked for are read. Raises DamagedFile."""
    import numpy as np

    kept = np.ones(len(records), bool)
    for name in _WORDS:
        wanted = getattr(filters, name)
        if wanted:
            kept &= records.column(name).select(frozenset(wanted).__contains__)
    if filters.since or filters.until:
        since, until = filters.since or " ", filters.until or "~"
        kept &= records.column("time").select(lambda time: since <= time <= until)
    if filters.min_confidence:
        kept &= records.column("confidence").select(lambda told: _reaches(told, filters.min_confidence))
    return kept


def _reaches(told: str, least: float) -> bool:
    try:
        return float(told) >= least
    except ValueError:
        return False
