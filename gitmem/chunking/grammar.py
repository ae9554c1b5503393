"""What a per-language table says: which syntax nodes are units, which are looked through, which lead the next one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

Node = Any
"""A syntax node of the parser library, which is not imported here so that the tables cost nothing."""

Namer = Callable[[Node, bytes], str]
"""Node and blob to the unit's own name, as written; '' where it has none."""

LEAF: Final = 0
"""A unit that is one chunk while it is small enough; looked into only when it is not."""
BOX: Final = 1
"""A unit whose members are units too: it keeps a chunk of its own, its skeleton."""
SPACE: Final = 2
"""A block that qualifies names and is otherwise laid out like a file: namespaces."""
SOFT: Final = 3
"""A unit only when it is big enough, else merged with its neighbours, which keeps its name."""
WRAP: Final = 4
"""Belongs to the unit inside it: decorators, `export`, `template<...>`."""
INSIDE: Final = 5
"""Looked through as if its children stood in its place."""
LEAD: Final = 6
"""Belongs to the next unit unless a blank line parts them: comments."""
MARK: Final = 7
"""Belongs to the next unit: attributes, modifiers."""
ASK: Final = 8
"""Only the node itself can tell: `resolve` answers."""


class Found(NamedTuple):
    """What a node turned out to be; `node` is the one that is looked into."""

    shape: int
    chunk_type: str
    name: str
    node: Node


Resolver = Callable[[Node, bytes], Found | None]


class Rule(NamedTuple):
    """How a node type is treated."""

    shape: int
    chunk_type: str = ""
    name: Namer | None = None
    resolve: Resolver | None = None


@dataclass(frozen=True, slots=True)
class Grammar:
    """One language: a table from node type to rule, and the few things that are not about one node.

    Neighbours of one name and a type in `joins` are one unit; `bodies` end a signature; where `fills` names a chunk
    type, everything below half a chunk is merged under it (data, style sheets); `joint` joins a symbol's parts.
    """

    parser: str
    table: Mapping[str, Rule]
    joins: frozenset[str] = field(default=frozenset())
    bodies: frozenset[str] = field(default=frozenset())
    fills: str = ""
    methods: bool = True
    joint: str = "."


COMMENTS: Final = "comment line_comment block_comment multiline_comment"


def make_grammar(
    parser: str,
    units: Mapping[str, Rule],
    *,
    inside: str = "",
    leads: str = COMMENTS,
    marks: str = "",
    wraps: str = "",
    joins: str = "",
    bodies: str = "block body",
    fills: str = "",
    methods: bool = True,
    joint: str = ".",
) -> Grammar:
    """Build a grammar; the sets of node types are written as words."""
    table: dict[str, Rule] = {}
    for shape, types in ((INSIDE, inside + " ERROR"), (LEAD, leads), (MARK, marks), (WRAP, wraps)):
        table.update(dict.fromkeys(types.split(), Rule(shape)))
    table.update(units)
    return Grammar(
        parser, table, frozenset(joins.split()), frozenset(bodies.split()), fills=fills, methods=methods, joint=joint
    )


def box(chunk_type: str, name: Namer | None = None) -> Rule:
    """A container of units."""
    return Rule(BOX, chunk_type, name)


def space(chunk_type: str, name: Namer | None = None) -> Rule:
    """A block that only qualifies."""
    return Rule(SPACE, chunk_type, name)


def leaf(chunk_type: str, name: Namer | None = None) -> Rule:
    """A unit of its own."""
    return Rule(LEAF, chunk_type, name)


def soft(chunk_type: str, name: Namer | None = None) -> Rule:
    """A unit when it is big enough."""
    return Rule(SOFT, chunk_type, name)


def ask(resolve: Resolver) -> Rule:
    """A node that must be looked at."""
    return Rule(ASK, resolve=resolve)
