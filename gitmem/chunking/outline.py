"""Syntax tree to an outline: which spans are units, what is loose between them, and where a span may be cut.

Only containers are looked into, and whatever is too big for one chunk; by an explicit stack, within a budget of nodes.
"""

from itertools import pairwise
from typing import Final

from gitmem.chunking.chunk_size import ChunkLimits
from gitmem.chunking.grammar import ASK, BOX, INSIDE, LEAD, MARK, SOFT, SPACE, WRAP, Found, Grammar, Node, Rule
from gitmem.chunking.lines import line_start
from gitmem.chunking.node_names import named
from gitmem.chunking.split import INLINE

_MAX_LEVELS: Final = 48
_MAX_CHILDREN: Final = 20_000
_MAX_SYMBOL: Final = 200
_NODE_BUDGET: Final = 200_000
_NESTED_BYTES: Final = 400
_GLUE: Final = frozenset({",", ";", ":"})
_OWNERS: Final = frozenset({"class", "interface", "struct", "enum", "trait", "impl", "type"})
_HOLDERS: Final = frozenset({BOX, SPACE})
_CODE: Final = frozenset({"function", "method", "property"})


class Unit:
    """A named span. `pieces` stays None until it is looked into; `shape` is LEAF, SOFT, BOX or SPACE."""

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
    """What stands between two cuts: a unit, or loose text that may carry a name."""

    __slots__ = ("chunk_type", "depth", "end", "name", "start", "type", "unit")

    def __init__(self, start: int, depth: int, chunk_type: str = "", name: str = "", unit: Unit | None = None) -> None:
        self.start = self.end = start
        self.depth = depth
        self.chunk_type = chunk_type
        self.name = name
        self.unit = unit
        self.type = ""


def outline_tree(data: bytes, root: Node, grammar: Grammar, limits: ChunkLimits) -> Unit:
    """Return the file as a unit whose pieces are filled in all the way down."""
    file = Unit(0, SPACE, "module", "", root, 0)
    file.end = len(data)
    budget = _NODE_BUDGET
    todo = [file]
    while todo and budget > 0:
        unit = todo.pop()
        walk = _Walk(data, unit, grammar, limits, budget)
        unit.pieces = walk.run()
        budget = walk.budget
        inner = [piece.unit for piece in unit.pieces if piece.unit is not None and piece.unit.level < _MAX_LEVELS]
        todo.extend(each for each in inner if each.shape in _HOLDERS or each.end - each.start > limits.max_bytes)
    return file


class _Walk:
    """One unit being cut into pieces that adjoin and cover it."""

    def __init__(self, data: bytes, unit: Unit, grammar: Grammar, limits: ChunkLimits, budget: int) -> None:
        self.data = data
        self.unit = unit
        self.grammar = grammar
        self.table = grammar.table
        self.budget = budget
        self.max_bytes = limits.max_bytes
        self.soft_bytes = limits.max_bytes // 2 if grammar.fills else limits.min_bytes
        self.nested = unit.chunk_type in _CODE
        self.owner = (
            grammar.methods
            and unit.level > 0
            and (unit.chunk_type in _OWNERS or (unit.shape, unit.chunk_type) == (BOX, "module"))
        )
        self.holds = unit.shape in _HOLDERS
        self.out: list[Piece] = []
        self.lead = -1
        self.lead_end = self.last_end = unit.start

    def run(self) -> list[Piece]:
        """Walk the unit's nodes, descending where `_take` says so."""
        nodes = self.unit.nodes
        stack = [iter([child for node in nodes for child in _children(node)])]
        while stack:
            depth = len(stack)
            for node in stack[-1]:
                self.budget -= 1
                if self._take(node, depth) and depth < _MAX_LEVELS and self.budget > 0:
                    stack.append(iter(_children(node)))
                    break
            else:
                stack.pop()
        self._flush()
        return self._close()

    def _take(self, node: Node, depth: int) -> bool:
        """Note what the node is; True when its children are to be taken one by one."""
        rule = self.table.get(node.type)
        if rule is None:
            return self._take_loose(node, depth)
        shape = rule.shape
        if shape == INSIDE:
            return True
        start = node.start_byte
        if shape in (LEAD, MARK):
            self._take_lead(start, node.end_byte, mark=shape == MARK)
            return False
        found = self._find(node, rule) if node.is_named else None
        if found is None:
            return self._take_loose(node, depth)
        if found.shape in (LEAD, MARK):
            self._take_lead(start, node.end_byte, mark=True)
            return False
        if found.shape == INSIDE:
            self._flush()
            return True
        return self._take_unit(node, found, depth)

    def _find(self, node: Node, rule: Rule) -> Found | None:
        for _ in range(6):
            shape = rule.shape
            if shape == WRAP:
                inner = _wrapped(node, self.table)
                if inner is None:
                    return None
                node, rule = inner
                continue
            if shape == ASK:
                assert rule.resolve is not None
                return rule.resolve(node, self.data)
            return Found(shape, rule.chunk_type, (rule.name or named)(node, self.data), node)
        return None

    def _take_unit(self, outer: Node, found: Found, depth: int) -> bool:
        end = outer.end_byte
        start = self._led(outer.start_byte)
        self.lead = -1
        self.last_end = end
        shape, chunk_type, name, node = found
        if self._join(found):
            return False
        size = end - start
        if shape == SOFT and size < self.soft_bytes:
            self._add(Piece(start, depth, chunk_type, name), node.type)
            return False
        if self.nested and size < _NESTED_BYTES:
            self._add(Piece(start, depth))
            return False
        unit = self.unit
        if chunk_type == "function" and self.owner:
            chunk_type = "method"
        symbol = f"{unit.scope}{self.grammar.joint}{name}" if unit.scope and name else name or unit.scope
        made = Unit(start, shape, chunk_type, symbol[:_MAX_SYMBOL], node, unit.level + 1)
        self._add(Piece(start, depth, chunk_type, name, made), node.type)
        return False

    def _join(self, found: Found) -> bool:
        """Let a clause of the unit just before it become a part of that unit."""
        joins = self.grammar.joins
        if not joins or not self.out or not found.name or found.node.type not in joins:
            return False
        last = self.out[-1]
        if last.name != found.name or last.type not in joins:
            return False
        if last.unit is not None:
            last.unit.nodes.append(found.node)
            return True
        if found.shape == SOFT:
            return True
        self.out.pop()
        self._take_unit(found.node, found, last.depth)
        self.out[-1].start = last.start
        return True

    def _take_lead(self, start: int, end: int, *, mark: bool) -> None:
        if self.data[end - 1 : end] == b"\n":
            end -= 1
        if not mark and self.lead < 0 and self.out and self.data.find(b"\n", self.last_end, start) < 0:
            self.last_end = end
            return
        if self.lead >= 0 and not mark and self._parted(start):
            self._flush()
        if self.lead < 0:
            self.lead = start
        self.lead_end = self.last_end = end
        if mark:
            self.lead_end = -1

    def _parted(self, start: int) -> bool:
        return self.lead_end >= 0 and self.data.count(b"\n", self.lead_end, start) > 1

    def _led(self, start: int) -> int:
        """The start of a unit with the comments and marks that lead it; parted comments become loose."""
        if self.lead < 0:
            return start
        if self._parted(start):
            self._flush()
            return start
        return self.lead

    def _flush(self) -> None:
        if self.lead >= 0:
            self._add(Piece(self.lead, 1))
            self.lead = -1

    def _take_loose(self, node: Node, depth: int) -> bool:
        start, end = node.start_byte, node.end_byte
        if start == end:
            return False
        if depth == 1 and self.holds and node.type in self.grammar.bodies:
            self._flush()
            return True
        if not node.is_named:
            self._take_token(node, start, end)
            return False
        start = self._led(start)
        self.lead = -1
        self._add(Piece(start, depth, "module"))
        if end - start > self.max_bytes and node.child_count:
            return True
        self.last_end = end
        return False

    def _take_token(self, node: Node, start: int, end: int) -> None:
        self._flush()
        self.last_end = end
        if self.out and (self.out[-1].unit is None or node.type in _GLUE):
            return
        self._add(Piece(start, 9))

    def _add(self, piece: Piece, node_type: str = "") -> None:
        piece.type = node_type
        self.out.append(piece)

    def _close(self) -> list[Piece]:
        """Move every cut to the start of its line where nothing else stands before it, and let pieces adjoin."""
        data, unit, out = self.data, self.unit, self.out
        if not out or (out[0].unit is not None and unit.level and unit.shape != SPACE):
            out.insert(0, Piece(unit.start, 0))
        floor = unit.start
        for piece in out:
            at = max(line_start(data, piece.start, floor), floor)
            if at == piece.start and at > 0 and data[at - 1] != 10:
                piece.depth += INLINE
            piece.start = floor = at
        out[0].start = unit.start
        for piece, after in pairwise(out):
            piece.end = after.start
        out[-1].end = unit.end
        for piece in out:
            if piece.unit is not None:
                piece.unit.start, piece.unit.end = piece.start, piece.end
        return out


def _children(node: Node) -> list[Node]:
    return node.children if node.child_count <= _MAX_CHILDREN else []


def _wrapped(node: Node, table: object) -> tuple[Node, Rule] | None:
    assert isinstance(table, dict)
    for child in node.children:
        rule = table.get(child.type)
        if rule is not None and rule.shape not in (LEAD, MARK, INSIDE):
            return child, rule
    return None
