"""Add or remove one block mapping of a YAML text and leave every other byte unchanged. Pure.

Only what clients write is edited: a top-level key whose value is a block mapping, missing or empty. Any other form is
refused. A block in block style needs no YAML parser: a line of the top level ends it, and its own lines are indented.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gitmem.errors import UsageError

_INDENT: Final = "  "
_PLAIN: Final = re.compile(r"[A-Za-z][\w.-]*")


def find_block(text: str, keys: Sequence[str], value: Mapping[str, Any]) -> Any:
    """Return `value` if the text has an entry with its members, the members of any other entry, None without one.

    Further members do not matter: a client that writes the file again adds those it knows. Raises UsageError.
    """
    block = _find_lines(text, keys)
    if block is None:
        return None
    first, last, lines = block
    members = _read_members(lines[first + 1 : last])
    return value if all(members.get(key, members) == item for key, item in value.items()) else members


def add_block(text: str, keys: Sequence[str], value: Mapping[str, Any]) -> str:
    """Return the text with a block that it does not have yet. Raises UsageError."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    parent = _find_parent(lines, keys[0])
    if parent is None:
        header = f"{keys[0]}:\n" + _format(keys[1], value, _INDENT)
        return text + ("" if not text or text.endswith("\n") else line_end) + header.replace("\n", line_end)
    first, _ = _children(lines, parent)
    indent = _indent_of(lines[first]) if first < len(lines) else ""
    block = _format(keys[1], value, indent or _INDENT).replace("\n", line_end)
    if not lines[parent].endswith("\n"):
        lines[parent] += line_end
    return "".join([*lines[: parent + 1], block, *lines[parent + 1 :]])


def remove_block(text: str, keys: Sequence[str], value: Mapping[str, Any]) -> str:
    """Return the text without a block that `add_block` added. Raises UsageError."""
    if find_block(text, keys, value) != value:
        raise UsageError("the entry was changed by hand", hint=f"remove `{keys[1]}` from `{keys[0]}` yourself")
    block = _find_lines(text, keys)
    assert block is not None
    first, last, lines = block
    rest = [*lines[:first], *lines[last:]]
    parent = _find_parent(rest, keys[0])
    assert parent is not None
    is_childless = _children(rest, parent)[0] == len(rest) or not _indent_of(rest[_children(rest, parent)[0]])
    # A key without a value would be null, which a client may refuse as a mapping.
    return "".join([*rest[:parent], *rest[parent + 1 :]] if is_childless else rest)


def _read_members(lines: Sequence[str]) -> dict[str, Any]:
    """Return the members of a block whose values are scalars or lists of scalars; others have the value None."""
    members: dict[str, Any] = {}
    indent = _indent_of(lines[0]) if lines else ""
    key = ""
    for line in lines:
        text = line.strip()
        if text.startswith("- ") and key:
            members[key] = [*(members[key] or []), _read_scalar(text[2:].strip())]
        elif _indent_of(line) == indent and ":" in text and not text.startswith("#"):
            key, _, rest = text.partition(":")
            members[key] = _read_scalar(rest.strip()) if rest.strip() else None
    return members


def _read_scalar(text: str) -> Any:
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    try:
        return json.loads(text)
    except ValueError:
        return text


def _find_lines(text: str, keys: Sequence[str]) -> tuple[int, int, list[str]] | None:
    """Return the range of the lines of an entry, and all lines."""
    lines = text.splitlines(keepends=True)
    parent = _find_parent(lines, keys[0])
    if parent is None:
        return None
    begin, end = _children(lines, parent)
    indent = _indent_of(lines[begin]) if begin < end else ""
    names = (f"{indent}{keys[1]}:", f'{indent}"{keys[1]}":', f"{indent}'{keys[1]}':")
    first = next((number for number in range(begin, end) if lines[number].startswith(names)), None)
    if first is None:
        return None
    last = first + 1
    while last < end and (len(_indent_of(lines[last])) > len(indent) or not lines[last].strip()):
        last += 1
    while not lines[last - 1].strip():  # blank lines belong to what follows
        last -= 1
    return first, last, lines


def _find_parent(lines: Sequence[str], key: str) -> int | None:
    """Return the line of a top-level key. Raises UsageError if its value is not a block mapping."""
    if any(line.startswith(("---", "...", "{", "[", "%", "\t")) for line in lines):
        raise UsageError("not a single YAML mapping in block style")
    parent = next((n for n, line in enumerate(lines) if line.startswith((f"{key}:", f'"{key}":', f"'{key}':"))), None)
    if parent is not None:
        value = lines[parent].partition(":")[2].strip()
        begin, end = _children(lines, parent)
        is_list = begin < end and lines[begin].lstrip().startswith("- ")
        if is_list or (value and not value.startswith("#")):
            raise UsageError(f"`{key}` is not a block mapping")
    return parent


def _children(lines: Sequence[str], parent: int) -> tuple[int, int]:
    """Return the first line of the value of a key that is neither blank nor a comment, and the end of the value."""
    first = parent + 1
    while first < len(lines) and (not lines[first].strip() or lines[first].lstrip().startswith("#")):
        first += 1
    end = first
    while end < len(lines) and (not lines[end].strip() or lines[end][0] in " #" or lines[end].startswith("- ")):
        end += 1
    return first, end


def _indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" "))]


def _format(name: str, value: Mapping[str, Any], indent: str) -> str:
    """Format a mapping of scalars and lists. JSON's scalars and lists are YAML's."""
    lines = [f"{indent}{name}:\n"]
    lines += [f"{indent}{indent}{key}: {_scalar(item)}\n" for key, item in value.items()]
    return "".join(lines)


def _scalar(value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value not in ("true", "false", "null", "yes", "no"):
        return value
    return json.dumps(value, ensure_ascii=False)
