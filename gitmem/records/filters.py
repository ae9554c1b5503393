"""Filters on the fields of records and commits: type, source, sensitivity, visibility, conversation, time, confidence
and author.

A record without a field does not pass a filter on it. One without a visibility has the default of its kind.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from gitmem.memory.bounds import check_choice, check_number, check_time, format_time
from gitmem.memory.document import DOCUMENT_TYPES, SENSITIVITIES
from gitmem.memory.note import NOTE_TYPES
from gitmem.memory.record_paths import CONVERSATIONS, DOCUMENTS, NOTES
from gitmem.memory.visibility import DEFAULTS, VISIBILITIES, VISIBILITY
from gitmem.named_tuple import NamedTuple
from gitmem.types import DOCUMENT, NOTE, TURN

if TYPE_CHECKING:
    import numpy as np

    from gitmem.arrays import NDArray
    from gitmem.indexing.record_views import Records

_DATE: Final = len("2026-01-31")
_FOLDERS: Final = {NOTES: NOTE, DOCUMENTS: DOCUMENT, CONVERSATIONS: TURN}


class RecordFilters(NamedTuple):
    """Filters that must all hold; several values of one filter mean any of them.

    Times are inclusive and in the format of records, whose text order is the order of time. `author` is of commits.
    Code passes `since`, `until` and `author` by its last change, and no other filter.
    """

    type: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    sensitivity: tuple[str, ...] = ()
    visibility: tuple[str, ...] = ()
    conversation: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    min_confidence: float = 0.0
    author: tuple[str, ...] = ()

    @property
    def any(self) -> bool:
        """Whether any filter is set."""
        return self != NO_FILTERS

    @property
    def only_changes(self) -> "RecordFilters":
        """Filters that commits can pass, and code by the commit that changed it last."""
        return NO_FILTERS._replace(since=self.since, until=self.until, author=self.author)

    @property
    def excludes_code(self) -> bool:
        """Whether any filter asks for a property that only records have."""
        return self != self.only_changes


NO_FILTERS: Final = RecordFilters()
RECORD_TYPES: Final = tuple(dict.fromkeys((*NOTE_TYPES, *DOCUMENT_TYPES)))
"""Types of notes and documents."""

_CHOICES: Final = ("type", "source", "sensitivity", "visibility", "conversation")


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
    author: Iterable[str] = (),
) -> RecordFilters:
    """Return filters from the values of a user. A date as `until` includes that whole day. Raises UsageError."""

    def choose(field: str, values: Iterable[str], choices: Sequence[str]) -> tuple[str, ...]:
        return tuple(check_choice(field, value, choices) for value in values)

    return RecordFilters(
        choose("record type", type_, RECORD_TYPES),
        tuple(source),
        choose("sensitivity", sensitivity, SENSITIVITIES),
        choose("visibility", visibility, VISIBILITIES),
        tuple(conversation),
        check_time("time `since`", since) if since else "",
        _end_of(check_time("time `until`", until), until) if until else "",
        float(check_number("minimum confidence", min_confidence, 0, 1)),
        tuple(author),
    )


def _end_of(time: str, text: str) -> str:
    """Return the last moment of a date, or the time itself if the text names one."""
    if len(text.strip()) > _DATE:
        return time
    return format_time(datetime.fromisoformat(time) + timedelta(days=1, microseconds=-1))


def matches_author(filters: RecordFilters, author: str) -> bool:
    """Return whether an author, as name and address, has one of the texts of the filter."""
    name = author.casefold()
    return not filters.author or any(part.casefold() in name for part in filters.author)


def matching_records(records: "Records", filters: RecordFilters) -> "NDArray[np.bool_]":
    """Return the mask of the records that pass, [records]. Only the needed columns are read. Raises DamagedFile."""
    import numpy as np  # a query parses filters before numpy is loaded

    mask = np.full(len(records), not filters.author)  # no record has one
    for name in _CHOICES:
        values = getattr(filters, name)
        if values and name == VISIBILITY:
            mask &= _visible_records(records, frozenset(values))
        elif values:
            mask &= records.column(name).select(frozenset(values).__contains__)
    if filters.since or filters.until:
        # A space sorts before every time, a tilde after every time.
        since, until = filters.since or " ", filters.until or "~"
        mask &= records.column("time").select(lambda time: since <= time <= until)
    if filters.min_confidence:
        mask &= records.column("confidence").select(lambda value: _reaches(value, filters.min_confidence))
    return mask


def _visible_records(records: "Records", values: frozenset[str]) -> "NDArray[np.bool_]":
    """Return the mask of the records with one of some visibilities; those without the field have that of their kind."""
    column = records.column(VISIBILITY)
    mask, missing = column.select(values.__contains__), column.select(lambda value: not value)
    for folder, kind in _FOLDERS.items():
        if DEFAULTS[kind] in values:
            entries = records.folder(folder)
            mask[entries.start : entries.stop] |= missing[entries.start : entries.stop]
    return mask


def _reaches(value: str, minimum: float) -> bool:
    try:
        return float(value) >= minimum
    except ValueError:
        return False
