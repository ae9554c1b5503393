"""Build the grammar of a language, or of files with syntax errors, that is read by its lines."""

import re
from collections.abc import Sequence
from typing import Final

from gitmem.chunking.grammar import Dialect, Grammar, LineRules, container, leaf, make_grammar, mergeable

_UNITS: Final = {
    "function": leaf("function"),
    "class": container("class"),
    "interface": container("interface"),
    "module": container("module"),
    "constant": mergeable("constant"),
    "macro": mergeable("macro"),
    "target": mergeable("function"),
    "feature": container("section"),
    "section": leaf("section"),
}
"""Rules by the node types of headers."""


def make_line_grammar(
    comment: str,
    *headers: tuple[str, str],
    closing: str = "",
    is_flat: bool = False,
    parts: str = "",
    joins: str = "",
    dialect: Dialect | None = None,
) -> Grammar:
    """Return a grammar, see `LineRules`. Patterns are matched where the text of a line begins."""
    compiled: Sequence[tuple[str, re.Pattern[bytes]]] = [(name, re.compile(text.encode())) for name, text in headers]
    rules = LineRules(
        compiled, re.compile(comment.encode()), re.compile(closing.encode()) if closing else None, is_flat
    )
    if parts:
        rules = rules._replace(parts=re.compile(parts.encode()))
    return make_grammar("", _UNITS, comments="comment", joins=joins, lines=rules, dialect=dialect)
