"""Find where the units of an outline have their names: the definitions of languages without patterns for them."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gitmem.chunking.grammar import NAMESPACE, Node
from gitmem.chunking.occurrence_query import KIND_OF_UNIT
from gitmem.chunking.outline import Piece, Unit
from gitmem.named_tuple import NamedTuple

_PROSE: Final = re.compile(
    r"(?:^|_)(?:comment|string|quoted|sigil|heredoc|haddock|doc|docstring|text)s?(?:_|$|literal)", re.I
)
"""Node types in which a name is a word of prose."""

_STRING: Final = re.compile(r"(?:^|_)(?:string|quoted)")
_DECLARED: Final = re.compile(rb"\s*[\[=;{(,]")
_EXTERN: Final = re.compile(rb"^[ \t]*extern\s+(?!\")", re.MULTILINE)
_MAX_LOOKUPS: Final = 100_000
"""Nodes that are looked up in one file. Each name needs one, and one for each comment above it that mentions it."""

_MAX_CLAUSES: Final = 200
"""Clauses of a function whose names are looked for."""


class UnitName(NamedTuple):
    """Name of a unit as written: its start in bytes, its kind (`types.OCCURRENCE_KINDS`) and text.

    The kind is "" where the unit repeats its name, in further clauses or a specification.
    """

    start: int
    kind: str
    text: bytes


def find_unit_names(
    data: bytes, root: Node, outline: Unit, letters: bytes, known: Mapping[int, bytes]
) -> Iterator[UnitName]:
    """Yield the names of the units of an outline, if they are not known by start and text already.

    `letters` are those besides ASCII letters, digits, `_` and `$`.
    """
    starts: dict[bytes, list[int]] = {}
    for start in sorted(known):
        starts.setdefault(known[start], []).append(start)
    text, todo = _Text(data, root, letters), [outline]
    while todo:
        for piece in todo.pop().pieces or ():
            if piece.unit is not None:
                todo.append(piece.unit)
            chunk_type = piece.unit.chunk_type if piece.unit is not None else piece.chunk_type
            kind = KIND_OF_UNIT.get(chunk_type, "")
            for symbol in _names(piece) if kind else ():
                # `a.b` for `a:b` of Lua: then the last part is what the text has.
                parts = dict.fromkeys((symbol, symbol.rpartition(b".")[2]))
                if any(_is_inside(starts.get(name, ()), piece) for name in parts):
                    continue
                for name in parts:
                    places = text.find_all(name, piece, quoted=kind == "value") if name else []
                    yield from (UnitName(start, "" if number else kind, name) for number, start in enumerate(places))
                    if places:
                        break


def find_variables(data: bytes, outline: Unit) -> Iterator[UnitName]:
    """Yield the names of the variables outside of functions and classes, whatever is around them.

    Patterns of nodes would have to name each: namespaces, `extern "C"`, and conditions, which functions have as well.
    """
    todo = [outline]
    while todo:
        for piece in todo.pop().pieces or ():
            if piece.unit is not None and piece.unit.shape == NAMESPACE:
                todo.append(piece.unit)
            chunk_type = piece.unit.chunk_type if piece.unit is not None else piece.chunk_type
            if chunk_type == "constant" and piece.name:
                name = piece.name.encode()
                start = _find_declared(data, name, piece)
                # Another file defines what is `extern`.
                if start >= 0 and not _EXTERN.search(data, piece.start, start):
                    yield UnitName(start, "value", name)


def _find_declared(data: bytes, name: bytes, piece: Piece) -> int:
    """Return where a piece declares a variable: the first place before a value, size or end; -1 without one."""
    # Comments above it may have the name, and its type may begin with it.
    at = data.find(name, piece.start, piece.end)
    while at >= 0:
        end = at + len(name)
        if not _is_letter(data[at - 1 : at], b"") and _DECLARED.match(data, end):
            return at
        at = data.find(name, end, piece.end)
    return -1


def _is_inside(starts: Sequence[int], piece: Piece) -> bool:
    """Return whether one of some ascending places is in a piece."""
    place = bisect_left(starts, piece.start)
    return place < len(starts) and starts[place] < piece.end


def _names(piece: Piece) -> list[bytes]:
    """Return the names that a piece was given: a statement may declare several, joined by commas."""
    name = piece.name or (piece.unit.symbol if piece.unit is not None else "")
    return [each.encode() for each in name.split(", ") if each]


class _Text:
    """Text of a file, in which names are looked for."""

    def __init__(self, data: bytes, root: Node, letters: bytes) -> None:
        self._data = data
        self._root = root
        self._letters = letters
        self._lookups = _MAX_LOOKUPS

    def find_all(self, name: bytes, piece: Piece, *, quoted: bool) -> list[int]:
        """Return where a piece defines a name, then where it repeats it; nothing if it is not found.

        A string may name an attribute (`quoted`). Named by a string, a function is a test or handles a request.
        """
        nodes = piece.unit.nodes[:_MAX_CLAUSES] if piece.unit is not None else []
        heads = [self._line(node.start_byte, piece) for node in nodes]
        places = [self.find(name, *head) for head in heads]
        first = next(self._words(name, *(heads[0] if heads else self._line(piece.start, piece))), -1)
        if first >= 0 and self._is_quoted(first, first + len(name)):
            return [first] if quoted else []
        lead = heads[0][0] if heads else piece.start
        if not places or places[0] < 0:  # the head of the definition is before its node
            places.insert(0, self.find(name, piece.start, piece.end))
            lead = piece.start
        before = self.find(name, piece.start, lead)
        return [start for start in dict.fromkeys((*places, before)) if start >= 0]

    def _line(self, at: int, piece: Piece) -> tuple[int, int]:
        """Return the line of a place, as far as it is in a piece."""
        end = self._data.find(b"\n", at, piece.end)
        return max(piece.start, self._data.rfind(b"\n", 0, at) + 1), end if end >= 0 else piece.end

    def find(self, name: bytes, start: int, end: int) -> int:
        """Return the first place of a name in a span that is neither in a comment nor in a string, -1 without one."""
        floor = start
        for at in self._words(name, start, end):
            if at < floor:
                continue
            if self._lookups <= 0:
                return -1
            self._lookups -= 1
            node = self._root.descendant_for_byte_range(at, at + len(name))
            if node is None or not _has_type(node, _PROSE):
                return at
            floor = node.end_byte
        return -1

    def _words(self, name: bytes, start: int, end: int) -> Iterator[int]:
        """Yield the places of a name in a span that are whole words."""
        data = self._data
        while (at := data.find(name, start, end)) >= 0:
            start = after = at + len(name)
            if not (_is_letter(data[at - 1 : at], self._letters) or _is_letter(data[after : after + 1], self._letters)):
                yield at

    def _is_quoted(self, start: int, end: int) -> bool:
        """Return whether a name is in a string, or in a list of quoted words."""
        node = self._root.descendant_for_byte_range(start, end)
        return node is not None and _has_type(node, _STRING)


def _is_letter(character: bytes, letters: bytes) -> bool:
    return character.isalnum() or (character != b"" and (character >= b"\x80" or character in b"_$" + letters))


def _has_type(node: Node, types: re.Pattern[str]) -> bool:
    """Return whether a node or the one around it is of some types."""
    around = (node, node.parent) if node.parent is not None else (node,)
    return any(types.search(each.type) is not None for each in around)
