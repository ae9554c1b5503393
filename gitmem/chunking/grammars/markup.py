"""HTML and its relatives: elements, named by their id, heading or tag, and merged while they are small."""

import re
from typing import Final

from gitmem.chunking.grammar import MERGEABLE, Match, Node, dynamic, make_grammar

_ID: Final = re.compile(rb"""\bid\s*=\s*["']?([\w:.-]+)""")
_TAG: Final = re.compile(rb"<\s*([\w:.-]+)")
_HEADING: Final = re.compile(rb"<h[1-6][^>]*>(.{1,200}?)</h[1-6]", re.DOTALL | re.IGNORECASE)
_MARKUP: Final = re.compile(rb"<[^>]*>")


def _element(node: Node, data: bytes) -> Match | None:
    """Match an element, named by its id, else the first heading near its start, else a tag such as `script`."""
    start, end = node.start_byte, node.end_byte
    tag = _TAG.match(data, start, end)
    # Regular expressions on the start of the element: attributes and headings are found without opening its subtree.
    opening = data[start : min(end, start + 400)].partition(b">")[0]
    identifier = _ID.search(opening)
    name = identifier[1] if identifier else b""
    if not name and end - start >= 200 and tag and tag[1].lower() not in (b"html", b"body"):
        heading = _HEADING.search(data, start, min(end, start + 600))
        name = b" ".join(_MARKUP.sub(b"", heading[1]).split()) if heading else b""
    if not name and tag and tag[1].lower() in (b"script", b"style", b"template", b"head"):
        name = tag[1]
    return Match(MERGEABLE, "section", name.decode("utf-8", "replace"), node)


_UNITS: Final = {name: dynamic(_element) for name in ("element", "script_element", "style_element", "template_element")}
GRAMMARS: Final = {
    name: make_grammar(name, _UNITS, merged_type="section", methods=False, separator=" > ", transparent="content")
    for name in ("html", "xml", "vue", "svelte", "astro")
}
