"""Rust: the type of its `impl` block qualifies the name of a method."""

from typing import Final

from gitmem.chunking.grammar import Node, container, leaf, make_grammar, mergeable, namespace
from gitmem.chunking.node_names import plain_type, text_of


def _impl(node: Node, data: bytes) -> str:
    # The field `trait` of `impl Trait for Type` is ignored: methods are looked up by their type.
    # Tuples and slices have no name (`impl Trait for [u8]`); there the trait is the only one.
    targets = (node.child_by_field_name(field) for field in ("type", "trait"))
    # `impl crate::window::Window` is of `Window`, wherever that is defined.
    names = (plain_type(text_of(target, data)).rpartition("::")[2] for target in targets if target is not None)
    return next(filter(None, names), "")


GRAMMARS: Final = {
    "rust": make_grammar(
        "rust",
        {
            "function_item": leaf("function"),
            "function_signature_item": mergeable("function"),
            "struct_item": leaf("struct"),
            "union_item": leaf("struct"),
            "enum_item": leaf("enum"),
            "trait_item": container("trait"),
            "impl_item": container("impl", _impl),
            "mod_item": namespace("module"),
            "macro_definition": leaf("macro"),
            "const_item": mergeable("constant"),
            "static_item": mergeable("constant"),
            "type_item": mergeable("type"),
            "associated_type": mergeable("type"),
        },
        transparent="declaration_list foreign_mod_item",
        prefixes="attribute_item",
        bodies="block declaration_list",
    )
}
