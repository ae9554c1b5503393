"""Outline to chunks: skeletons for containers, whole text for units, merged runs for what is loose. No line is lost."""

from bisect import bisect_left
from typing import Final, NamedTuple

from gitmem.chunking.chunk_size import ChunkLimits
from gitmem.chunking.grammar import BOX, SOFT, SPACE, Grammar
from gitmem.chunking.lines import Lines, has_ink, trim
from gitmem.chunking.outline import Piece, Unit
from gitmem.chunking.split import split_span
from gitmem.types import Chunk

_MAX_SYMBOL: Final = 200
_MAX_NAMES: Final = 140
_MAX_SIGNATURE: Final = 200
_REACH: Final = 4
_SCRAP: Final = 48
_CODE: Final = frozenset({"function", "method"})
_PLURAL: Final = frozenset({"field", "property", "constant", "type", "macro", "section"})


class _Run(NamedTuple):
    """Adjoining loose text, trimmed, with the names that stand in it."""

    start: int
    end: int
    scope: str
    names: list[str]
    chunk_types: frozenset[str]


class Layout:
    """One blob being laid out."""

    def __init__(self, data: bytes, grammar: Grammar, limits: ChunkLimits, lines: Lines) -> None:
        self.data = data
        self.grammar = grammar
        self.limits = limits
        self.lines = lines

    def chunks_of(self, file: Unit) -> list[Chunk]:
        """All chunks of the outline, in order of start, wider ones first."""
        chunks: list[Chunk] = []
        fills = self.grammar.fills
        todo = [(file, False)]
        while todo:
            unit, shared = todo.pop()
            if unit.pieces is None:
                chunks.extend(self._whole(unit))
                continue
            inner = [piece.unit for piece in unit.pieces if piece.unit is not None]
            todo.extend((each, _shares(unit, each, fills=bool(fills))) for each in inner)
            if unit.shape == BOX:
                chunks.extend(self._skeleton(unit))
            elif not shared:
                chunks.extend(self._packed(unit, self._runs(unit)))
        chunks.sort(key=lambda chunk: (chunk.start, -chunk.end))
        return chunks

    def _whole(self, unit: Unit) -> list[Chunk]:
        start, end = trim(self.data, unit.start, unit.end)
        if end - start <= self.limits.max_bytes:
            return [self._chunk(unit.chunk_type, unit.symbol, [(start, end)])] if end > start else []
        return [
            self._chunk(unit.chunk_type, unit.symbol, [span])
            for span in self._trimmed(split_span(self.data, start, end, [], self.limits.max_bytes))
        ]

    def _skeleton(self, unit: Unit) -> list[Chunk]:
        """The container's own text and its members' signatures, as one chunk that spans it; then what did not fit."""
        runs = self._runs(unit)
        room = self.limits.max_bytes
        kept = runs
        rest: list[_Run] = []
        if sum(run.end - run.start for run in runs) > room:
            kept, rest = self._fitting(runs, unit.nodes[0].start_byte)
        parts = [(run.start, run.end) for run in kept]
        if rest and not any(start <= unit.nodes[0].start_byte < end for start, end in parts):
            parts.append(self._signature(unit))
        room -= sum(end - start for start, end in parts)
        for piece in unit.pieces or ():
            if piece.unit is not None and room > 0:
                start, end = self._signature(piece.unit)
                if 0 < end - start <= room:
                    parts.append((start, end))
                    room -= end - start
        if not parts:
            return self._packed(unit, rest)
        start, end = trim(self.data, unit.start, unit.end)
        chunk = self._chunk(unit.chunk_type, unit.symbol, sorted(parts))
        whole = chunk._replace(
            start=start, end=end, start_line=self.lines.number(start), end_line=self.lines.number(end - 1)
        )
        return [whole, *self._packed(unit, rest)]

    def _fitting(self, runs: list[_Run], head: int) -> tuple[list[_Run], list[_Run]]:
        """What the container's own chunk holds: its head, scraps, and what comes first, leaving room for signatures."""
        kept: list[_Run] = []
        rest: list[_Run] = []
        room = self.limits.max_bytes
        for run in runs:
            size = run.end - run.start
            wanted = size <= _SCRAP or run.start <= head < run.end
            if size <= room and (wanted or (not rest and size <= room - self.limits.max_bytes // 4)):
                kept.append(run)
                room -= size
            else:
                rest.append(run)
        return kept, rest

    def _signature(self, unit: Unit) -> tuple[int, int]:
        """From the line of the member's own node to its body, a few lines at most."""
        node = unit.nodes[0]
        start = max(unit.start, self.data.rfind(b"\n", unit.start, node.start_byte) + 1)
        body = node.child_by_field_name("body")
        if body is None:
            body = next((child for child in node.children if child.type in self.grammar.bodies), None)
        stop = body.start_byte if body is not None else self.data.find(b"\n", node.start_byte, unit.end)
        stop = min(stop if stop > start else unit.end, start + _MAX_SIGNATURE, unit.end)
        return trim(self.data, start, _whole_character(self.data, stop))

    def _runs(self, unit: Unit) -> list[_Run]:
        """The loose text between the units, cut where it is too big."""
        runs: list[_Run] = []
        loose: list[Piece] = []
        for piece in unit.pieces or ():
            if piece.unit is None:
                loose.append(piece)
                continue
            if loose:
                runs.extend(self._cut(unit, loose))
                loose = []
            if _shares(unit, piece.unit, fills=bool(self.grammar.fills)):
                runs.extend(self._runs(piece.unit))
        if loose:
            runs.extend(self._cut(unit, loose))
        return runs

    def _cut(self, unit: Unit, loose: list[Piece]) -> list[_Run]:
        start, end = loose[0].start, loose[-1].end
        size = self.limits.max_bytes
        if end - start <= size:
            start, end = trim(self.data, start, end)
            return [self._run(unit, start, end, loose)] if end > start else []
        spans = split_span(self.data, start, end, [(piece.start, piece.depth) for piece in loose], size)
        starts = [piece.start for piece in loose]
        return [
            self._run(unit, low, high, loose[bisect_left(starts, low) : bisect_left(starts, high)])
            for low, high in self._trimmed(spans)
        ]

    def _run(self, unit: Unit, start: int, end: int, loose: list[Piece]) -> _Run:
        names = [piece.name for piece in loose if piece.name and piece.name != "_"]
        chunk_types = frozenset([piece.chunk_type for piece in loose if piece.chunk_type])
        return _Run(start, end, unit.scope, names, chunk_types)

    def _packed(self, unit: Unit, runs: list[_Run]) -> list[Chunk]:
        """Merge small runs that are near to each other, across the units between them."""
        groups: list[list[_Run]] = []
        size = 0
        limits = self.limits
        for run in runs:
            own = run.end - run.start
            near = bool(groups) and run.end - groups[-1][0].start <= _REACH * limits.max_bytes
            if near and size + own <= limits.max_bytes and (size < limits.min_bytes or own < limits.min_bytes):
                groups[-1].append(run)
                size += own
            else:
                groups.append([run])
                size = own
        return [self._merged(unit, group) for group in groups]

    def _merged(self, unit: Unit, group: list[_Run]) -> Chunk:
        parts = [(run.start, run.end) for run in group]
        names = [] if unit.chunk_type in _CODE else [(run.scope, name) for run in group for name in run.names]
        if not names:
            scope = next((run.scope for run in group if run.scope), unit.symbol)
            return self._chunk(self.grammar.fills if scope and self.grammar.fills else unit.chunk_type, scope, parts)
        chunk_types = frozenset().union(*(run.chunk_types for run in group))
        chunk_type = next(iter(chunk_types)) if len(chunk_types) == 1 else ""
        fits = chunk_type in _PLURAL or len(names) == 1
        return self._chunk(
            chunk_type if chunk_type and fits else self.grammar.fills or unit.chunk_type,
            _joined(names, self.grammar.joint),
            parts,
        )

    def _trimmed(self, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        trimmed = [trim(self.data, start, end) for start, end in spans]
        return [(start, end) for start, end in trimmed if end > start]

    def _chunk(self, chunk_type: str, symbol: str, parts: list[tuple[int, int]]) -> Chunk:
        number = self.lines.number
        start, end = parts[0][0], parts[-1][1]
        joined = tuple(_adjoined(self.data, parts)) if len(parts) > 1 else ((start, end),)
        return Chunk(start, end, number(start), number(end - 1), chunk_type, symbol, joined)


def _shares(unit: Unit, inner: Unit, *, fills: bool) -> bool:
    """Loose text of a namespace, or of a big key of a data file, is packed together with that of the file around it."""
    if inner.pieces is None:
        return False
    return (unit.shape == inner.shape == SPACE) or (fills and inner.shape == SOFT and unit.shape in (SOFT, SPACE))


def _adjoined(data: bytes, parts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Parts with only white space between them become one."""
    joined = [parts[0]]
    for start, end in parts[1:]:
        before, last = joined[-1]
        if start <= last or not has_ink(data, last, start):
            joined[-1] = (before, max(end, last))
        else:
            joined.append((start, end))
    return joined


def _joined(names: list[tuple[str, str]], joint: str) -> str:
    """Names with their qualifier where it changes, as many as a symbol holds."""
    text, before = "", ""
    for scope, name in dict.fromkeys(names):
        full = f"{scope}{joint}{name}" if scope and scope != before else name
        if text and len(text) + len(full) > _MAX_NAMES:
            break
        text += f", {full}" if text else full
        before = scope
    return text[:_MAX_SYMBOL]


def _whole_character(data: bytes, at: int) -> int:
    while 0 < at < len(data) and data[at] & 0xC0 == 0x80:
        at -= 1
    return at
