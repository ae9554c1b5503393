"""Read Jupyter notebooks: the text of their cells, without outputs and metadata.

The *text* of a notebook stands for its bytes wherever gitmem chunks, masks or shows it. Jupyter writes each line of a
cell on a line of its own. There the text has as many lines as the file: a line of a cell is at the number that it has
in the file, without quotes and escapes, and all other lines are `HIDDEN`. Other programs write whole cells or the whole
notebook on one line. Their text has the cells one after the other, and its line numbers are those of the text.

A scanner instead of a JSON parser: it knows the place of each string, and passes over pictures at the speed of a search
for their end. nbformat 3 and 4 are read. A notebook whose brackets or quotes do not match is damaged and stays JSON.
"""

import json
import re
from typing import Final

from gitmem.chunking.languages import LANGUAGES, language_of
from gitmem.chunking.lines import Lines
from gitmem.named_tuple import NamedTuple

HIDDEN: Final = b"\0"
"""Line of a text that stands for a line of the file outside of all cells. Answers show a gap in its place."""

DAMAGED_LANGUAGE: Final = "json"
"""Language of a notebook that cannot be read."""

CODE: Final = "code"
MARKDOWN: Final = "markdown"
HEADING: Final = "heading"

_MAX_DEPTH: Final = 1000
_MAX_TOKENS: Final = 1_000_000
_KEPT_BYTES: Final = 64
"""Longest string outside of cells that `without_outputs` keeps. Names of types and languages are shorter."""

_TOKEN: Final = re.compile(rb'["{}\[\]]')
_COLON: Final = re.compile(rb"\s*:")
_LEVEL: Final = re.compile(rb"\s*(\d)")
_PICTURE: Final = re.compile(rb"(data:[\w/+.-]+;base64,)[A-Za-z0-9+/=]{64,}")
"""Picture inside a Markdown cell."""

_CLOSING: Final = {b"}": b"{", b"]": b"["}

# Roles of the arrays and objects that lead to the cells, by the role around them and the key.
_ROLES: Final = {
    ("", ""): "notebook",
    ("notebook", "cells"): "cells", ("cells", ""): "cell",
    ("cell", "source"): "source", ("cell", "input"): "source",
    ("notebook", "worksheets"): "worksheets", ("worksheets", ""): "worksheet", ("worksheet", "cells"): "cells",
    ("notebook", "metadata"): "metadata", ("metadata", "kernelspec"): "kernel",
    ("metadata", "language_info"): "language",
}  # fmt: skip
_LANGUAGE_KEYS: Final = frozenset({("kernel", "language"), ("language", "name"), ("cell", "language")})
_KERNELS: Final = {"ipython": "python", "ir": "r", "c++": "cpp", "c++11": "cpp", "c++14": "cpp", "c++17": "cpp",
                   "c#": "csharp", "f#": "fsharp", "pwsh": "powershell", "sagemath": "python", "node": "javascript",
                   "scilab": "matlab", "octave": "matlab", "sh": "bash", "common-lisp": "commonlisp"}  # fmt: skip
"""Names that kernels use for languages that have another name here."""


class Cell(NamedTuple):
    """Cell of a notebook: bytes of its text, half-open, without the line feed at the end.

    `cell_type` is that of the notebook, `level` that of a heading in nbformat 3. `language` is that of a code cell.
    """

    start: int
    end: int
    cell_type: str
    language: str = ""
    level: int = 0


class Notebook(NamedTuple):
    """Text of a notebook and the cells in it. `in_place` says whether its line numbers are those of the file."""

    text: bytes
    cells: tuple[Cell, ...]
    in_place: bool


class _Found(NamedTuple):
    """Cell as scanned: type, language, level of a heading, and the spans of the strings of its source."""

    cell_type: str
    language: str
    level: int
    strings: list[tuple[int, int]]


def read_notebook(data: bytes) -> Notebook | None:
    """Read a notebook, or return None if it is damaged or has no cells."""
    data = _PICTURE.sub(rb"\1", data)
    scan = _Scan(data)
    if not scan.run():
        return None
    lines = Lines(data)
    found = [cell for cell in scan.cells if cell.strings]
    places = [[lines.number(start) for start, _ in cell.strings] for cell in found]
    sources = [[_decode(data[start:end]) for start, end in cell.strings] for cell in found]
    flat = [place for of_cell in places for place in of_cell]
    languages = [_language(cell.language or scan.language) if cell.cell_type == CODE else "" for cell in found]
    in_place = len(set(flat)) == len(flat) and all("\n" not in line[:-1] for source in sources for line in source)
    if in_place:
        texts = [(numbers[0], _fill(numbers, source)) for numbers, source in zip(places, sources, strict=True)]
        size = data.count(b"\n") + 1
    else:
        texts, at = [], 1
        for source in sources:
            own = [line.removesuffix("\r") for line in "".join(source).removesuffix("\n").split("\n")]
            texts.append((at, own))
            at += len(own) + 1  # with a hidden line between two cells
        size = max(at - 2, 1)
    text, spans = _join(texts, size)
    cells = [
        Cell(start, end, cell.cell_type, language, cell.level)
        for (start, end), cell, language in zip(spans, found, languages, strict=True)
    ]
    return Notebook(text, tuple(cells), in_place)


def plain_text(notebook: Notebook) -> bytes:
    """Return the text of a notebook with blank lines outside of its cells, for readers to whom NUL means binary."""
    return notebook.text.replace(HIDDEN, b" ")


def without_outputs(data: bytes) -> bytes | None:
    """Return a notebook without pictures and the long strings outside of its cells; None if it is damaged.

    Its text is the same.
    """
    data = _PICTURE.sub(rb"\1", data)
    scan = _Scan(data)
    if not scan.run():
        return None
    kept, at = [], 0
    for start, end in scan.others:
        kept.append(data[at:start])
        at = end
    return b'""'.join([*kept, data[at:]])


class _Scan:
    """Walks through the strings and brackets of a notebook.

    `cells` are its cells, `others` the spans of long strings outside of them, `language` that of its kernel.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._stack: list[tuple[bytes, str]] = []  # opening bracket and role of each open array or object
        self._key = ""
        self._cell = _Found("", "", 0, [])
        self._languages: dict[str, str] = {}
        self._has_cells = False
        self.cells: list[_Found] = []
        self.others: list[tuple[int, int]] = []

    @property
    def language(self) -> str:
        return self._languages.get("kernel") or self._languages.get("language") or "python"

    def run(self) -> bool:
        """Scan the notebook; return False if it is damaged."""
        at = 0
        for _ in range(_MAX_TOKENS):
            token = _TOKEN.search(self._data, at)
            if token is None:
                return self._has_cells and not self._stack
            at = token.end()
            if token[0] == b'"':
                at = self._take_string(token.start())
            elif token[0] in _CLOSING:
                if not self._stack or self._stack[-1][0] != _CLOSING[token[0]]:
                    return False
                self._close()
            else:
                self._open(token[0])
            if at < 0 or len(self._stack) > _MAX_DEPTH:
                return False
        return False

    def _open(self, bracket: bytes) -> None:
        around = self._stack[-1][1] if self._stack else ""
        known = not self._stack or around  # below an unknown role all roles are unknown
        role = _ROLES.get((around, self._key), "") if known else ""
        if bracket == b"[" and role == "cells":
            self._has_cells = True
        if role == "cell":
            self._cell = _Found("", "", 0, [])
        self._stack.append((bracket, role))
        self._key = ""

    def _close(self) -> None:
        if self._stack.pop()[1] == "cell":
            self.cells.append(self._cell)
        self._key = ""

    def _take_string(self, start: int) -> int:
        """Take the string that begins at an offset; return the offset behind it, -1 if it does not end."""
        end = _string_end(self._data, start)
        if end < 0 or not self._stack:
            return -1
        bracket, role = self._stack[-1]
        colon = _COLON.match(self._data, end) if bracket == b"{" and not self._key else None
        if colon is not None:
            self._key = _decode(self._data[start : min(end, start + _KEPT_BYTES)])
            if role == "cell" and self._key == "level" and (level := _LEVEL.match(self._data, colon.end())):
                self._cell = self._cell._replace(level=int(level[1]))
            if not _takes_value(self._data, colon.end()):
                self._key = ""  # a number, true, false or null is no token
            return colon.end()
        self._take_value(role, start, end)
        self._key = ""
        return end

    def _take_value(self, role: str, start: int, end: int) -> None:
        if role == "source" or (role == "cell" and self._key in ("source", "input")):
            self._cell.strings.append((start, end))
            return
        if end - start > _KEPT_BYTES:
            self.others.append((start, end))
            return
        text = _decode(self._data[start:end])
        if (role, self._key) in _LANGUAGE_KEYS:
            if role == "cell":
                self._cell = self._cell._replace(language=text)
            else:
                self._languages[role] = text
        elif (role, self._key) == ("cell", "cell_type"):
            self._cell = self._cell._replace(cell_type=text)


def _takes_value(data: bytes, at: int) -> bool:
    """Return whether the value behind a colon is a string, an array or an object."""
    return data[at : at + _KEPT_BYTES].lstrip()[:1] in (b'"', b"[", b"{")


def _string_end(data: bytes, start: int) -> int:
    """Return the offset behind the string that begins at `start`, -1 if it does not end."""
    end = data.find(b'"', start + 1)
    while end >= 0:
        before = end
        while data[before - 1] == 92:  # a quote behind an odd number of backslashes belongs to the string
            before -= 1
        if (end - before) % 2 == 0:
            return end + 1
        end = data.find(b'"', end + 1)
    return -1


def _decode(string: bytes) -> str:
    """Return the text of a JSON string; one with invalid escapes is taken as it is."""
    raw = string.decode("utf-8", "replace")
    try:
        text = str(json.loads(raw, strict=False))
    except ValueError:
        text = raw.strip('"')
    return text.replace("\0", " ")


def _language(name: str) -> str:
    """Return the language of a kernel's name for it, "" if it is unknown."""
    name = name.lower()
    name = _KERNELS.get(name, name)
    return name if name in LANGUAGES else language_of(f"cell.{name}")


def _fill(numbers: list[int], source: list[str]) -> list[str]:
    """Return the lines of a cell from its first to its last line in the file."""
    lines = [""] * (numbers[-1] - numbers[0] + 1)
    for number, line in zip(numbers, source, strict=True):
        lines[number - numbers[0]] = line.removesuffix("\n").removesuffix("\r")
    return lines


def _join(texts: list[tuple[int, list[str]]], size: int) -> tuple[bytes, list[tuple[int, int]]]:
    """Return a text of so many lines with those of each cell at its first line, and the spans of the cells."""
    lines = [HIDDEN] * size
    ranges = []
    for first, own in texts:
        lines[first - 1 : first - 1 + len(own)] = [line.encode("utf-8", "replace") for line in own]
        ranges.append((first - 1, first - 1 + len(own)))
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    return b"\n".join(lines), [(starts[first], starts[last] - 1) for first, last in ranges]
