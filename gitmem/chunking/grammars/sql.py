"""SQL: one unit for each statement that creates or alters an object.

The parser knows the statements of PostgreSQL. Scripts of SQL Server, MySQL and Oracle with procedures are read by their
lines: the parser gave hardly any statement of such a repository its name.
"""

import re
from typing import Final

from gitmem.chunking.grammar import (
    LEAF,
    MERGEABLE,
    Dialect,
    LineRules,
    Match,
    Node,
    dynamic,
    leaf,
    make_grammar,
    mergeable,
)
from gitmem.chunking.node_names import text_of

_CHUNK_TYPES: Final = {"create_table": "type", "create_view": "type", "create_materialized_view": "type",
                 "create_type": "type", "create_function": "function", "create_procedure": "function",
                 "create_trigger": "function", "create_index": "constant", "create_schema": "namespace",
                 "create_sequence": "constant", "alter_table": "section", "create_extension": "constant",
                 "create_role": "constant", "create_database": "constant", "create_policy": "constant"}  # fmt: skip


def _statement(node: Node, data: bytes) -> Match | None:
    for child in node.named_children[:3]:
        chunk_type = _CHUNK_TYPES.get(child.type)
        if chunk_type is None:
            continue
        is_leaf = chunk_type in ("type", "function") and child.type != "alter_table"
        return Match(LEAF if is_leaf else MERGEABLE, chunk_type, _name(child, data), child)
    return None


def _name(node: Node, data: bytes) -> str:
    # The grammar labels the name of an index as its column.
    column = node.child_by_field_name("column") if node.type == "create_index" else None
    target = column or next(
        (child for child in node.children if child.type in ("object_reference", "identifier")), None
    )
    return text_of(target, data).translate(_QUOTES) if target is not None else ""


_QUOTES: Final = str.maketrans("", "", '"`[]')
_NAME: Final = r"""(?:if\s+(?:not\s+)?exists\s+)?(?:[\w$#@\["`\]]+\s*\.\s*){0,3}[\["`]?(?P<name>[\w$#@]+)"""
_BEGIN: Final = (
    r"(?:create|alter)\s+(?:or\s+(?:alter|replace)\s+)?(?:force\s+|editionable\s+|noneditionable\s+)*"
    r"(?:definer\s*=\s*\S+\s+)?(?:sql\s+security\s+\w+\s+)?"
)


def _header(words: str) -> re.Pattern[bytes]:
    return re.compile(f"(?i:{_BEGIN}(?:{words})\\s+{_NAME})".encode())


_BY_LINES: Final = make_grammar(
    "",
    {
        "procedure": leaf("function"),
        "table": leaf("type"),
        "index": mergeable("constant"),
        "change": mergeable("section"),
    },
    comments="comment",
    methods=False,
    lines=LineRules(
        [
            ("procedure", _header(r"proc|procedure|function|trigger|event|package(?:\s+body)?|aggregate")),
            ("change", re.compile(rf"(?i:alter\s+table\s+{_NAME})".encode())),
            (
                "table",
                _header(r"(?:(?:global\s+)?temporary\s+)?table|(?:materialized\s+)?view|type(?:\s+body)?|domain"),
            ),
            (
                "index",
                _header(r"(?:(?:unique|fulltext|clustered|nonclustered)\s+)*index|sequence|synonym|schema|database"),
            ),
        ],
        re.compile(rb"--|/\*|\*|#"),
        # A bracket in the first column ends the columns of a table.
        re.compile(rb"(?i:go|/|end\s*(?://|\$\$|;;))\s*;?\s*$|(?<=\n)\)[^\n]*;\s*$"),
        is_flat=True,
    ),
)
_BATCHES: Final = re.compile(
    rb"^[ \t]*(?i:go[ \t]*;?[ \t]*\r?$|delimiter[ \t]|(?:create|alter)[ \t]+(?:or[ \t]+(?:alter|replace)[ \t]+)?"
    rb"(?:(?:non)?editionable[ \t]+)?package\b)|\[[A-Za-z_]\w*\]\.\[?\w"
    rb"|\b(?i:table|view|from|into|update|join)[ \t]+\[[A-Za-z_]",
    re.MULTILINE,
)
"""What PostgreSQL has not: names in brackets and `GO` (SQL Server), `DELIMITER` (MySQL), packages (Oracle)."""

_PROCEDURES: Final = re.compile(
    rb"^[ \t]*(?i:(?:create|alter)[ \t]+(?:or[ \t]+(?:alter|replace)[ \t]+)?(?:definer[ \t]*=[ \t]*\S+[ \t]+)?"
    rb"(?:proc|procedure|function|trigger)\b)",
    re.MULTILINE,
)
_QUOTED_BODY: Final = re.compile(
    rb"\$\w*\$|(?i:\blanguage[ \t]+'?(?:plpgsql|sql|c)\b|execute[ \t]+(?:procedure|function)\b)"
)
"""How PostgreSQL writes the body of a procedure, or names it."""


def _is_procedural(data: bytes) -> bool:
    """Return whether a script has statements of SQL Server, MySQL or Oracle that the parser does not know."""
    if _BATCHES.search(data):
        return True
    return _PROCEDURES.search(data) is not None and not _QUOTED_BODY.search(data)


GRAMMARS: Final = {
    "sql": make_grammar(
        "sql",
        {"statement": dynamic(_statement)},
        comments="comment marginalia",
        transparent="block transaction",
        methods=False,
        dialect=Dialect(_is_procedural, _BY_LINES),
    )
}
