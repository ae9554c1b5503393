"""Scala 2 and 3."""

from typing import Final

from gitmem.chunking.grammar import Node, box, leaf, make_grammar, soft, space
from gitmem.chunking.node_names import from_field, plain_type, text_of


def _extension(node: Node, data: bytes) -> str:
    """`extension (x: Int)`: the type it extends."""
    parameters = node.child_by_field_name("parameters")
    if parameters is None:
        return ""
    return plain_type(text_of(parameters, data).strip("()").rpartition(":")[2].strip())


GRAMMARS: Final = {
    "scala": make_grammar(
        "scala",
        {
            "class_definition": box("class"),
            "object_definition": box("class"),
            "package_object": box("class"),
            "trait_definition": box("trait"),
            "enum_definition": box("enum"),
            "extension_definition": space("impl", _extension),
            "function_definition": leaf("function"),
            "function_declaration": soft("function"),
            "given_definition": soft("constant"),
            "val_definition": soft("constant", from_field("pattern")),
            "var_definition": soft("field", from_field("pattern")),
            "val_declaration": soft("field"),
            "var_declaration": soft("field"),
            "type_definition": soft("type"),
        },
        inside="template_body enum_body package_clause with_template_body enum_case_definitions",
        marks="annotation",
        bodies="block indented_block template_body",
    )
}
