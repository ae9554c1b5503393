"""Parse the names of languages and chunk types that users write: accept aliases, suggest similar names."""

from collections.abc import Iterable

from gitmem.chunking.languages import LANGUAGES, language_named
from gitmem.errors import UsageError
from gitmem.records.filters import RECORD_TYPES
from gitmem.types import CHUNK_TYPES


def parse_languages(names: Iterable[str]) -> tuple[str, ...]:
    """Return the languages of a list of names or file extensions (`py`, `.ts`, `c++`). Raises UsageError."""
    return tuple(_language(name) for name in names)


def _language(name: str) -> str:
    language = language_named(name)
    if language in LANGUAGES:
        return language
    raise UsageError(
        f"unknown language `{name}`",
        hint=_advice(name, LANGUAGES) or "`gitmem status` lists the languages of this index",
    )


def parse_chunk_types(names: Iterable[str]) -> tuple[str, ...]:
    """Return the chunk types of a list of names. Raises UsageError."""
    return tuple(_chunk_type(name.strip().lower()) for name in names)


def _chunk_type(name: str) -> str:
    if name in CHUNK_TYPES:
        return name
    if name in RECORD_TYPES:
        raise UsageError(f"`{name}` is the type of a record, not of a chunk", hint=f"--record-type {name} --kind all")
    advice = _advice(name, CHUNK_TYPES)
    hint = "; ".join([*([advice] if advice else []), "chunk types: " + ", ".join(CHUNK_TYPES)])
    raise UsageError(f"unknown chunk type `{name}`", hint=hint)


def _advice(name: str, known: Iterable[str]) -> str:
    from gitmem.suggestions import find_similar_name  # slow to load, and needed for wrong names only

    similar = find_similar_name(name, known)
    return f"did you mean `{similar}`?" if similar else ""
