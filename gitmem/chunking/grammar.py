"""Tables that say how to chunk a language: the role of each type of syntax node.

A *unit* is a definition that becomes a chunk: a function, a class, a section. All other text is *loose* and is merged
with its neighbours. Role and name of a node come from its type alone, or from a function that looks at the node.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gitmem.named_tuple import NamedTuple

Node = Any
"""Syntax node of the parser library, which is not imported here so that the tables load fast."""

Namer = Callable[[Node, bytes], str]
"""Function from a node and its blob to the node's own name as written, '' if it has none."""

# Shapes: the roles of nodes.
LEAF: Final = 0
"""Unit that is one chunk while it is small enough. Only a larger one is opened to look for units and cuts inside."""
CONTAINER: Final = 1
"""Unit with units as members, such as a class. Its own chunk is a skeleton: header and signatures."""
NAMESPACE: Final = 2
"""Block that qualifies the names in it and is otherwise chunked like a file."""
MERGEABLE: Final = 3
"""Unit only if it is large enough. A smaller one is merged with its neighbours, and the merged chunk keeps its name."""
WRAPPER: Final = 4
"""Node that belongs to the unit inside it: decorators, `export`, `template<...>`."""
TRANSPARENT: Final = 5
"""Node whose children are treated as if they were in its place."""
COMMENT: Final = 6
"""Node that belongs to the next unit unless a blank line separates them."""
PREFIX: Final = 7
"""Node that always belongs to the next unit: attributes, modifiers."""
DYNAMIC: Final = 8
"""Node whose type does not determine its role. The rule's `resolve` looks at the node."""


class UnparsedError(Exception):
    """Text without a syntax tree. The message is the reason."""


class Match(NamedTuple):
    """Role and name of one node. `node` is the one to open, which may lie inside the matched node."""

    shape: int
    chunk_type: str
    name: str
    node: Node


Resolver = Callable[[Node, bytes], Match | None]
"""Function from a node and its blob to a match. None means loose text."""


class NodeGroup:
    """Adjoining nodes in the place of one, for a statement that the definitions behind it belong to.

    Has what an outline reads of a node. Its fields are those of the first node.
    """

    __slots__ = ("child_count", "children", "end_byte", "named_child_count", "named_children", "start_byte", "type")

    is_named: Final = True

    def __init__(self, node_type: str, nodes: list[Node]) -> None:
        self.type = node_type
        self.children = self.named_children = nodes
        self.child_count = self.named_child_count = len(nodes)
        self.start_byte = nodes[0].start_byte
        self.end_byte = nodes[-1].end_byte

    def child_by_field_name(self, name: str) -> Node | None:
        """Return the child of a field, None without one."""
        return self.children[0].child_by_field_name(name)


Grouper = Callable[[list[Node], bytes], list[Node]]
"""Function from the nodes of a file at the top to nodes and groups of them."""


class Rule(NamedTuple):
    """Role of a node type. Without `name`, `node_names.name_of` reads the name."""

    shape: int
    chunk_type: str = ""
    name: Namer | None = None
    resolve: Resolver | None = None


class LineRules(NamedTuple):
    """How to read a language by its lines.

    `headers` are node types with patterns of the line that begins such a definition, with the group `name`. `comment`
    matches a line of comments, `closing` the last line of a definition. In a flat language a definition begins
    without indentation and ends before the next one, in others before a line that is not indented more, unless this
    begins a part of it, as `parts` says.
    """

    headers: Sequence[tuple[str, re.Pattern[bytes]]]
    comment: re.Pattern[bytes]
    closing: re.Pattern[bytes] | None = None
    is_flat: bool = False
    parts: re.Pattern[bytes] = re.compile(rb"\{$|(?:rescue|ensure|else)\b")


class TagRules(NamedTuple):
    """How to read a template by its tags.

    `tag` finds them by groups, of which one at most matches:

    - `comment`: begins a comment, which ends with the text that `comments` has for it.
    - `opens`: keyword of a block, which begins a definition of the type in `units` if it has a `name`. `closes` ends
      the innermost block with that keyword, or that of `closers`; the innermost of all if this is empty.
    - `defined`: name of a definition whose end no tag shows.
    - `file`: path of another template, `component`: tag that names one. `called`: name of a macro or component of code.
      `type`: name of a class.
    - `statement`: an import in the language of the code. `expression`: code in which names are called.
    """

    tag: re.Pattern[bytes]
    comments: Mapping[bytes, bytes]
    units: Mapping[bytes, str]
    closers: Mapping[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Grammar:
    """Rules of one language."""

    parser: str
    """Name of the parser in the language pack."""

    table: Mapping[str, Rule]
    """Rules by node type. Nodes of other types are loose text."""

    joins: frozenset[str] = field(default=frozenset())
    """Node types whose neighbours of the same name form one unit: clauses, equations, overloads."""

    bodies: frozenset[str] = field(default=frozenset())
    """Node types that end the signature of a unit."""

    merged_type: str = ""
    """Chunk type of merged neighbours in data formats and style sheets. There units need half of `max_bytes`."""

    methods: bool = True
    """Whether functions inside a type are methods."""

    separator: str = "."
    """Text between the parts of a symbol."""

    anonymous: frozenset[str] = field(default=frozenset())
    """Node types that are anonymous classes if they have a body: a child that is transparent."""

    lines: LineRules | None = None
    """Rules by which the language is read instead of a parser."""

    tags: TagRules | None = None
    """The same for templates."""

    group: Grouper | None = None
    """Groups the nodes of a file, if statements without a block divide it into classes or modules."""

    dialect: "Dialect | None" = None
    """Other rules for files of a dialect that the parser does not know."""

    otherwise: "Grammar | None" = None
    """Rules by lines for files with syntax errors, if the parser loses definitions far beyond an error."""


class Dialect(NamedTuple):
    """Rules of a dialect, and whether a file is written in it."""

    matches: Callable[[bytes], bool]
    grammar: Grammar


COMMENTS: Final = "comment line_comment block_comment multiline_comment"


def make_grammar(
    parser: str,
    units: Mapping[str, Rule],
    *,
    transparent: str = "",
    comments: str = COMMENTS,
    prefixes: str = "",
    wrappers: str = "",
    joins: str = "",
    bodies: str = "block body",
    merged_type: str = "",
    methods: bool = True,
    separator: str = ".",
    anonymous: str = "",
    group: Grouper | None = None,
    lines: LineRules | None = None,
    tags: TagRules | None = None,
    dialect: Dialect | None = None,
    otherwise: Grammar | None = None,
) -> Grammar:
    """Build a grammar. Sets of node types are given as words in a string; `units` takes precedence over them."""
    table: dict[str, Rule] = {}
    # A node around a syntax error is transparent: the definitions that were recognised inside it remain units.
    roles = (TRANSPARENT, transparent + " ERROR"), (COMMENT, comments), (PREFIX, prefixes), (WRAPPER, wrappers)
    for shape, types in roles:
        table.update(dict.fromkeys(types.split(), Rule(shape)))
    table.update(units)
    sets = frozenset(joins.split()), frozenset(bodies.split())
    classes = frozenset(anonymous.split())
    return Grammar(
        parser, table, *sets, merged_type, methods, separator, classes, lines, tags, group, dialect, otherwise
    )


def container(chunk_type: str, name: Namer | None = None) -> Rule:
    """Return the rule of a unit with units as members."""
    return Rule(CONTAINER, chunk_type, name)


def namespace(chunk_type: str, name: Namer | None = None) -> Rule:
    """Return the rule of a block that only qualifies names."""
    return Rule(NAMESPACE, chunk_type, name)


def leaf(chunk_type: str, name: Namer | None = None) -> Rule:
    """Return the rule of a unit without members."""
    return Rule(LEAF, chunk_type, name)


def mergeable(chunk_type: str, name: Namer | None = None) -> Rule:
    """Return the rule of a unit that is merged with its neighbours while it is small."""
    return Rule(MERGEABLE, chunk_type, name)


def dynamic(resolve: Resolver) -> Rule:
    """Return the rule of a node type whose nodes must be looked at."""
    return Rule(DYNAMIC, resolve=resolve)
