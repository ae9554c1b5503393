"""JSON, YAML, TOML, HCL: keys, with the path to a key as its symbol; small neighbours are merged."""

from typing import Final

from gitmem.chunking.grammar import Node, make_grammar, soft
from gitmem.chunking.node_names import from_child, text_of, unquoted


def _key(node: Node, data: bytes) -> str:
    target = node.child_by_field_name("key")
    return unquoted(text_of(target, data)) if target is not None else ""


def _block(node: Node, data: bytes) -> str:
    """`resource "aws_instance" "web" {`: the words before the brace."""
    words = [text_of(child, data) for child in node.children[:5] if child.type in ("identifier", "string_lit")]
    return ".".join(unquoted(word) for word in words)


_toml_key = from_child("bare_key", "dotted_key", "quoted_key")
GRAMMARS: Final = {
    "json": make_grammar(
        "json", {"pair": soft("property", _key)}, inside="object array", fills="property", methods=False
    ),
    "yaml": make_grammar(
        "yaml",
        {"block_mapping_pair": soft("property", _key)},
        inside="document block_node block_mapping",
        fills="property",
        methods=False,
    ),
    "toml": make_grammar(
        "toml",
        {
            "table": soft("section", _toml_key),
            "table_array_element": soft("section", _toml_key),
            "pair": soft("property", _toml_key),
        },
        fills="property",
        methods=False,
    ),
    **{
        name: make_grammar(
            "hcl",
            {"block": soft("section", _block), "attribute": soft("property", from_child("identifier"))},
            inside="body",
            fills="property",
            methods=False,
        )
        for name in ("hcl", "terraform")
    },
}
