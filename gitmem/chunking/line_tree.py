"""Read languages without a safe grammar by their lines: definitions begin with known words and end by indentation.

The result has the form of a syntax tree, so outlines, histories and names need nothing else. It is an approximation: a
line that looks like a definition inside of a string counts as one.
"""

import re
from functools import partial
from typing import Final

from gitmem.chunking.grammar import LineRules
from gitmem.chunking.text_node import COMMENT, LINES, TextNode

_LINE: Final = re.compile(rb"^(?P<indent>[ \t]*)(?P<text>\S[^\n]*)$", re.MULTILINE)
_BLOCKS: Final = ((b"/*", b"*/"), (b"<#", b"#>"), (b"(*", b"*)"), (b"{-", b"-}"), (b"/-", b"-/"), (b"<!--", b"-->"))
"""How comments of several lines begin, where they are comments at all, and how they end."""

_IDENTIFIER: Final = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
_MAX_IDENTIFIERS: Final = 50_000
"""Identifiers of one file that are looked at."""

_TAB: Final = 8
_CONSTANT: Final = "constant"
"""Type of a definition without parts below it."""


def read_lines(data: bytes, rules: LineRules) -> TextNode:
    """Return the tree of a text."""
    root = TextNode("file", 0, len(data), None)
    stack = [root]
    last_end = 0  # end of the line above, to see blank lines
    for start, end, indent, is_comment in _split_lines(data, rules):
        header = None if is_comment else _header(data, start, end, indent, rules)
        closing = not header and rules.closing is not None and rules.closing.match(data, start, end) is not None
        continues = closing or rules.parts.match(data, start, end) is not None
        above = _close(data, stack, indent, header=header is not None, continues=continues, rules=rules)
        for node in stack[1:]:
            node.end_byte = end
        if header is not None:
            node_type, name = header
            stack[-1].children += above
            node = TextNode(node_type, start, end, stack[-1], indent)
            node.name = TextNode("name", *name, node)
            stack[-1].children.append(node)
            # A proof may end on the line on which it begins.
            if not (rules.is_flat and rules.closing is not None and rules.closing.match(data, start, end)):
                stack.append(node)
        elif closing and len(stack) > 1 and (rules.is_flat or stack[-1].indent == indent):
            stack.pop()
        else:
            joined = data.count(b"\n", last_end, start) < 2
            _add_line(stack[-1], COMMENT if is_comment else LINES, start, end, joined=joined)
        last_end = end
    root.captures = partial(_captures, data, root, frozenset(node_type for node_type, _ in rules.headers))
    return root


def _split_lines(data: bytes, rules: LineRules) -> list[tuple[int, int, int, bool]]:
    """Return the text of each line that is not blank, its indentation, and whether it is a comment.

    A comment has at least the indentation of the code below it, which it is about: code that is commented out often
    stands further to the left.
    """
    lines = []
    comment_end, unclosed = 0, set[bytes]()
    for line in _LINE.finditer(data):
        start, end = line.start("text"), line.end() - (data[line.end() - 1] == 13)
        is_comment = start < comment_end or rules.comment.match(data, start, end) is not None
        if is_comment and start >= comment_end:
            comment_end = _end_of_block(data, start, unclosed)
        lines.append((start, end, len(line["indent"].expandtabs(_TAB)), is_comment))
    below = 0
    for place in range(len(lines) - 1, -1, -1):
        start, end, indent, is_comment = lines[place]
        below = max(indent, below) if is_comment else indent
        lines[place] = (start, end, below, is_comment)
    return lines


def _end_of_block(data: bytes, start: int, unclosed: set[bytes]) -> int:
    """Return the end of the comment of several lines that begins at an offset, 0 if none does or it has no end.

    Adds to `unclosed` the ends that the text does not have any more, so that each is looked for once.
    """
    for opening, closing in _BLOCKS:
        if data.startswith(opening, start) and closing not in unclosed:
            end = data.find(closing, start + len(opening))
            if end < 0:
                unclosed.add(closing)
            return end + 1
    return 0


def _header(data: bytes, start: int, end: int, indent: int, rules: LineRules) -> tuple[str, tuple[int, int]] | None:
    """Return the type of the definition that begins at a line, and the place of its name."""
    for node_type, pattern in rules.headers:
        match = pattern.match(data, start, end)
        if match is not None and (not rules.is_flat or not indent):
            return node_type, match.span("name")
    return None


def _close(
    data: bytes, stack: list[TextNode], indent: int, *, header: bool, continues: bool, rules: LineRules
) -> list[TextNode]:
    """Remove the definitions from the stack that end above a line. Return the comment that belongs to the next one."""
    if rules.is_flat:
        comments = _take_comment(data, stack[-1], stack[0]) if header and not indent and len(stack) > 1 else []
        if header and not indent:
            del stack[1:]
        return comments
    # The line that closes a definition, such as `end`, stands below its first word.
    while len(stack) > 1 and (
        stack[-1].indent > indent or (stack[-1].indent == indent and (not continues or stack[-1].type == _CONSTANT))
    ):
        stack.pop()
    return []


def _take_comment(data: bytes, node: TextNode, parent: TextNode) -> list[TextNode]:
    """Remove the comment at the end of a definition: it is about the next one, which has the parent."""
    if not node.children or node.children[-1].type != COMMENT:
        return []
    comment = node.children.pop()
    comment.parent = parent
    # The line above the comment is the last one of the definition, without its end.
    node.end_byte = node.start_byte + len(data[node.start_byte : comment.start_byte].rstrip())
    return [comment]


def _add_line(parent: TextNode, node_type: str, start: int, end: int, *, joined: bool) -> None:
    """Add a line to the lines above it, if no blank line is between."""
    last = parent.children[-1] if parent.children else None
    if joined and last is not None and last.type == node_type and not last.children:
        last.end_byte = end
    else:
        parent.children.append(TextNode(node_type, start, end, parent))


def _captures(data: bytes, root: TextNode, types: frozenset[str]) -> dict[str, list[TextNode]]:
    """Return the nodes that patterns capture in other trees: expressions with calls, and identifiers.

    The text behind the name of a definition on its line is an expression as well. `types` are those of definitions.
    """
    texts = [*root.find({LINES})]
    for node in root.find(types):
        if node.name is not None:
            end = data.find(b"\n", node.name.end_byte) % (len(data) + 1)
            texts.append(TextNode(LINES, node.name.end_byte, end, node))
    names: list[TextNode] = []
    for node in texts:
        for match in _IDENTIFIER.finditer(data, node.start_byte, node.end_byte):
            if len(names) == _MAX_IDENTIFIERS:
                return {"expression": texts, "name": names}
            names.append(TextNode("identifier", *match.span(), node))
    return {"expression": texts, "name": names}
