"""Names of languages and chunk types as people write them: aliases accepted, a near miss suggested."""

from collections.abc import Iterable

from gitmem.chunking.languages import LANGUAGES, language_of
from gitmem.errors import UsageError
from gitmem.types import KINDS


def parse_languages(names: Iterable[str]) -> tuple[str, ...]:
    """Names of languages; a file ending (`py`, `.ts`, `c++`) stands for its language. Raises UsageError."""
    return tuple(_language(name.strip().lower()) for name in names)


def _language(name: str) -> str:
    if name in LANGUAGES:
        return name
    by_ending = language_of(f"x.{name.lstrip('.')}") if name.strip(".") else ""
    if by_ending not in ("", "text"):
        return by_ending
    raise UsageError(
        f"`{name}` is no language gitmem knows",
        hint=_nearest(name, LANGUAGES) or "`gitmem status` lists those of this index",
    )


def parse_kinds(names: Iterable[str]) -> tuple[str, ...]:
    """Chunk types. Raises UsageError."""
    return tuple(_kind(name.strip().lower()) for name in names)


def _kind(name: str) -> str:
    if name in KINDS:
        return name
    raise UsageError(f"`{name}` is no chunk type", hint=_nearest(name, KINDS) + "types: " + ", ".join(KINDS))


def _nearest(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, sorted(known), 1, 0.5)
    return f"did you mean `{near[0]}`? " if near else ""
