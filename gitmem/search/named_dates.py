"""Find the dates that a query names: days, months and years, in English or as numbers (ISO 8601). Pure.

A date of the query is compared with the times of records, which are written in UTC. Relative dates ("yesterday") are no
dates here: a result must not depend on the day of the search.
"""

import re
from collections.abc import Sequence
from typing import Final

from gitmem.named_tuple import NamedTuple

_MONTHS: Final = "january february march april may june july august september october november december".split()
_NUMBERS: Final = {name: number for number, name in enumerate(_MONTHS, 1)} | {
    name[:3]: number for number, name in enumerate(_MONTHS, 1)
} | {"sept": 9}  # fmt: skip

_VERBS: Final = ("may", "march")
"""Words that mean a month only with a capital letter, a year or a preposition of time: "version 3 may fail"."""

_MONTH: Final = r"(?P<month>" + "|".join(sorted(_NUMBERS, key=len, reverse=True)) + r")\b\.?"
_DAY: Final = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)\b"

_FORMS: Final = (
    r"\b(?P<year>(?:19|20)\d\d)-(?P<number>[01]\d)(?:-(?P<day>[0-3]\d))?(?:\b|(?=T\d))",  # 2026-11-25, 2026-11
    rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s*{_YEAR})?",  # 25 November 2026, 25th of November
    rf"\b{_MONTH}\s+{_DAY}\b(?:,?\s*{_YEAR})?",  # November 25, 2026
    rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}",  # November 2026
    rf"\b(?:in|since|until|by|during|last|early|late|mid|of|before|after)[\s-]+{_MONTH}(?!\w)",  # in November
    rf"\b(?:in|since|during|of|before|after)\s+{_YEAR}",  # in 2026
)


class NamedDate(NamedTuple):
    """Day, month or year; 0 for a part that the query does not name. At least one part is named."""

    year: int
    month: int
    day: int

    def includes(self, time: str) -> bool:
        """Return whether a time, `2026-11-25T...`, is within the date."""
        parts = time[:4], time[5:7], time[8:10]
        return all(not named or part == f"{named:02}" for named, part in zip(self, parts, strict=True))


def find_dates(query: str) -> Sequence[NamedDate]:
    """Return the dates that a query names, each once, in the order of their forms."""
    # Most queries have neither a month nor a number of a year, so the expressions are compiled only for those that do.
    words = {*re.split(r"[\W\d_]+", query.lower())}
    if words.isdisjoint(_NUMBERS) and not any(century in query for century in ("19", "20")):
        return ()
    dates: dict[NamedDate, None] = {}
    rest = query
    for form in _FORMS:
        dates |= dict.fromkeys(filter(any, map(_read_date, re.finditer(form, rest, re.IGNORECASE))))
        # What one form has read is not read again: the month of a day is no date of its own.
        rest = re.sub(form, " ", rest, flags=re.IGNORECASE)
    return tuple(dates)


def _read_date(match: re.Match[str]) -> NamedDate:
    """Return the date of a match of a form; without any part if it is none."""
    parts = match.groupdict()
    name = parts.get("month") or ""
    month = int(parts.get("number") or 0) or _NUMBERS.get(name.lower(), 0)
    date = NamedDate(int(parts.get("year") or 0), month, int(parts.get("day") or 0))
    is_verb = name in _VERBS and not date.year and match.group().split()[0].lower() not in ("in", "since", "during")
    return NamedDate(0, 0, 0) if is_verb or date.month > 12 or date.day > 31 else date
