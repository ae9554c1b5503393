"""Format text and numbers for people. Text of a repository cannot move the cursor, reorder a line or hide anything."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from gitmem.invisible_characters import CONTROLS, HIDING
from gitmem.lazy_pattern import lazy_pattern

_MAX_LINE: Final = 100
_PLACES_SHOWN: Final = 3
_STYLES: Final = "\ufe0e\ufe0f"
_LETTER_EMOJI: Final = "\u2139"
_UNSAFE: Final = lazy_pattern(f"[{CONTROLS}{HIDING}]")


def visible(text: str) -> str:
    """Return text on one line, with unsafe characters as escapes. Emoji keep their selectors of a style."""
    # The pattern is compiled for other text only, which is rare.
    return text if text.isascii() and text.isprintable() else _UNSAFE.sub(_escape, text)


def visible_code(line: str) -> str:
    """Return a line of code with unsafe characters as escapes, except for tabs."""
    return "\t".join(map(visible, line.split("\t"))) if "\t" in line else visible(line)


def hides_text(text: str) -> bool:
    """Return whether text contains characters that hide or reorder others.

    A byte order mark at the start and a single selector of an emoji's style are ordinary and do not count.
    """
    if text.isascii():
        return False
    hidden = _hiding_pattern().finditer(text, text.startswith("\ufeff"))
    return not all(map(_selects_style, hidden))


@cache
def _hiding_pattern() -> "re.Pattern[str]":
    # Compiled on demand: most text is ASCII.
    return re.compile(f"[{HIDING}]")


def _selects_style(match: "re.Match[str]") -> bool:
    """Return whether a character only selects the style of the emoji before it."""
    text, start, end = match.string, *match.span()
    if match[0] not in _STYLES or not start or _hiding_pattern().match(text, end):
        return False
    import unicodedata  # here, as most text has no selectors

    before = text[start - 1]
    # A letter has no style. Behind one, a selector would be a second name that looks like the first.
    return not before.isascii() and (before == _LETTER_EMOJI or unicodedata.category(before)[0] in "SP")


def note_hidden_text(places: Sequence[str]) -> str:
    """Return the note about places with text that `hides_text`."""
    shown = ", ".join(places[:_PLACES_SHOWN])
    more = f" and {count(len(places) - _PLACES_SHOWN, 'more place')}" if len(places) > _PLACES_SHOWN else ""
    return f"invisible characters, shown as escapes, in {shown}{more}"


def format_score(score: float) -> str:
    """Return a score with two digits. A tiny one is not shown as 0."""
    text = f"{score:.2f}"
    return "<0.01" if text == "0.00" and score > 0 else text


def first_line(text: str) -> str:
    """Return the first non-empty line with unsafe characters as escapes, truncated to 100 characters."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return visible(line if len(line) <= _MAX_LINE else line[: _MAX_LINE - 1] + "…")


def _escape(match: "re.Match[str]") -> str:
    if _selects_style(match):
        return match[0]
    code = ord(match[0])
    # Python decodes an invalid byte as a lone surrogate (PEP 383).
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    short = {9: "\\t", 10: "\\n", 13: "\\r", 27: "\\e"}.get(code)
    return short or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}")


def count(number: int, noun: str, plural: str = "") -> str:
    """Format a number with its noun: `1 file`, `1,914 files`. `plural` is needed if it is not formed with `s`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {plural or f'{noun}s'}"


def shares(counts: Mapping[str, int]) -> str:
    """Format counts by name, the largest first: `python 81, markdown 4`."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{visible(name) or 'text'} {number:,}" for name, number in ordered)


def size(number: int) -> str:
    """Format a number of bytes in powers of ten: `812 B`, `1.1 MB`."""
    if number < 1000:
        return f"{number} B"
    # Units change before rounding yields a fourth digit: 999,600 bytes are 1.0 MB, not 1000 kB.
    value = float(number)
    for unit in ("kB", "MB", "GB", "TB"):
        value /= 1000
        if value < 999.5 or unit == "TB":
            break
    return f"{value:.1f} {unit}" if value < 9.95 else f"{value:.0f} {unit}"


def duration(seconds: float) -> str:
    """Format a duration: `96 ms`, `1.3 s`, `4 min 10 s`."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
