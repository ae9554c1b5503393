"""Whether words before the name of a definition say that its class, file or module alone knows it."""

from collections.abc import Callable, Mapping
from typing import Final

from gitmem.lazy_pattern import lazy_pattern

_PRIVATE: Final = lazy_pattern(rb"\b(?:file)?private\b(?![\[(])[^{};,(]*\Z")
"""The word belongs to the definition unless another one ends before the name."""

_STATIC: Final = lazy_pattern(rb"\bstatic\b")
_PUBLIC: Final = lazy_pattern(rb"\bpub\b|macro_rules!")

_REACH: Final = 200
"""Bytes before a name in which the words of its definition are looked for."""

Privacy = Callable[[bytes, int], bool]
"""Returns whether the definition whose name starts at a byte is private."""


def privacy_of(language: str) -> Privacy | None:
    """Return how definitions of a language are private; None if no words say it."""
    return _RULES.get(language)


def _is_private(data: bytes, start: int) -> bool:
    return _PRIVATE.search(data, _line_start(data, start), start) is not None


def _is_static(data: bytes, start: int) -> bool:
    first = _line_start(data, start)
    if first == start:  # the type has a line of its own
        first = _line_start(data, max(0, start - 1))
    return _STATIC.search(data, first, start) is not None


def _is_not_public(data: bytes, start: int) -> bool:
    return _PUBLIC.search(data, _line_start(data, start), start) is None


def _line_start(data: bytes, start: int) -> int:
    """Return where the line before a name begins. Of a long line, as in minified code, only the end is read."""
    reach = max(0, start - _REACH)
    return max(reach, data.rfind(b"\n", reach, start) + 1)


_RULES: Final[Mapping[str, Privacy]] = {
    **dict.fromkeys(("java", "kotlin", "csharp", "php", "swift", "scala", "typescript", "tsx"), _is_private),
    **dict.fromkeys(("c", "cpp", "objc", "cuda"), _is_static),
    "rust": _is_not_public,
}
