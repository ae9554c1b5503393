"""CSS and SCSS: rules, named by their selectors and merged while they are small."""

from typing import Final

from gitmem.chunking.grammar import Node, make_grammar, mergeable


def _head(node: Node, data: bytes) -> str:
    """Return the text before the block, shortened."""
    # A selector list can be long. Its beginning identifies the rule.
    block = next((child for child in node.children if child.type in ("block", "keyframe_block_list")), None)
    stop = block.start_byte if block is not None else node.end_byte
    raw = data[node.start_byte : min(stop, node.start_byte + 160)]
    return " ".join(raw.decode("utf-8", "replace").split())[:80]


_UNITS: Final = {
    **{
        name: mergeable("section", _head)
        for name in [
            "rule_set",
            "media_statement",
            "supports_statement",
            "keyframes_statement",
            "at_rule",
            "layer_statement",
        ]
    },
    "mixin_statement": mergeable("macro", _head),
    "function_statement": mergeable("function", _head),
}
_PARSERS: Final = {"css": "css", "scss": "scss", "less": "scss"}
"""Names of the parsers. That of SCSS finds the rules of LESS, between errors."""

GRAMMARS: Final = {
    name: make_grammar(
        parser,
        _UNITS,
        comments="comment js_comment",
        transparent="block",
        merged_type="section",
        methods=False,
        separator=" ",
    )
    for name, parser in _PARSERS.items()
}
