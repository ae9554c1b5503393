"""Add or remove one member of a JSON text and leave every other byte unchanged: order, indents, comments, commas. Pure.

Accepts the JSON of editors' settings, with comments and trailing commas. A parser that records where each member
begins and ends is enough: an edit then copies the text up to one place, and from another one on. No library on PyPI
does this: those that edit in place reject comments or trailing commas, or need Node.js, and json-five, which preserves
all of them, also accepts JSON5, which clients do not read.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from gitmem.errors import UsageError
from gitmem.named_tuple import NamedTuple

_BLANK: Final = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_MAX_DEPTH: Final = 100


class Member(NamedTuple):
    """A member of an object: its key, the offset of the key, and its value."""

    key: str
    start: int
    value: "Node"


class Node(NamedTuple):
    """A value at `text[start:end]`. `members` are those of an object, None for any other value."""

    start: int
    end: int
    value: Any
    members: list[Member] | None

    def find(self, key: str) -> "Node | None":
        """Return the value of a member, None without one; of duplicate keys the last counts."""
        return next((member.value for member in reversed(self.members or []) if member.key == key), None)


def parse_text(text: str) -> Node:
    """Parse a text. Raises UsageError if it is not valid."""
    try:
        node = _parse(text, _skip(text, 0), 0)
        if _skip(text, node.end) != len(text):
            raise ValueError("more text after the value")
    except (ValueError, IndexError) as problem:  # IndexError: the text ends within a value
        reason = "unexpected end" if isinstance(problem, IndexError) else problem
        raise UsageError(f"not valid JSON ({reason})") from problem
    return node


def _skip(text: str, at: int) -> int:
    """Return the offset behind spaces and comments."""
    blank = _BLANK.match(text, at)
    assert blank is not None
    return blank.end()


def _parse(text: str, at: int, depth: int) -> Node:
    if depth > _MAX_DEPTH:
        raise ValueError("nested too deeply")
    if text[at] == "{":
        return _parse_object(text, at, depth)
    if text[at] == "[":
        return _parse_array(text, at, depth)
    token = _STRING.match(text, at) or _SCALAR.match(text, at)
    if token is None:
        raise _syntax_error(text, at)
    return Node(at, token.end(), json.loads(token.group(), strict=False), None)


def _parse_object(text: str, start: int, depth: int) -> Node:
    members: list[Member] = []
    at = _skip(text, start + 1)
    while text[at] != "}":
        key = _STRING.match(text, at)
        if key is None:
            raise _syntax_error(text, at)
        colon = _skip(text, key.end())
        if text[colon] != ":":
            raise _syntax_error(text, at)
        value = _parse(text, _skip(text, colon + 1), depth + 1)
        members.append(Member(json.loads(key.group()), at, value))
        at = _after_item(text, value.end, "}")
    return Node(start, at + 1, {member.key: member.value.value for member in members}, members)


def _parse_array(text: str, start: int, depth: int) -> Node:
    values = []
    at = _skip(text, start + 1)
    while text[at] != "]":
        item = _parse(text, at, depth + 1)
        values.append(item.value)
        at = _after_item(text, item.end, "]")
    return Node(start, at + 1, values, None)


def _after_item(text: str, end: int, closing: str) -> int:
    """Return the offset of the next item, or of the bracket that closes the container."""
    at = _skip(text, end)
    if text[at] == ",":
        return _skip(text, at + 1)
    if text[at] != closing:
        raise _syntax_error(text, at)
    return at


def _syntax_error(text: str, at: int) -> ValueError:
    return ValueError(f"line {text.count(chr(10), 0, at) + 1}")


def find_value(text: str, path: Sequence[str]) -> Any:
    """Return the value at a path, None if there is none. Raises UsageError."""
    node: Node | None = parse_text(text)
    for key in path:
        node = node.find(key) if node is not None else None
    return node.value if node is not None else None


def add_member(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with a value at a path that has none yet; create missing objects on the path.

    Raises: UsageError.
    """
    node, depth = parse_text(text), 0
    _require_object(node)
    while depth < len(path) - 1 and (inner := node.find(path[depth])) is not None:
        node, depth = inner, depth + 1
        _require_object(node)
    for key in reversed(path[depth + 1 :]):
        value = {key: value}
    return _insert(text, node, path[depth], value, depth)


def _require_object(node: Node) -> None:
    if node.members is None:
        raise UsageError("expected a JSON object")


def _insert(text: str, node: Node, key: str, value: Any, depth: int) -> str:
    """Insert a member as the last of an object, formatted like the others."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    unit = _indent_unit(text)
    members = node.members or []
    if not members:
        indent = unit * (depth + 1)
        entry = f"{json.dumps(key)}: {_format(value, indent, unit, line_end)}"
        comments = text[node.start + 1 : node.end - 1].strip()
        head = f"{line_end}{indent}{comments}" if comments else ""
        return f"{text[: node.start]}{{{head}{line_end}{indent}{entry}{line_end}{unit * depth}}}{text[node.end :]}"
    first, last = members[0], members[-1]
    before = text[node.start + 1 : first.start]
    end = last.value.end
    # After a trailing comma the new member gets one, too; else the last member gets a comma.
    comma = text[_skip(text, end)] == ","
    at = text.index(",", _skip(text, end)) + 1 if comma else end
    if "\n" not in before:  # all on one line
        entry = f"{json.dumps(key)}: {json.dumps(value)}"
        return f"{text[:at]}{'' if comma else ','} {entry}{',' if comma else ''}{text[at:]}"
    first_indent = before[before.rindex("\n") + 1 :]
    indent = first_indent if not first_indent.strip() else unit * (depth + 1)
    entry = f"{json.dumps(key)}: {_format(value, indent, unit, line_end)}"
    return f"{text[:at]}{'' if comma else ','}{line_end}{indent}{entry}{',' if comma else ''}{text[at:]}"


def _indent_unit(text: str) -> str:
    """Return the indent of the first key that begins a line, which is that of one level."""
    indent = re.search(r"\n([ \t]+)\"", text)
    return indent[1] if indent else "  "


def _format(value: Any, indent: str, unit: str, line_end: str) -> str:
    """Format a value with one line per member; lists on one line."""
    if not isinstance(value, dict) or not value:
        return json.dumps(value)
    inner = indent + unit
    lines = [f"{inner}{json.dumps(key)}: {_format(item, inner, unit, line_end)}" for key, item in value.items()]
    return "{" + line_end + f",{line_end}".join(lines) + f"{line_end}{indent}}}"


def remove_member(text: str, path: Sequence[str]) -> str:
    """Return the text without the member at a path, which must exist, and without objects that only contained it.

    An empty text means that nothing is left. Raises: UsageError.
    """
    nodes = [parse_text(text)]
    for key in path[:-1]:
        inner = nodes[-1].find(key)
        assert inner is not None
        nodes.append(inner)
    # From the inside out: the first object with other members loses the member on the path.
    for node, key in reversed(list(zip(nodes, path, strict=True))):
        if len(node.members or []) > 1:
            return _cut(text, node, key)
    return ""


def _cut(text: str, node: Node, key: str) -> str:
    """Cut a member out of an object, together with one comma."""
    members = node.members or []
    position = max(number for number, member in enumerate(members) if member.key == key)
    if position == 0:
        return text[: members[0].start] + text[members[1].start :]
    return text[: members[position - 1].value.end] + text[members[position].value.end :]
