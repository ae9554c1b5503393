"""Parse the names of languages and chunk types that users write: accept aliases, suggest similar names."""

from collections.abc import Iterable

from gitmem.chunking.languages import LANGUAGES, language_of
from gitmem.errors import UsageError
from gitmem.types import CHUNK_TYPES


def parse_languages(names: Iterable[str]) -> tuple[str, ...]:
    """Return the languages of a list of names or file extensions (`py`, `.ts`, `c++`). Raises UsageError."""
    return tuple(_language(name.strip().lower()) for name in names)


def _language(name: str) -> str:
    if name in LANGUAGES:
        return name
    by_ending = language_of(f"x.{name.lstrip('.')}") if name.strip(".") else ""
    if by_ending not in ("", "text"):
        return by_ending
    raise UsageError(
        f"unknown language `{name}`",
        hint=_nearest(name, LANGUAGES) or "`gitmem status` lists the languages of this index",
    )


def parse_chunk_types(names: Iterable[str]) -> tuple[str, ...]:
    """Return the chunk types of a list of names. Raises UsageError."""
    return tuple(_chunk_type(name.strip().lower()) for name in names)


def _chunk_type(name: str) -> str:
    if name in CHUNK_TYPES:
        return name
    raise UsageError(
        f"unknown chunk type `{name}`", hint=_nearest(name, CHUNK_TYPES) + "chunk types: " + ", ".join(CHUNK_TYPES)
    )


def _nearest(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, sorted(known), 1, 0.5)
    return f"did you mean `{near[0]}`? " if near else ""
