"""Attributes of paths, from the `.gitattributes` files of the tree that is searched.

The working tree, `info/attributes` and the user's own attribute file do not count: a tree gives the same index
everywhere. Everything else follows git: nested files, macros, later lines, `-name`, `!name`, quoted patterns. Format
and precedence: gitattributes(5) and git's `attr.c`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from gitmem.lazy_pattern import lazy_pattern
from gitmem.named_tuple import NamedTuple
from gitmem.patterns.pattern_table import GlobTable, NestedTables
from gitmem.patterns.wildmatch import Glob, parse_glob

ATTRIBUTES_FILE: Final = b".gitattributes"
BLANK: Final = b" \t\r\n"
MACRO_PREFIX: Final = b"[attr]"
MAX_LINE: Final = 2048
"""Longer lines are ignored, as in git (`ATTR_MAX_LINE_LENGTH`)."""

VALID_NAME: Final = lazy_pattern(rb"[A-Za-z0-9_.][-A-Za-z0-9_.]*\Z")
ESCAPES: Final = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}

Value = str | bool
Assignment = tuple[str, Value | None]
"""Name and value of an attribute; None is `!name`, unspecified."""

BINARY: Final[Sequence[Assignment]] = (("diff", False), ("merge", False), ("text", False))
"""Attributes of git's built-in macro `binary`."""


class Line(NamedTuple):
    """Line of an attribute file: a pattern with assignments, or the definition of a macro of the name `macro`."""

    glob: Glob | None
    macro: str
    assignments: tuple[Assignment, ...]


class AttributeRules:
    """Attribute files of one tree, each in force below its own folder."""

    def __init__(self, lines: dict[bytes, list[Line]]) -> None:
        self._lines = lines
        tables = {folder: GlobTable(line.glob for line in below) for folder, below in lines.items()}
        self._tables = NestedTables(tables)
        self._macros = {"binary": tuple(BINARY)}
        self._macros.update((line.macro, line.assignments) for line in lines.get(b"", ()) if line.macro)
        # Few combinations of lines match a path in practice, so the result is cached by the matching lines.
        self._results: dict[tuple[tuple[bytes, int], ...], Mapping[str, Value]] = {(): {}}

    @classmethod
    def load(cls, files: Mapping[bytes, bytes]) -> "AttributeRules":
        """Build rules from a mapping of folder (`b""` for the root) to the content of its attribute file."""
        return cls({folder: parse_attributes_file(text, root=not folder) for folder, text in files.items()})

    def of(self, path: bytes) -> Mapping[str, Value]:
        """Return the attributes of a file: True if set, False if unset, text for a value; no unspecified ones."""
        if not self._tables:
            return self._results[()]
        folder, _, name = path.rpartition(b"/")
        matched: tuple[tuple[bytes, int], ...] = ()
        for offset, home, table in self._tables.chain(folder):
            numbers = table.matching(path[offset:], name)
            if numbers:
                matched += tuple((home, number) for number in reversed(numbers))
        result = self._results.get(matched)
        if result is None:
            result = self._results[matched] = self._combine(matched)
        return result

    def _combine(self, matched: tuple[tuple[bytes, int], ...]) -> Mapping[str, Value]:
        """Merge the assignments of lines in descending precedence."""
        # As in git's `attr.c`, the first assignment met decides, going through files from the nearest to the root,
        # through lines from last to first, and through a line from right to left. A macro that is set contributes its
        # own assignments at its place, unless it was decided before; so a macro cannot recurse into itself.
        values: dict[str, Value | None] = {}
        pending = [pair for folder, number in reversed(matched) for pair in self._lines[folder][number].assignments]
        while pending:
            name, value = pending.pop()
            if name not in values:
                values[name] = value
                if value is True:
                    pending += self._macros.get(name, ())
        return {name: value for name, value in values.items() if value is not None}


def exclusion_reason(attributes: Mapping[str, Value]) -> str | None:
    """Return why attributes exclude a file: `excluded`, `binary`, `generated`, `vendored`, or None."""
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
    """Return whether an attribute is true, as `name` or `name=true`."""
    return value is True or (isinstance(value, str) and value.lower() in ("true", "1", "yes", "on"))


def is_off(value: Value | None) -> bool:
    """Return whether an attribute is false, as `-name` or `name=false`."""
    return value is False or (isinstance(value, str) and value.lower() in ("false", "0", "no", "off"))


def parse_attributes_file(content: bytes, *, root: bool) -> list[Line]:
    """Parse the lines of an attribute file and drop malformed ones; macros may be defined at the root only."""
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
    valid = tuple(assignment for assignment in assignments if assignment is not None)
    if len(valid) < len(assignments):
        return None
    if macro:
        return Line(None, macro.decode("ascii"), valid)
    return None if pattern.startswith(b"!") else Line(parse_glob(pattern), "", valid)


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
    word = re.match(rb"[^ \t\r\n]*", text)
    end = word.end() if word else 0
    return text[:end], text[end:]


def _unquoted(text: bytes) -> tuple[bytes, bytes] | None:
    """Return the pattern between double quotes, with its C escapes decoded, and the rest; None if not quoted."""
    quoted = re.match(rb'"((?:[^"\\]|\\(?:[abfnrtv"\\]|[0-3][0-7]{2}))*+)"', text)
    if quoted is None:
        return None
    return re.sub(rb"\\([0-3][0-7]{2}|.)", _unescape, quoted.group(1), flags=re.DOTALL), text[quoted.end() :]


def _unescape(escape: re.Match[bytes]) -> bytes:
    code = escape.group(1)
    return bytes([int(code, 8)]) if len(code) == 3 else ESCAPES.get(code, code)
