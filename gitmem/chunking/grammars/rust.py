"""Rust: methods are named by the type of their impl block."""

from typing import Final

from gitmem.chunking.grammar import Node, box, leaf, make_grammar, soft, space
from gitmem.chunking.node_names import plain_type, text_of


def _impl(node: Node, data: bytes) -> str:
    target = node.child_by_field_name("type")
    return plain_type(text_of(target, data)).replace("::", ".") if target is not None else ""


GRAMMARS: Final = {
    "rust": make_grammar(
        "rust",
        {
            "function_item": leaf("function"),
            "function_signature_item": soft("function"),
            "struct_item": leaf("struct"),
            "union_item": leaf("struct"),
            "enum_item": leaf("enum"),
            "trait_item": box("trait"),
            "impl_item": box("impl", _impl),
            "mod_item": space("module"),
            "macro_definition": leaf("macro"),
            "const_item": soft("constant"),
            "static_item": soft("constant"),
            "type_item": soft("type"),
            "associated_type": soft("type"),
        },
        inside="declaration_list foreign_mod_item",
        marks="attribute_item",
        bodies="block declaration_list",
    )
}
