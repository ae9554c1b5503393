"""What comes from a repository as text that is safe to show: nothing moves the cursor, reorders a line or hides."""

import re
from collections.abc import Mapping
from typing import Final

_LINE: Final = 100
_UNSEEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Controls, marks of direction, characters without width, and bytes that were no UTF-8 (as lone surrogates)."""


def visible(text: str) -> str:
    """Text with unseen characters written as escapes, on one line."""
    return _UNSEEN.sub(_escape, text)


def visible_code(line: str) -> str:
    """A line of code likewise, tabs kept."""
    return "\t".join(map(visible, line.split("\t"))) if "\t" in line else visible(line)


def first_line(text: str) -> str:
    """The first line that says something, with unseen characters as escapes, cut to what fits on a line."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return visible(line if len(line) <= _LINE else line[: _LINE - 1] + "…")


def _escape(match: "re.Match[str]") -> str:
    code = ord(match.group())
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    named = {9: "\\t", 10: "\\n", 13: "\\r", 27: "\\e"}.get(code)
    return named or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}")


def count(number: int, what: str) -> str:
    """`1 file`, `1,914 files`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def shares(counts: Mapping[str, int]) -> str:
    """`python 81, markdown 4`: the largest first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{visible(name) or 'text'} {number:,}" for name, number in ordered)


def size(number: int) -> str:
    """Bytes for people, in powers of ten: `812 B`, `1.1 MB`."""
    if number < 1000:
        return f"{number} B"
    value = float(number)
    for unit in ("kB", "MB", "GB", "TB"):
        value /= 1000
        if value < 999.5 or unit == "TB":
            break
    return f"{value:.1f} {unit}" if value < 9.95 else f"{value:.0f} {unit}"


def duration(seconds: float) -> str:
    """`96 ms`, `1.3 s`, `4 min 10 s`."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
