"""Checks of the fields of records. Pure; a UsageError names the field, its value and the valid range."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from gitmem.display import visible
from gitmem.errors import UsageError

MAX_PATH: Final = 1000
MAX_METADATA: Final = 50
MAX_METADATA_CHARS: Final = 1000
_SHOWN_CHARS: Final = 40


def check_text(field: str, value: str, maximum: int, minimum: int = 1) -> str:
    """Refuse a text that is not valid UTF-8 or does not have `minimum` to `maximum` characters."""
    if len(value) < minimum or (minimum and not value.strip()):
        raise UsageError(f"the {field} is empty")
    if len(value) > maximum:
        raise UsageError(f"the {field} has {len(value):,} characters, at most {maximum:,} are allowed")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(f"the {field} is not valid UTF-8") from error
    return value


def check_choice(field: str, value: str, choices: Sequence[str]) -> str:
    """Refuse a value that is not one of the choices."""
    if value not in choices:
        raise UsageError(f"the {field} is `{value[:_SHOWN_CHARS]}`, it must be one of {', '.join(choices)}")
    return value


def check_number(field: str, value: float, minimum: float, maximum: float) -> float:
    """Refuse a number outside of a range, and NaN."""
    # bool is a subclass of int. A comparison with NaN is false, so NaN fails the range check.
    if isinstance(value, bool) or not minimum <= value <= maximum:
        raise UsageError(f"the {field} is {value}, it must be between {minimum:,} and {maximum:,}")
    return value


def check_count(field: str, value: int, minimum: int, maximum: int) -> int:
    """Refuse a value that is not a whole number within a range."""
    if not isinstance(value, int):
        raise UsageError(f"the {field} is `{value}`, it must be a whole number")
    return int(check_number(field, value, minimum, maximum))


def check_list(field: str, values: Sequence[str], maximum: int, max_chars: int) -> tuple[str, ...]:
    """Refuse a list with more than `maximum` texts, or with a text of more than `max_chars` characters."""
    if len(values) > maximum:
        raise UsageError(f"there are {len(values)} {field}, at most {maximum} are allowed")
    return tuple(check_text(f"list of {field}", value, max_chars) for value in values)


def check_line(field: str, value: str, maximum: int) -> str:
    """Refuse a text that has several lines or characters without a visible form."""
    if not check_text(field, value, maximum).isprintable():
        raise UsageError(f"the {field} is `{visible(value[:_SHOWN_CHARS])}`, it must be a line of plain characters")
    return value


def check_path(field: str, value: str) -> str:
    """Refuse a path that leaves the repository. Return it relative to the root, without `.` and empty parts."""
    check_line(field, value, MAX_PATH)
    parts = [part for part in value.split("/") if part not in ("", ".")]
    if value.startswith("/") or ".." in parts or not parts:
        raise UsageError(
            f"the {field} is `{value[:_SHOWN_CHARS]}`, it must be that of a file or folder in the repository",
            hint="src/app.py, as git writes it",
        )
    return "/".join(parts)


def check_metadata(values: Mapping[str, str]) -> dict[str, str]:
    """Refuse too many pairs of texts, empty keys, and long keys or values."""
    if len(values) > MAX_METADATA:
        raise UsageError(f"there are {len(values)} metadata pairs, at most {MAX_METADATA} are allowed")
    return {
        check_text("metadata key", key, MAX_METADATA_CHARS): check_text("metadata value", value, MAX_METADATA_CHARS, 0)
        for key, value in values.items()
    }


def check_time(field: str, value: str) -> str:
    """Parse an ISO 8601 date or time, UTC by default. Return it in UTC to the microsecond: text order is time order."""
    try:
        moment = datetime.fromisoformat(re.sub(r"\s+", " ", value.strip()))
        return format_time(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"the {field} is `{value[:_SHOWN_CHARS]}`, it must be a date or time as ISO 8601",
            hint="2026-01-31T12:00:00Z",
        ) from error


def format_time(moment: datetime) -> str:
    """Format a time as stored in records: `2026-01-31T12:00:00.000000Z`."""
    # Some platforms write years before 1000 with fewer than four digits, which would break the order of texts.
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def current_time() -> str:
    """Return the current time as stored in records."""
    return format_time(datetime.now(UTC))
