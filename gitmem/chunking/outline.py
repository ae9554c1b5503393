"""Turn a syntax tree into an outline: a tree of units, with the text between them and the places where it may be cut.

The approach resembles split-then-merge chunking (cAST, Zhang et al. 2025): open nodes that are too large for one chunk,
then merge small neighbours. But here definitions count, not sizes alone. Containers are always opened, and a function
keeps its own chunk however small it is. In large files `budget` merges some of these later.

Opening a unit walks its nodes and divides its span into *pieces* that adjoin and cover it, so no byte is lost. Both
loops, over units and over nodes, use explicit stacks, because source code may be nested deeper than Python recurses. A
budget of nodes for each file bounds the time.
"""

import re
from itertools import pairwise
from typing import Final

from gitmem.chunking.chunk_size import NESTED_BYTES, ChunkBounds
from gitmem.chunking.grammar import (
    COMMENT,
    CONTAINER,
    DYNAMIC,
    MERGEABLE,
    NAMESPACE,
    PREFIX,
    TRANSPARENT,
    WRAPPER,
    Grammar,
    Match,
    Node,
    Rule,
)
from gitmem.chunking.lines import line_start
from gitmem.chunking.node_names import name_of
from gitmem.chunking.split import INLINE
from gitmem.chunking.symbols import qualified

_MAX_LEVELS: Final = 48
"""Units and nodes nested deeper are not opened."""

_MAX_CHILDREN: Final = 20_000
"""A node with more children is not opened: it is nearly always generated data."""

_HEADLINE: Final = re.compile(rb"[^\w\n]*(?:MARK:|region\b)|(?s:.*?)([-/=*#~_+.])\1{7}")
"""Begins with a mark of editors, or has a ruled line: other comments that stand alone are about anything."""

_HEADLINE_GAP: Final = 2
"""Blank lines that may follow a headline."""

_MAX_WRAPPERS: Final = 6
_NODE_BUDGET: Final = 200_000
"""Nodes that are looked at in one file. Beyond them units stay closed and are split by lines."""

_TOKEN_DEPTH: Final = 9
"""Depth of a cut before a bare token, such as a closing brace: worse than one before most nodes."""

_GLUE: Final = frozenset({",", ";", ":"})
"""Tokens that belong to the unit before them."""

_OWNERS: Final = frozenset({"class", "interface", "struct", "enum", "trait", "impl", "type"})
"""Chunk types whose functions are methods."""

_HOLDERS: Final = frozenset({CONTAINER, NAMESPACE})
_CODE: Final = frozenset({"function", "method", "property"})


class Unit:
    """Named span of one or more nodes.

    `shape` is LEAF, MERGEABLE, CONTAINER or NAMESPACE. `scope` qualifies the names of the units inside. `pieces` stays
    None until the unit is opened.
    """

    __slots__ = ("chunk_type", "end", "level", "nodes", "pieces", "scope", "shape", "start", "symbol")

    def __init__(self, start: int, shape: int, chunk_type: str, symbol: str, node: Node, level: int) -> None:
        self.start = self.end = start
        self.shape = shape
        self.chunk_type = chunk_type
        self.symbol = self.scope = symbol
        self.nodes = [node]
        self.level = level
        self.pieces: list[Piece] | None = None


class Piece:
    """Part of an opened unit between two cuts: a unit, or loose text that may have a name.

    `depth` is the cost of the cut at its start, in levels of the syntax tree. The text up to `stop` has the name; bare
    tokens may follow it.
    """

    __slots__ = ("chunk_type", "depth", "end", "name", "node_type", "start", "stop", "unit")

    def __init__(self, start: int, depth: int, chunk_type: str = "", name: str = "", unit: Unit | None = None) -> None:
        self.start = self.end = self.stop = start
        self.depth = depth
        self.chunk_type = chunk_type
        self.name = name
        self.unit = unit
        self.node_type = ""


def outline_tree(data: bytes, root: Node, grammar: Grammar, bounds: ChunkBounds) -> Unit:
    """Return the file as a unit, opened all the way down: all containers, and all units too large for one chunk."""
    file = Unit(0, NAMESPACE, "module", "", root, 0)
    file.end = len(data)
    budget = _NODE_BUDGET
    todo = [file]
    while todo and budget > 0:
        # Depth first: if the budget runs out, some units are outlined completely and others not at all.
        unit = todo.pop()
        opener = _Opener(data, unit, grammar, bounds, budget)
        unit.pieces = opener.run()
        budget = opener.budget
        inner = [piece.unit for piece in unit.pieces if piece.unit is not None and piece.unit.level < _MAX_LEVELS]
        todo.extend(each for each in inner if each.shape in _HOLDERS or each.end - each.start > bounds.max_bytes)
    return file


class _Opener:
    """Divides one unit into pieces.

    A piece is started by each unit and each loose node, in the order of the text. Its end follows from the start of the
    next piece. Comments and prefixes are held back in `lead` until the node that they belong to arrives.
    """

    def __init__(self, data: bytes, unit: Unit, grammar: Grammar, bounds: ChunkBounds, budget: int) -> None:
        self.data = data
        self.unit = unit
        self.grammar = grammar
        self.table = grammar.table
        self.budget = budget
        self.max_bytes = bounds.max_bytes
        # In data formats every key matches a rule, so much larger ones are merged there than in code.
        self.mergeable_bytes = bounds.max_bytes // 2 if grammar.merged_type else bounds.min_bytes
        # Outside of classes headlines are merged with other text of the file, which tells what it is about. In the
        # index of the past, one would make another definition of one that only moved.
        self.headline_bytes = 0 if bounds.past_run or unit.shape != CONTAINER else bounds.headline_bytes
        self.is_code = unit.chunk_type in _CODE
        self.owns_methods = (
            grammar.methods
            and unit.level > 0
            and (unit.chunk_type in _OWNERS or (unit.shape, unit.chunk_type) == (CONTAINER, "module"))
        )
        self.is_holder = unit.shape in _HOLDERS
        self.pieces: list[Piece] = []
        self.lead = -1
        """Start of the comments and prefixes that await their unit, -1 if there are none."""

        self.lead_end = self.last_end = unit.start
        """End of the last such comment, -1 after a prefix; end of the last node of any kind."""

    def run(self) -> list[Piece]:
        """Walk the unit's nodes in the order of the text, opening those for which `_take` returns True."""
        # One iterator for each open node, innermost last. A node that is to be opened suspends the iterator above it.
        nodes = [child for node in self.unit.nodes for child in _children(node)]
        if self.grammar.group is not None and self.unit.level == 0:
            nodes = self.grammar.group(nodes, self.data)
        stack = [iter(nodes)]
        while stack:
            depth = len(stack)
            for node in stack[-1]:
                self.budget -= 1
                if self._take(node, depth) and depth < _MAX_LEVELS and self.budget > 0:
                    stack.append(iter(_children(node)))
                    break
            else:
                stack.pop()
        self._flush_lead()
        return self._close()

    def _take(self, node: Node, depth: int) -> bool:
        """Add the node to the pieces. Returns True if its children must be taken one by one."""
        node_type = node.type
        rule = self.table.get(node_type)
        if rule is None:
            return self._take_loose(node, node_type, depth)
        shape = rule.shape
        if shape == TRANSPARENT:
            return True
        start = node.start_byte
        if shape in (COMMENT, PREFIX):
            self._take_lead(start, node.end_byte, prefix=shape == PREFIX)
            return False
        # Keywords share the type name of their statement in some grammars (`class` in `class A`), but are not named.
        match = self._match(node, rule) if node.is_named else None
        if match is None:
            return self._take_loose(node, node_type, depth)
        if match.shape in (COMMENT, PREFIX):
            self._take_lead(start, node.end_byte, prefix=True)
            return False
        if match.shape == TRANSPARENT:
            self._flush_lead()
            return True
        self._take_unit(node, match, depth)
        return False

    def _match(self, node: Node, rule: Rule) -> Match | None:
        """Apply a rule, through wrappers to the unit inside. None means that the node is loose text."""
        for _ in range(_MAX_WRAPPERS):
            shape = rule.shape
            if shape == WRAPPER:
                inner = _wrapped(node, self.table)
                if inner is None:
                    return None
                node, rule = inner
                continue
            if shape == DYNAMIC:
                assert rule.resolve is not None
                return rule.resolve(node, self.data)
            return Match(shape, rule.chunk_type, (rule.name or name_of)(node, self.data), node)
        return None

    def _take_unit(self, outer: Node, match: Match, depth: int) -> None:
        """Start a unit, or loose text with a name if the unit is too small to have a chunk of its own."""
        end = outer.end_byte
        start = self._unit_start(outer.start_byte)
        self.lead = -1
        self.last_end = end
        shape, chunk_type, name, node = match
        if self._join(match):
            return
        if chunk_type == "function" and self.owns_methods:
            chunk_type = "method"
        # The piece keeps the name: the chunk into which it is merged lists it in its symbol.
        size = end - start
        if shape == MERGEABLE and size < self.mergeable_bytes:
            self._add(Piece(start, depth, chunk_type, name), node.type)
            self.pieces[-1].stop = end
            return
        # A short closure is part of what its function does and says little without it.
        if self.is_code and size < NESTED_BYTES:
            self._add(Piece(start, depth))
            return
        unit = self.unit
        symbol = qualified(unit.scope, name, self.grammar.separator) if name else unit.scope
        inner = Unit(start, shape, chunk_type, symbol, node, unit.level + 1)
        self._add(Piece(start, depth, chunk_type, name, inner), node.type)

    def _join(self, match: Match) -> bool:
        """Make a clause part of the piece before it, if both have the same name. Returns False if they differ.

        The first clauses may be loose text, such as the signatures of an overload. The first one with a body then turns
        the whole into a unit.
        """
        joins = self.grammar.joins
        if not joins or not self.pieces or not match.name or match.node.type not in joins:
            return False
        last = self.pieces[-1]
        if last.name != match.name or last.node_type not in joins:
            return False
        if last.unit is not None:
            last.unit.nodes.append(match.node)
            return True
        if match.shape == MERGEABLE:
            last.stop = self.last_end
            return True
        # Replace the loose signatures by the unit that they belong to.
        self.pieces.pop()
        self._take_unit(match.node, match, last.depth)
        self.pieces[-1].start = last.start
        return True

    def _take_lead(self, start: int, end: int, *, prefix: bool) -> None:
        """Hold back a comment or prefix. A comment on the line of the previous node belongs to that node."""
        # Some grammars include the line feed in a line comment. Without it, blank lines count the same everywhere.
        if self.data[end - 1 : end] == b"\n":
            end -= 1
        if not prefix and self.lead < 0 and self.pieces and self.data.find(b"\n", self.last_end, start) < 0:
            self.last_end = self.pieces[-1].stop = end
            return
        if self.lead >= 0 and not prefix and self._is_separated(start):
            self._flush_lead()
        if self.lead < 0:
            self.lead = start
        self.lead_end = self.last_end = end
        if prefix:
            self.lead_end = -1

    def _is_separated(self, start: int) -> bool:
        """Return whether the last comment does not belong to the node at `start`: a blank line lies between them.

        A prefix is never separated, nor is a headline by up to two blank lines. A comment at the beginning of the file
        is about all of it.
        """
        if self.lead_end < 0:
            return False
        blank = self.data.count(b"\n", self.lead_end, start) - 1
        if blank <= 0:
            return False
        return blank > _HEADLINE_GAP or not self.pieces or not self._is_headline()

    def _is_headline(self) -> bool:
        is_short = self.lead_end - self.lead <= self.headline_bytes
        return is_short and _HEADLINE.match(self.data, self.lead, self.lead_end) is not None

    def _unit_start(self, start: int) -> int:
        """Return the start of a unit including its comments and prefixes. Separated comments become loose text."""
        if self.lead < 0:
            return start
        if self._is_separated(start):
            self._flush_lead()
            return start
        return self.lead

    def _flush_lead(self) -> None:
        """Turn the comments and prefixes without a unit into loose text."""
        if self.lead >= 0:
            self._add(Piece(self.lead, 1))
            self.lead = -1

    def _take_loose(self, node: Node, node_type: str, depth: int) -> bool:
        """Start loose text. Returns True for the body of a container, and for text too large for one chunk."""
        start, end = node.start_byte, node.end_byte
        if start == end:  # zero width: dedents, and tokens inserted by error recovery
            return False
        if depth == 1 and self.is_holder and node_type in self.grammar.bodies:
            self._flush_lead()
            return True
        if not node.is_named:
            self._take_token(start, end, node_type)
            return False
        start = self._unit_start(start)
        self.lead = -1
        self._add(Piece(start, depth, "module"))
        # Large loose text is opened too. Its parts are places to cut, and it may contain units, such as functions
        # passed to a call.
        if end - start > self.max_bytes and node.child_count:
            return True
        self.last_end = end
        return False

    def _take_token(self, start: int, end: int, node_type: str) -> None:
        """Add a bare token to the loose text or, if it is glue, to the unit before it; else start loose text."""
        self._flush_lead()
        self.last_end = end
        if self.pieces and (self.pieces[-1].unit is None or node_type in _GLUE):
            return
        self._add(Piece(start, _TOKEN_DEPTH))

    def _add(self, piece: Piece, node_type: str = "") -> None:
        piece.node_type = node_type
        self.pieces.append(piece)

    def _close(self) -> list[Piece]:
        """Move each cut to the start of its line if only blanks precede it, and make the pieces adjoin."""
        data, unit, pieces = self.data, self.unit, self.pieces
        # The text of a unit before its first inner unit, such as `class A:`, is a loose piece of its own.
        if not pieces or (pieces[0].unit is not None and unit.level and unit.shape != NAMESPACE):
            pieces.insert(0, Piece(unit.start, 0))
        # A cut inside a line separates definitions written on one line. It is a last resort for splitting text.
        floor = unit.start
        for piece in pieces:
            at = max(line_start(data, piece.start, floor), floor)
            if at == piece.start and at > 0 and data[at - 1] != 10:
                piece.depth += INLINE
            piece.start = floor = at
        pieces[0].start = unit.start
        for piece, after in pairwise(pieces):
            piece.end = after.start
        pieces[-1].end = unit.end
        for piece in pieces:
            if piece.unit is not None:
                piece.unit.start, piece.unit.end = piece.start, piece.end
        return pieces


def _children(node: Node) -> list[Node]:
    return node.children if node.child_count <= _MAX_CHILDREN else []


def _wrapped(node: Node, table: object) -> tuple[Node, Rule] | None:
    """Return the first child of a wrapper that has a role of its own, with its rule."""
    assert isinstance(table, dict)
    for child in node.children:
        rule = table.get(child.type)
        if rule is not None and rule.shape not in (COMMENT, PREFIX, TRANSPARENT):
            return child, rule
    return None
