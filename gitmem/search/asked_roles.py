"""Tell whether a query asks for tests, examples or documents, rather than for code that has to do with them. Pure."""

from collections.abc import Mapping
from re import IGNORECASE, Pattern
from typing import Final

from gitmem.lazy_pattern import lazy_pattern

_OF: Final = r" (?:for|of|about|on|that|which|covering|using|with)\b"
_ASKING: Final[Mapping[str, Pattern[str]]] = {
    "test": lazy_pattern(
        r"\b(?:unit|integration|regression|functional|e2e)[ -]tests?\b|\btest cases?\b|\btests?"
        + _OF
        + r"|\btests\W*$",
        IGNORECASE,
    ),
    "example": lazy_pattern(r"(?<!for )\bexamples?(?:" + _OF + r"|\W*$)|\bsample (?:code|app)", IGNORECASE),
    "document": lazy_pattern(
        r"\b(?:documentation|docs)(?:" + _OF + r"|\W*$)|\breadme\b|\bchangelog\b|\buser guide\b",
        IGNORECASE,
    ),
}
"""Forms that name what is wanted. `test runner` and `documentation generator` are code."""


def asks_for(role: str, query: str) -> bool:
    """Return whether a query asks for files of a role; False for roles that nobody asks for."""
    pattern = _ASKING.get(role)
    return pattern is not None and pattern.search(query) is not None
