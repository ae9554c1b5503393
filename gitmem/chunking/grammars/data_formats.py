"""JSON, TOML, HCL, INI: the symbol of a key is the path to it. Small neighbours are merged."""

from typing import Final

from gitmem.chunking.grammar import Node, make_grammar, mergeable
from gitmem.chunking.node_names import from_child, key_of, text_of, unquoted
from gitmem.lazy_pattern import lazy_pattern


def _block(node: Node, data: bytes) -> str:
    """Return the words before the brace: `resource.aws_instance.web` for `resource "aws_instance" "web" {`."""
    words = [text_of(child, data) for child in node.children[:5] if child.type in ("identifier", "string_lit")]
    return ".".join(unquoted(word) for word in words)


_SCENE_NAME: Final = lazy_pattern(rb"\bname=\"([^\"\n]*)\"")
"""Name of a node in a scene of Godot: `[node name="Player" type="Node2D"]`."""


def _section(node: Node, data: bytes) -> str:
    """Return the name in brackets: `remote.origin` for `[remote "origin"]`."""
    line = data[node.start_byte : node.end_byte].partition(b"\n")[0].strip().strip(b"[]")
    scene = _SCENE_NAME.search(line)
    if scene:
        return scene[1].decode("utf-8", "replace")
    if b"=" in line or node.start_point.column:  # a resource or signal of Godot, or a line of a value
        return ""
    return ".".join(unquoted(word) for word in line.decode("utf-8", "replace").split())


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
    "ini": make_grammar("ini", {"section": mergeable("section", _section)}, merged_type="section", methods=False),
    "hcl": make_grammar(
        "hcl",
        {"block": mergeable("section", _block), "attribute": mergeable("property", from_child("identifier"))},
        transparent="body",
        merged_type="property",
        methods=False,
    ),
}
