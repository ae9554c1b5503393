"""Turn annotations into comments for a parser that takes them for something else, and keep the names in them."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from gitmem.named_tuple import NamedTuple

_MAX_ARGUMENTS: Final = 2000
"""Bytes of the arguments of an annotation."""

_ARGUMENT: Final = re.compile(rb"""[^()"']+|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|([()])""")
_LINE: Final = re.compile(rb"[^\n]+")
_WORD: Final = re.compile(rb"\"(?:[^\"\\\n]|\\.)*\"|([A-Za-z_]\w*)")
_CAPITAL: Final = re.compile(rb"_*[A-Z]")


class HiddenName(NamedTuple):
    """A name in text that the parser does not see: its start, its kind of occurrence, and the place of that text."""

    start: int
    text: bytes
    kind: str
    place: int


def blanks(form: re.Match[bytes]) -> bytes:
    """Return as many blanks as a form has bytes that the parser does not know."""
    return b" " * len(form[0])


def end_of_arguments(data: bytes, start: int) -> int:
    """Return the end of the parenthesis that begins before an offset, 0 if there is none."""
    depth = 1
    for part in _ARGUMENT.finditer(data, start, start + _MAX_ARGUMENTS):
        if part[1]:
            depth += 1 if part[1] == b"(" else -1
            if not depth:
                return part.end()
    return 0


def with_comments(text: bytes, data: bytes, spans: Sequence[tuple[int, int]]) -> bytes:
    """Return source of the same length, with comments for the spans of `data`.

    `text` is `data` as the parser gets it, perhaps with other changes. A comment belongs to the declaration below.
    """
    if not spans:
        return text
    changed = bytearray(text)
    for start, end in spans:
        ends_line = data[end : end + 1] in (b"", b"\n", b"\r")
        for line in _LINE.finditer(data, start, end):
            first, size = line.start(), line.end() - line.start()
            if line.end() == end and not ends_line:
                # The declaration is on this line. A comment needs four bytes.
                if size > 3:
                    changed[first:end] = b"/*" + b" " * (size - 4) + b"*/"
            elif size > 1:
                changed[first : line.end()] = b"//".ljust(size)
            elif first > start:
                # A parenthesis alone is too short for a comment, so the one above goes on.
                changed[first - 1 : line.end()] = b"  "
    return bytes(changed)


def names_in_spans(data: bytes, spans: Sequence[tuple[int, int]], kind: str) -> Iterator[HiddenName]:
    """Yield the names in annotations: `kind` is that of the first name, all others are types.

    Names of types begin with a capital letter where annotations are part of the language, as decorators are.
    """
    for start, end in spans:
        own = kind if kind == "decorator" or data[end - 1 : end] == b")" else "type"
        for word in _WORD.finditer(data, start, end):
            if word[1] and (kind != "decorator" or _CAPITAL.match(word[1])):
                yield HiddenName(word.start(), word[1], own, start)
                own = "type"
