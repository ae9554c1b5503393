"""Change one member of a JSON text and leave every other byte as it is: order, indents, comments, commas. Pure.

Takes what editors write into their settings, which is JSON with comments and trailing commas.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from gitmem.errors import UsageError

_BLANK: Final = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_PLAIN: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_MOST_DEEP: Final = 100


class Member(NamedTuple):
    """A member of an object: where its key begins, and its value."""

    key: str
    start: int
    value: "Node"


class Node(NamedTuple):
    """A value of a text, `text[start:end]`; `members` are those of an object, None for anything else."""

    start: int
    end: int
    value: Any
    members: list[Member] | None

    def find(self, key: str) -> "Node | None":
        """The value of a member; the last of several counts."""
        return next((member.value for member in reversed(self.members or []) if member.key == key), None)


def parse_text(text: str) -> Node:
    """The value of a text. Raises UsageError where it is none."""
    try:
        node = _parse(text, _skip(text, 0), 0)
        if _skip(text, node.end) != len(text):
            raise ValueError("more follows")
    except (ValueError, IndexError) as problem:
        raise UsageError(f"it is no JSON ({problem or 'it ends too soon'})") from problem
    return node


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    assert found is not None
    return found.end()


def _parse(text: str, at: int, depth: int) -> Node:
    if depth > _MOST_DEEP:
        raise ValueError("it is nested too deep")
    if text[at] == "{":
        return _parse_object(text, at, depth)
    if text[at] == "[":
        return _parse_array(text, at, depth)
    found = _STRING.match(text, at) or _PLAIN.match(text, at)
    if found is None:
        raise ValueError(f"line {text.count(chr(10), 0, at) + 1}")
    return Node(at, found.end(), json.loads(found.group(), strict=False), None)


def _parse_object(text: str, start: int, depth: int) -> Node:
    members: list[Member] = []
    at = _skip(text, start + 1)
    while text[at] != "}":
        key = _STRING.match(text, at)
        if key is None:
            raise ValueError(f"line {text.count(chr(10), 0, at) + 1}")
        colon = _skip(text, key.end())
        if text[colon] != ":":
            raise ValueError(f"line {text.count(chr(10), 0, at) + 1}")
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
    """Where the next item or the end of what holds it stands."""
    at = _skip(text, end)
    if text[at] == ",":
        return _skip(text, at + 1)
    if text[at] != closing:
        raise ValueError(f"line {text.count(chr(10), 0, at) + 1}")
    return at


def find_value(text: str, path: Sequence[str]) -> Any:
    """The value at a path, None where there is none. Raises UsageError."""
    node: Node | None = parse_text(text)
    for key in path:
        node = node.find(key) if node is not None else None
    return node.value if node is not None else None


def add_member(text: str, path: Sequence[str], value: Any) -> str:
    """The text with a value at a path where there is none yet; objects on the way are made. Raises UsageError."""
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
        raise UsageError("it is not built as expected: no object where one must be")


def _insert(text: str, node: Node, key: str, value: Any, depth: int) -> str:
    feed = "\r\n" if "\r\n" in text else "\n"
    unit = _unit(text)
    members = node.members or []
    if not members:
        margin = unit * (depth + 1)
        entry = f"{json.dumps(key)}: {_format(value, margin, unit, feed)}"
        comments = text[node.start + 1 : node.end - 1].strip()
        kept = f"{feed}{margin}{comments}" if comments else ""
        return f"{text[: node.start]}{{{kept}{feed}{margin}{entry}{feed}{unit * depth}}}{text[node.end :]}"
    first, last = members[0], members[-1]
    before = text[node.start + 1 : first.start]
    end = last.value.end
    comma = text[_skip(text, end)] == ","
    at = text.index(",", _skip(text, end)) + 1 if comma else end
    if "\n" not in before:
        entry = f"{json.dumps(key)}: {json.dumps(value)}"
        return f"{text[:at]}{'' if comma else ','} {entry}{',' if comma else ''}{text[at:]}"
    margin = before[before.rindex("\n") + 1 :] if not before[before.rindex("\n") + 1 :].strip() else unit * (depth + 1)
    entry = f"{json.dumps(key)}: {_format(value, margin, unit, feed)}"
    return f"{text[:at]}{'' if comma else ','}{feed}{margin}{entry}{',' if comma else ''}{text[at:]}"


def _unit(text: str) -> str:
    """What a level is set in by."""
    found = re.search(r"\n([ \t]+)\"", text)
    return found[1] if found else "  "


def _format(value: Any, margin: str, unit: str, feed: str) -> str:
    """A value with a line for each member; lists on one line."""
    if not isinstance(value, dict) or not value:
        return json.dumps(value)
    inner = margin + unit
    lines = [f"{inner}{json.dumps(key)}: {_format(item, inner, unit, feed)}" for key, item in value.items()]
    return "{" + feed + f",{feed}".join(lines) + f"{feed}{margin}}}"


def remove_member(text: str, path: Sequence[str]) -> str:
    """The text without the member at a path, which must be there; what it alone was in goes with it.

    An empty text means that nothing is left. Raises UsageError.
    """
    nodes = [parse_text(text)]
    for key in path[:-1]:
        inner = nodes[-1].find(key)
        assert inner is not None
        nodes.append(inner)
    for node, key in reversed(list(zip(nodes, path, strict=True))):
        if len(node.members or []) > 1:
            return _cut(text, node, key)
    return ""


def _cut(text: str, node: Node, key: str) -> str:
    members = node.members or []
    place = max(place for place, member in enumerate(members) if member.key == key)
    if place == 0:
        return text[: members[0].start] + text[members[1].start :]
    return text[: members[place - 1].value.end] + text[members[place].value.end :]
