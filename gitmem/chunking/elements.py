"""Find the elements of one blob: its definitions with their exact spans, however small, and its comments.

Chunks are made for search: small definitions share one, and large ones are cut. Following a definition through its
versions needs each by itself, with its leading comments, and the places where its code and its body begin. Both come
from the same outline, so every language with a table is covered. Sections of documents are elements too. So are members
of anonymous classes, which lie inside of the definition that makes the class; for a search they are a part of it.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from gitmem.chunking.chunk_size import ChunkBounds
from gitmem.chunking.content_language import refine_language
from gitmem.chunking.element import ANONYMOUS, NO_ELEMENTS, Element, FileElements
from gitmem.chunking.grammar import COMMENT, CONTAINER, NAMESPACE, TRANSPARENT, Grammar, Node, UnparsedError
from gitmem.chunking.layered_files import LAYERED, divide_file
from gitmem.chunking.layers import Layer
from gitmem.chunking.lines import Lines, line_start, trim
from gitmem.chunking.notebook import plain_text, read_notebook
from gitmem.chunking.notebook_elements import notebook_elements
from gitmem.chunking.sections import SECTIONED, section_chunks
from gitmem.types import NOTEBOOK_LANGUAGE

_BOUNDS: Final = ChunkBounds(min_bytes=0, headline_bytes=0)
"""Every definition is a unit: none is merged with its neighbours for being small, and a headline is part of none."""

_SECTION_BOUNDS: Final = ChunkBounds(max_bytes=1 << 24)
_DOCSTRINGS: Final = frozenset({"python", "starlark"})
"""Languages in which a string that begins a body documents it; elsewhere it can be the value of the block."""

_MAX_ANONYMOUS: Final = 1000
"""Anonymous classes of one file that are opened: the definition around each is sought among all."""

_SUPERTYPE: Final = re.compile(rb"(?:[\w.\\]+\s+|[\w\\]+[.\\])*([\w$]+)")
"""A qualified name, perhaps behind a keyword; the group is its last part."""


def find_elements(data: bytes, language: str) -> FileElements:
    """Return the elements of a blob; none if its language has no syntax or it cannot be parsed within the bounds.

    Their offsets are those in `element.text_with_elements`.
    """
    if language == NOTEBOOK_LANGUAGE:
        notebook = read_notebook(data)
        if notebook is None:
            return NO_ELEMENTS
        return notebook_elements(plain_text(notebook), notebook.cells, _own_elements)
    language = refine_language(data, language)
    if not data.strip():
        return NO_ELEMENTS
    if language in LAYERED:
        layers = [_elements_of_layer(layer) for layer in divide_file(data, language) if not layer.names_only]
        elements = sorted(
            (each for layer in layers for each in layer.elements), key=lambda each: (each.start, -each.end)
        )
        return FileElements(elements, sorted(span for layer in layers for span in layer.comments))
    return _own_elements(data, language)


def _elements_of_layer(layer: Layer) -> FileElements:
    own = _own_elements(layer.data, layer.language)
    if not layer.wrapper:
        return own
    elements = [
        each._replace(symbol=layer.unwrap(each.symbol)) for each in own.elements if each.symbol != layer.wrapper
    ]
    return own._replace(elements=elements)


def _own_elements(data: bytes, language: str) -> FileElements:
    """Return the elements of a text in one language."""
    if language in SECTIONED:
        return FileElements(_sections(data, language), [])
    from gitmem.chunking.grammars import find_grammar_of
    from gitmem.chunking.syntax import read_syntax

    grammar = find_grammar_of(data, language)
    if grammar is None:
        return NO_ELEMENTS
    try:
        root, grammar = read_syntax(data, grammar, _BOUNDS.parse_seconds, _BOUNDS.parse_memory)
    except UnparsedError:
        return NO_ELEMENTS
    comments = _comments(root, grammar)
    return FileElements(_units(data, root, grammar, comments), comments)


def _sections(data: bytes, language: str) -> list[Element]:
    lines = Lines(data)
    return [
        Element(
            chunk.symbol,
            chunk.symbol.rpartition(" > ")[2],
            chunk.chunk_type,
            chunk.start,
            chunk.start,
            min(data.find(b"\n", chunk.start) % (len(data) + 1), chunk.end),
            chunk.end,
            chunk.start_line,
            chunk.end_line,
            holds=False,
        )
        for chunk in section_chunks(data, language, lines, _SECTION_BOUNDS)
        if chunk.symbol
    ]


def _units(data: bytes, root: Node, grammar: Grammar, comments: list[tuple[int, int]]) -> list[Element]:
    """Return the named units of a syntax tree at all levels, members of anonymous classes included."""
    lines = Lines(data)
    starts = dict(comments)
    elements = list(_outlined(data, lines, root, grammar, starts))
    # Outer classes come first, so the member of one is already there if another class lies inside of it.
    for node, body in _anonymous_classes(root, grammar):
        around = [each for each in elements if each.start <= node.start_byte and node.end_byte <= each.end]
        owner = max(around, key=lambda each: each.start).symbol if around else ""
        prefix = f"{owner}.{ANONYMOUS}{_supertype(node, data)}."
        elements += [
            member._replace(symbol=prefix + member.symbol) for member in _outlined(data, lines, body, grammar, starts)
        ]
    elements.sort(key=lambda each: (each.start, -each.end))
    return elements


def _outlined(data: bytes, lines: Lines, root: Node, grammar: Grammar, comments: dict[int, int]) -> Iterator[Element]:
    """Yield the named units below a node as elements, without members of anonymous classes."""
    from gitmem.chunking.outline import outline_tree

    todo = [outline_tree(data, root, grammar, _BOUNDS)]
    while todo:
        unit = todo.pop()
        inner = [piece for piece in unit.pieces or () if piece.unit is not None]
        todo.extend(piece.unit for piece in inner if piece.unit is not None)
        for piece in inner:
            each = piece.unit
            assert each is not None
            if not each.symbol:
                continue
            start, end = trim(data, each.start, each.end)
            code = _code_start(data, start, end, comments)
            yield Element(
                each.symbol,
                piece.name or each.symbol,
                each.chunk_type,
                start,
                code,
                max(_body_start(each.nodes[0], grammar, end), code),
                end,
                lines.number(start),
                lines.number(end - 1),
                each.shape in (CONTAINER, NAMESPACE),
            )


def _anonymous_classes(root: Node, grammar: Grammar) -> Iterator[tuple[Node, Node]]:
    """Yield the anonymous classes below a node with their bodies, outer ones first."""
    from gitmem.chunking.parse import find_nodes

    nodes = find_nodes(root, grammar.parser, grammar.anonymous) if grammar.anonymous else []
    with_body = ((node, child) for node in nodes for child in node.children if _is_class_body(child, grammar))
    yield from islice(with_body, _MAX_ANONYMOUS)


def _is_class_body(node: Node, grammar: Grammar) -> bool:
    rule = grammar.table.get(node.type)
    return rule is not None and rule.shape == TRANSPARENT and bool(node.named_child_count)


def _supertype(node: Node, data: bytes) -> str:
    """Return the name of the class or interface that an anonymous class extends, of an enum constant its own."""
    named = node.child_by_field_name("type") or node.child_by_field_name("name")
    candidates = [named] if named is not None else [child for child in node.named_children if child.type != "arguments"]
    match = _SUPERTYPE.match(data, candidates[0].start_byte, candidates[0].end_byte) if candidates else None
    return match[1].decode("utf-8", "replace") if match else ""


def _code_start(data: bytes, start: int, end: int, comments: dict[int, int]) -> int:
    """Return where the code of a definition begins: behind the comments above it. `comments` are ends by start."""
    at = start
    while True:
        text = end - len(data[at:end].lstrip())
        if text not in comments or comments[text] >= end:
            return line_start(data, text, start)
        at = comments[text]


def _body_start(node: Node, grammar: Grammar, end: int) -> int:
    """Return where the signature of a definition ends, `end` if it has no body."""
    body = node.child_by_field_name("body")
    if body is None:
        body = next((child for child in node.children if child.type in grammar.bodies), None)
    return min(body.start_byte, end) if body is not None else end


def _comments(root: Node, grammar: Grammar) -> list[tuple[int, int]]:
    """Return the spans of comments and of documentation strings. Comments inside of comments belong to these."""
    from gitmem.chunking.syntax import nodes_of_types

    types = {node_type for node_type, rule in grammar.table.items() if rule.shape == COMMENT}
    strings = {"string"} if grammar.parser in _DOCSTRINGS else set()
    spans: list[tuple[int, int]] = []
    for node in nodes_of_types(root, grammar, frozenset(types | strings)):
        if spans and node.start_byte < spans[-1][1]:
            continue
        if node.type in types or _is_docstring(node):
            spans.append((node.start_byte, node.end_byte))
    return spans


def _is_docstring(node: Node) -> bool:
    """Return whether a string is the first statement of its block."""
    statement = node.parent if node.parent is not None and node.parent.type == "expression_statement" else node
    block = statement.parent
    return block is not None and block.type in ("block", "module") and statement.prev_named_sibling is None
