"""Match the patterns of a language by a walk of the tree, without compiling them.

The parser library takes 10 to 170 ms to compile the patterns of a grammar, because it analyses all parser states around
each nested pattern. A walk from Python needs no analysis, but more time per node. It is the faster one for a few files,
as after a commit. Both find the same nodes: see `occurrence_query`, which chooses between them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from gitmem.chunking.grammar import Node
from gitmem.named_tuple import NamedTuple

_TOKENS: Final = re.compile(r"[().]|!?\w+:?|@\w+")
_ANY: Final = "_"


class RepeatedFieldError(Exception):
    """A node has several children in a field that a pattern names.

    The library finds all of them or only the first, by the way in which the grammar repeats them. A tree does not show
    that, so the compiled query has to decide.
    """


class Step(NamedTuple):
    """A node of a pattern. `children` match children of a node in this order, others may lie between them."""

    type: str
    """Type of the node, `_` for any named one."""

    field: str = ""
    """Field of its parent that the node must be in, "" for any child."""

    capture: str = ""
    """Kind by which the node is captured, "" if it is not."""

    is_first: bool = False
    """Whether it must be the first named child."""

    absent: tuple[str, ...] = ()
    """Fields that the node must not have."""

    children: tuple["Step", ...] = ()

    is_name: bool = False
    """Whether it is a captured node of which nothing else is asked, as most are."""


Table = Mapping[str, Sequence[Step]]
"""Patterns by the type of their outermost node."""


def parse_patterns(sources: Iterable[str]) -> Table:
    """Return the patterns of some texts. They use a part of the library's query language: nodes, fields, `!`, `.`."""
    table: dict[str, list[Step]] = {}
    for step in _parse(iter(_TOKENS.findall(" ".join(sources)))):
        table.setdefault(step.type, []).append(step)
    return table


def _parse(tokens: Iterator[str]) -> Iterator[Step]:
    """Yield the nodes up to the bracket that closes the one around them."""
    field, is_first, last = "", False, None
    for part in tokens:
        if part.startswith("@"):
            assert last is not None, "a capture follows a node"
            last = last._replace(capture=part[1:], is_name=not (last.children or last.absent))
            continue
        if last is not None:
            yield last
            last = None
        if part == ")":
            return
        if part == "(":
            last = _parse_node(tokens)._replace(field=field, is_first=is_first)
            field, is_first = "", False
        elif part == ".":
            is_first = True
        elif part.startswith("!"):
            yield Step(part)
        else:
            field = part[:-1]
    if last is not None:
        yield last


def _parse_node(tokens: Iterator[str]) -> Step:
    """Return the node whose opening bracket was read."""
    node_type = next(tokens)
    parts = list(_parse(tokens))
    absent = tuple(part.type[1:] for part in parts if part.type.startswith("!"))
    return Step(node_type, absent=absent, children=tuple(part for part in parts if not part.type.startswith("!")))


def find_by_walk(table: Table, root: Node) -> dict[str, list[Node]]:
    """Return the nodes that the patterns capture, by the names of the captures. Raises RepeatedFieldError."""
    captures: dict[str, dict[int, Node]] = {}
    todo = [root] if table else []
    while todo:
        node = todo.pop()
        # Leaves are most nodes, so nothing is asked of them twice.
        children = node.named_children if node.child_count else []
        todo += children
        for step in table.get(node.type, ()):
            results = [(step.capture, node)] if step.is_name else _match(step, node, children)
            for kind, target in results or ():
                captures.setdefault(kind, {})[target.id] = target
    return {kind: list(nodes.values()) for kind, nodes in captures.items()}


def _match(step: Step, node: Node, children: Sequence[Node] | None = None) -> list[tuple[str, Node]] | None:
    """Return the captures of all ways in which a node matches, None if there is none.

    Its type and field are right. `children` are its named children, if they are known.
    """
    for field in step.absent:
        if node.child_by_field_name(field) is not None:
            return None
    own = [(step.capture, node)] if step.capture else []
    if not step.children:
        return own
    if len(step.children) > 1:
        parts = list(_with_fields(node))
        fields = [field for field, _ in parts]
        if any(child.field and fields.count(child.field) > 1 for child in step.children):
            raise RepeatedFieldError
        below = _match_sequence(step.children, parts)
        return own + below if below is not None else None
    return _match_any(step.children[0], node, children, own)


def _match_any(
    step: Step, parent: Node, children: Sequence[Node] | None, captures: list[tuple[str, Node]]
) -> list[tuple[str, Node]] | None:
    """Return the captures and those of all children of a node that match a step, None if no child does."""
    if step.field:
        children = parent.children_by_field_name(step.field)
        if len(children) > 1:
            raise RepeatedFieldError
    elif children is None:
        children = parent.named_children
    matches = False
    for child in children[:1] if step.is_first else children:
        if child.type == step.type or (step.type == _ANY and child.is_named):
            results = [(step.capture, child)] if step.is_name else _match(step, child)
            if results is not None:
                captures += results
                matches = True
    return captures if matches else None


def _match_sequence(steps: Sequence[Step], children: Sequence[tuple[str, Node]]) -> list[tuple[str, Node]] | None:
    """Return the captures of all ways in which steps match children in their order, None if there is none."""
    if not steps:
        return []
    step, captures, matches = steps[0], [], False
    for number, (field, child) in enumerate(children):
        if (step.field and step.field != field) or not (child.type == step.type or step.type == _ANY):
            continue
        results = _match(step, child)
        rest = _match_sequence(steps[1:], children[number + 1 :]) if results is not None else None
        if results is not None and rest is not None:
            captures += results + rest
            matches = True
    return captures if matches else None


def _with_fields(node: Node) -> Iterator[tuple[str, Node]]:
    """Yield the named children of a node, each with its field or ""."""
    cursor = node.walk()
    follows = cursor.goto_first_child()
    while follows:
        child = cursor.node
        if child.is_named:
            yield cursor.field_name or "", child
        follows = cursor.goto_next_sibling()
