"""JSON, TOML, HCL: the symbol of a key is the path to it. Small neighbours are merged."""

from typing import Final

from gitmem.chunking.grammar import Node, make_grammar, mergeable
from gitmem.chunking.node_names import from_child, key_of, text_of, unquoted


def _block(node: Node, data: bytes) -> str:
    """Return the words before the brace: `resource.aws_instance.web` for `resource "aws_instance" "web" {`."""
    words = [text_of(child, data) for child in node.children[:5] if child.type in ("identifier", "string_lit")]
    return ".".join(unquoted(word) for word in words)


_toml_key = from_child("bare_key", "dotted_key", "quoted_key")
GRAMMARS: Final = {
    "json": make_grammar(
        "json",
        {"pair": mergeable("property", key_of)},
        transparent="object array",
        merged_type="property",
        methods=False,
    ),
    "toml": make_grammar(
        "toml",
        {
            "table": mergeable("section", _toml_key),
            "table_array_element": mergeable("section", _toml_key),
            "pair": mergeable("property", _toml_key),
        },
        merged_type="property",
        methods=False,
    ),
    "hcl": make_grammar(
        "hcl",
        {"block": mergeable("section", _block), "attribute": mergeable("property", from_child("identifier"))},
        transparent="body",
        merged_type="property",
        methods=False,
    ),
}
