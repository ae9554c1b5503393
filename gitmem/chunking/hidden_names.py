"""Find the names that a parser does not see: those in text that is blanked, or becomes a comment, before the parse."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from gitmem.chunking.annotation_macros import find_annotation_names
from gitmem.chunking.attribute_macros import LANGUAGES as WITH_MACROS
from gitmem.chunking.attribute_macros import find_attribute_macros
from gitmem.chunking.c_conditions import find_tested_macros
from gitmem.chunking.commented_spans import HiddenName
from gitmem.chunking.described_heads import find_fixtures
from gitmem.chunking.grammar import Node
from gitmem.chunking.item_macros import LANGUAGE as RUST
from gitmem.chunking.item_macros import find_item_macros
from gitmem.chunking.kotlin_heads import LANGUAGE as KOTLIN
from gitmem.chunking.kotlin_heads import find_hidden_heads
from gitmem.chunking.swift_forms import LANGUAGE as SWIFT
from gitmem.chunking.swift_forms import find_thrown_types


def find_hidden_names(data: bytes, root: Node, language: str) -> Iterator[HiddenName]:
    """Yield the names that the tree of a file does not have. A text in a comment or a string has none."""
    finder = _FINDERS.get(language)
    if finder is not None:
        yield from (each for each in finder(data) if _is_code(root, each.place))


def _in_c(data: bytes) -> Iterator[HiddenName]:
    for find in (find_attribute_macros, find_fixtures):
        yield from (HiddenName(start, name, "type", start) for start, name in find(data))
    yield from find_annotation_names(data)
    # The parser shows the macros of all other conditions.
    yield from (HiddenName(start, name, "name", start) for start, name in find_tested_macros(data))


def _is_code(root: Node, place: int) -> bool:
    """Return whether a place is outside of comments and strings. At the start of a comment there was code."""
    node = root.descendant_for_byte_range(place, place + 1)
    return node is None or node.start_byte == place or not any(word in node.type for word in ("comment", "string"))


_FINDERS: Final[Mapping[str, Callable[[bytes], Iterator[HiddenName]]]] = {
    **dict.fromkeys(WITH_MACROS, _in_c), KOTLIN: find_hidden_heads, RUST: find_item_macros,
    SWIFT: find_thrown_types,
}  # fmt: skip
