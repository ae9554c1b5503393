"""Scala 2 and 3: the extended type qualifies extension methods."""

from typing import Final

from gitmem.chunking.grammar import Node, container, leaf, make_grammar, mergeable, namespace
from gitmem.chunking.node_names import from_pattern, plain_type, text_of


def _extension(node: Node, data: bytes) -> str:
    """Return the extended type: `Int` for `extension (x: Int)`."""
    parameters = node.child_by_field_name("parameters")
    if parameters is None:
        return ""
    # The type follows the colon: `(x: Int)`.
    return plain_type(text_of(parameters, data).strip("()").rpartition(":")[2].strip())


GRAMMARS: Final = {
    "scala": make_grammar(
        "scala",
        {
            "class_definition": container("class"),
            "object_definition": container("class"),
            "package_object": container("class"),
            "trait_definition": container("trait"),
            "enum_definition": container("enum"),
            "extension_definition": namespace("impl", _extension),
            "function_definition": leaf("function"),
            "function_declaration": mergeable("function"),
            "given_definition": mergeable("constant"),
            "val_definition": mergeable("constant", from_pattern("pattern")),
            "var_definition": mergeable("field", from_pattern("pattern")),
            "val_declaration": mergeable("field"),
            "var_declaration": mergeable("field"),
            "type_definition": mergeable("type"),
        },
        transparent="template_body enum_body package_clause with_template_body enum_case_definitions",
        prefixes="annotation",
        bodies="block indented_block template_body",
        anonymous="instance_expression",
    )
}
