"""Groovy: the grammar knows commands and blocks alone, so the words of a command tell its role.

That covers classes and methods, tasks of Gradle, and processes and workflows of Nextflow.
"""

from typing import Final

from gitmem.chunking.grammar import CONTAINER, LEAF, MERGEABLE, PREFIX, Match, Node, dynamic, make_grammar
from gitmem.chunking.node_names import text_of

_TYPES: Final = {"class": "class", "interface": "interface", "trait": "trait", "enum": "enum", "record": "class"}
_BLOCKS: Final = frozenset({"task", "process", "workflow", "pipeline", "stage"})
"""Words before the name of a block that is called like a function."""

_MODIFIERS: Final = frozenset(
    "def private public protected static final abstract synchronized transient volatile".split()
)
_STATEMENTS: Final = frozenset("return new throw assert if while for switch else try catch import package".split())
_MAX_WORDS: Final = 12


def _command(node: Node, data: bytes) -> Match | None:
    """Match the definition of a class, method, field, task or process. Other commands are loose text."""
    children = node.children[: _MAX_WORDS + 1]
    if children and all(child.type == "decorate" for child in children):
        return Match(PREFIX, "", "", node)
    words: list[str] = []
    for child in children:
        if child.type == "unit":
            words.append(text_of(child, data))
        elif child.type == "block":
            return _with_block(words, child, data)
        elif child.type != "decorate" and not (child.type == "arg_spliter" and "implements" in words):
            break
    is_field = len(words) > 1 and words[0] in _MODIFIERS and words[-1].isidentifier()
    return Match(MERGEABLE, "property", words[-1], node) if is_field else None


def _with_block(words: list[str], block: Node, data: bytes) -> Match | None:
    """Match a command that ends with a block. The first unit of the block is its last word."""
    head = next((child for child in block.children if child.is_named), None)
    if head is None or head.type != "unit" or (words and words[0] in _STATEMENTS):
        return None
    called = next((child for child in head.children if child.type == "func"), None)
    last = text_of(called.children[0], data) if called is not None and called.child_count else text_of(head, data)
    whole = [*words, last]
    word = next((each for each in whole[:-1] if each in _TYPES), "")
    if word:
        name = whole[whole.index(word) + 1].partition("<")[0]
        return Match(CONTAINER, _TYPES[word], name, block)
    is_named = (called is not None and words) or (words and words[-1] in _BLOCKS)
    return Match(LEAF, "function", last, block) if is_named and last.isidentifier() else None


GRAMMARS: Final = {
    "groovy": make_grammar(
        "groovy",
        {"command": dynamic(_command), "end_command": dynamic(_command)},
    )
}
