"""SQL: one unit for each statement that creates or alters an object."""

from typing import Final

from gitmem.chunking.grammar import LEAF, MERGEABLE, Match, Node, dynamic, make_grammar
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
    return text_of(target, data).replace('"', "").replace("`", "") if target is not None else ""


GRAMMARS: Final = {
    "sql": make_grammar(
        "sql",
        {"statement": dynamic(_statement)},
        comments="comment marginalia",
        transparent="block transaction",
        methods=False,
    )
}
