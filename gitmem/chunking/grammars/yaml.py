"""YAML: the symbol of a key is the path to it. Items of lists that have a name, and Kubernetes objects, have that.

So the tasks of Ansible, the steps of a workflow and the alerts of Prometheus are found by name.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from gitmem.chunking.grammar import MERGEABLE, TRANSPARENT, Match, Node, dynamic, make_grammar, mergeable
from gitmem.chunking.node_names import key_of, spoken_name, text_of, unquoted

_NAME_KEYS: Final = frozenset(("alert", "id", "job_name", "name", "record"))
_NAMED_KEYS: Final = 4
"""Keys of an item of a list among which its name is sought: it is nearly always the first."""

_OBJECT_KEYS: Final = 8
"""The same for a Kubernetes object: `apiVersion`, `kind`, `metadata`, and fields without an order."""


def _document(node: Node, data: bytes) -> Match:
    """Match a Kubernetes object as `Kind/name`. The keys of any other document are those of the file."""
    name = _object_name(node, data)
    return Match(MERGEABLE if name else TRANSPARENT, "property", name, node)


def _object_name(document: Node, data: bytes) -> str:
    values = {key_of(pair, data): pair.child_by_field_name("value") for pair in _pairs(document, _OBJECT_KEYS)}
    if "apiVersion" not in values or "kind" not in values:
        return ""
    kind, metadata = values["kind"], values.get("metadata")
    names = (
        pair.child_by_field_name("value")
        for pair in (_pairs(metadata, _OBJECT_KEYS) if metadata is not None else ())
        if key_of(pair, data) == "name"
    )
    return "/".join(filter(None, (_scalar(kind, data), _scalar(next(names, None), data))))


def _item(node: Node, data: bytes) -> Match | None:
    """Match an item of a list that has a name."""
    pairs = (pair for pair in _pairs(node, _NAMED_KEYS) if key_of(pair, data) in _NAME_KEYS)
    pair = next(pairs, None)
    name = _scalar(pair.child_by_field_name("value"), data) if pair is not None else ""
    return Match(MERGEABLE, "property", name, node) if name else None


def _pairs(node: Node, limit: int) -> Iterator[Node]:
    """Yield the first pairs of the mapping that a document, a value or an item of a list is."""
    for _ in range(3):
        inner = next((child for child in node.children if child.type in ("block_node", "block_mapping")), None)
        if inner is None:
            return
        if inner.type == "block_mapping":
            yield from islice((child for child in inner.children if child.type == "block_mapping_pair"), limit)
            return
        node = inner


def _scalar(node: Node | None, data: bytes) -> str:
    """Return the text of a scalar in one line as a part of a symbol; "" for other values."""
    if node is None or node.type != "flow_node":
        return ""
    text = unquoted(text_of(node, data))
    if "\n" in text or text.startswith(("{", "[", "*")):
        return ""
    return spoken_name(text)


GRAMMARS: Final = {
    "yaml": make_grammar(
        "yaml",
        {
            "document": dynamic(_document),
            "block_mapping_pair": mergeable("property", key_of),
            "block_sequence_item": dynamic(_item),
        },
        transparent="block_node block_mapping block_sequence",
        merged_type="property",
        methods=False,
    )
}
