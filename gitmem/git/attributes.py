"""Attributes of paths, from the `.gitattributes` files of the tree that is searched.

The working tree, `info/attributes` and the person's own attribute file do not count: a tree gives the same index
everywhere. Everything else is as git does it: nested files, macros, later lines, `-name`, `!name`, quoted patterns.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from gitmem.patterns.pattern_table import GlobTable, NestedTables
from gitmem.patterns.wildmatch import Glob, parse_glob

ATTRIBUTES_FILE: Final = b".gitattributes"
BLANK: Final = b" \t\r\n"
MACRO_PREFIX: Final = b"[attr]"
MAX_LINE: Final = 2048
VALID_NAME: Final = re.compile(rb"[A-Za-z0-9_.][-A-Za-z0-9_.]*\Z")
ESCAPES: Final = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}

Value = str | bool
Assignment = tuple[str, Value | None]
"""A name and what it is set to; None is `!name`, unspecified."""

BINARY: Final[Sequence[Assignment]] = (("diff", False), ("merge", False), ("text", False))
"""The macro that git knows by itself."""


class Line(NamedTuple):
    """One line: a pattern with assignments, or with `macro` the definition of that name."""

    glob: Glob | None
    macro: str
    assignments: tuple[Assignment, ...]


class AttributeRules:
    """The attribute files of one tree, each valid below the folder it stands in."""

    def __init__(self, lines: dict[bytes, list[Line]]) -> None:
        self._lines = lines
        tables = {folder: GlobTable(line.glob for line in below) for folder, below in lines.items()}
        self._tables = NestedTables(tables)
        self._macros = {"binary": tuple(BINARY)}
        self._macros.update((line.macro, line.assignments) for line in lines.get(b"", ()) if line.macro)
        self._results: dict[tuple[tuple[bytes, int], ...], Mapping[str, Value]] = {(): {}}

    @classmethod
    def load(cls, files: Mapping[bytes, bytes]) -> "AttributeRules":
        """Build rules from folder (`b""` for the root) to content of its attribute file."""
        return cls({folder: parse_attributes_file(text, root=not folder) for folder, text in files.items()})

    def of(self, path: bytes) -> Mapping[str, Value]:
        """Attributes of a file: True for set, False for unset, text for a value; unspecified ones are absent."""
        if not self._tables:
            return self._results[()]
        folder, _, name = path.rpartition(b"/")
        matched: tuple[tuple[bytes, int], ...] = ()
        for offset, home, table in self._tables.chain(folder):
            found = table.matching(path[offset:], name)
            if found:
                matched += tuple((home, number) for number in reversed(found))
        result = self._results.get(matched)
        if result is None:
            result = self._results[matched] = self._combine(matched)
        return result

    def _combine(self, matched: tuple[tuple[bytes, int], ...]) -> Mapping[str, Value]:
        values: dict[str, Value | None] = {}
        for folder, number in matched:
            self._fill(values, self._lines[folder][number].assignments)
        return {name: value for name, value in values.items() if value is not None}

    def _fill(self, values: dict[str, Value | None], assignments: Sequence[Assignment]) -> None:
        """Take over what is not decided yet; lines come the most important first, so the first one decides."""
        for name, value in reversed(assignments):
            if name not in values:
                values[name] = value
                if value is True and name in self._macros:
                    self._fill(values, self._macros[name])


def exclusion_reason(attributes: Mapping[str, Value]) -> str | None:
    """Why attributes ask for a file to be left out: `excluded`, `binary`, `generated`, `vendored`, or None."""
    if not attributes:
        return None
    if is_off(attributes.get("gitmem")):
        return "excluded"
    if attributes.get("binary") is True or attributes.get("diff") is False:
        return "binary"
    if is_on(attributes.get("linguist-generated")):
        return "generated"
    return "vendored" if is_on(attributes.get("linguist-vendored")) else None


def is_on(value: Value | None) -> bool:
    """Whether an attribute says yes, as `name` or `name=true`."""
    return value is True or (isinstance(value, str) and value.lower() in ("true", "1", "yes", "on"))


def is_off(value: Value | None) -> bool:
    """Whether an attribute says no, as `-name` or `name=false`."""
    return value is False or (isinstance(value, str) and value.lower() in ("false", "0", "no", "off"))


def parse_attributes_file(content: bytes, *, root: bool) -> list[Line]:
    """Parse the lines of an attribute file; macros may be defined at the root only. Broken lines fall away."""
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    parsed = (_parse_line(line.partition(b"\0")[0], root) for line in lines)
    return [line for line in parsed if line is not None]


def _parse_line(line: bytes, root: bool) -> Line | None:
    text = line.lstrip(BLANK)
    if not text or text.startswith(b"#") or len(line.removesuffix(b"\r")) >= MAX_LINE:
        return None
    pattern, states = _unquoted(text) or _first_word(text)
    macro = b""
    if pattern.startswith(MACRO_PREFIX) and len(pattern) > len(MACRO_PREFIX):
        macro = _first_word(pattern.removeprefix(MACRO_PREFIX).lstrip(BLANK))[0]
        if not root or not VALID_NAME.match(macro):
            return None
    assignments = [_parse_assignment(word) for word in re.split(rb"[ \t\r\n]+", states) if word]
    kept = tuple(assignment for assignment in assignments if assignment is not None)
    if len(kept) < len(assignments):
        return None
    if macro:
        return Line(None, macro.decode("ascii"), kept)
    return None if pattern.startswith(b"!") else Line(parse_glob(pattern), "", kept)


def _parse_assignment(word: bytes) -> Assignment | None:
    sign = word[:1] if word[:1] in (b"-", b"!") else b""
    name, equals, value = word[len(sign) :].partition(b"=")
    if not VALID_NAME.match(name):
        return None
    key = name.decode("ascii")
    if sign:
        return key, False if sign == b"-" else None
    return key, value.decode("utf-8", "surrogateescape") if equals else True


def _first_word(text: bytes) -> tuple[bytes, bytes]:
    found = re.match(rb"[^ \t\r\n]*", text)
    end = found.end() if found else 0
    return text[:end], text[end:]


def _unquoted(text: bytes) -> tuple[bytes, bytes] | None:
    """The pattern between double quotes with its C escapes undone, and the rest; None where it is not quoted so."""
    quoted = re.match(rb'"((?:[^"\\]|\\(?:[abfnrtv"\\]|[0-3][0-7]{2}))*+)"', text)
    if quoted is None:
        return None
    return re.sub(rb"\\([0-3][0-7]{2}|.)", _unescape, quoted.group(1), flags=re.DOTALL), text[quoted.end() :]


def _unescape(escape: re.Match[bytes]) -> bytes:
    code = escape.group(1)
    return bytes([int(code, 8)]) if len(code) == 3 else ESCAPES.get(code, code)
