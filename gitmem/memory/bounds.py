"""What a field of a record may be. Pure; every refusal is a UsageError that names field, value and range."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from gitmem.display import visible
from gitmem.errors import UsageError

MAX_PATH: Final = 1000
MAX_METADATA: Final = 50
MAX_METADATA_CHARS: Final = 1000
_SHOWN: Final = 40


def check_text(field: str, value: str, most: int, least: int = 1) -> str:
    """A text of `least` to `most` characters that is UTF-8."""
    if len(value) < least or (least and not value.strip()):
        raise UsageError(f"the {field} is empty")
    if len(value) > most:
        raise UsageError(f"the {field} has {len(value):,} characters, at most {most:,} are allowed")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as problem:
        raise UsageError(f"the {field} is no UTF-8 text") from problem
    return value


def check_choice(field: str, value: str, choices: Sequence[str]) -> str:
    """One of a few words."""
    if value not in choices:
        raise UsageError(f"the {field} is `{value[:_SHOWN]}`, it must be one of {', '.join(choices)}")
    return value


def check_number(field: str, value: float, least: float, most: float) -> float:
    """A number within a range; NaN is none."""
    if isinstance(value, bool) or not least <= value <= most:
        raise UsageError(f"the {field} is {value}, it must be between {least:,} and {most:,}")
    return value


def check_count(field: str, value: int, least: int, most: int) -> int:
    """A whole number within a range."""
    if not isinstance(value, int):
        raise UsageError(f"the {field} is `{value}`, it must be a whole number")
    return int(check_number(field, value, least, most))


def check_list(field: str, values: Sequence[str], most: int, most_chars: int) -> tuple[str, ...]:
    """A list of texts, each within `most_chars`."""
    if len(values) > most:
        raise UsageError(f"there are {len(values)} {field}, at most {most} are allowed")
    return tuple(check_text(f"list of {field}", value, most_chars) for value in values)


def check_line(field: str, value: str, most: int) -> str:
    """A text of one line that shows all it holds."""
    if not check_text(field, value, most).isprintable():
        raise UsageError(f"the {field} is `{visible(value[:_SHOWN])}`, it must be a line of plain characters")
    return value


def check_path(field: str, value: str) -> str:
    """A file or folder of the repository, by its path from the top, without the dots and slashes that say nothing."""
    check_line(field, value, MAX_PATH)
    parts = [part for part in value.split("/") if part not in ("", ".")]
    if value.startswith("/") or ".." in parts or not parts:
        raise UsageError(
            f"the {field} is `{value[:_SHOWN]}`, it must be that of a file or folder in the repository",
            hint="src/app.py, as git writes it",
        )
    return "/".join(parts)


def check_metadata(values: Mapping[str, str]) -> dict[str, str]:
    """Pairs of texts."""
    if len(values) > MAX_METADATA:
        raise UsageError(f"there are {len(values)} metadata pairs, at most {MAX_METADATA} are allowed")
    return {
        check_text("metadata key", key, MAX_METADATA_CHARS): check_text("metadata value", value, MAX_METADATA_CHARS, 0)
        for key, value in values.items()
    }


def check_time(field: str, value: str) -> str:
    """An ISO 8601 date or time, written in UTC to the microsecond so that text order is time order."""
    try:
        found = datetime.fromisoformat(re.sub(r"\s+", " ", value.strip()))
        aware = found if found.tzinfo else found.replace(tzinfo=UTC)
        return format_time(aware)
    except (ValueError, OverflowError) as problem:
        raise UsageError(
            f"the {field} is `{value[:_SHOWN]}`, it must be a date or time as ISO 8601", hint="2026-01-31T12:00:00Z"
        ) from problem


def format_time(moment: datetime) -> str:
    """A time as records hold it: `2026-01-31T12:00:00.000000Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def current_time() -> str:
    """Now, as records hold it."""
    return format_time(datetime.now(UTC))
