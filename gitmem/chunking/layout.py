"""Outline to chunks: skeletons for containers, whole text for units, merged runs for what is loose. No line is lost."""

from bisect import bisect_left
from typing import Final, NamedTuple

from gitmem.chunking.grammar import BOX, Grammar
from gitmem.chunking.limits import ChunkLimits
from gitmem.chunking.lines import Lines, has_ink, trim
from gitmem.chunking.outline import Piece, Unit
from gitmem.chunking.split import split_span
from gitmem.types import Chunk

_MAX_SYMBOL: Final = 200
_MAX_SIGNATURE: Final = 200
_SCRAP: Final = 48
_CODE: Final = frozenset({"function", "method"})
_PLURAL: Final = frozenset({"field", "property", "constant", "type", "macro", "section"})


class _Run(NamedTuple):
    """Adjoining loose text, trimmed, with the names that stand in it."""

    start: int
    end: int
    names: list[str]
    kind: str


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
        todo = [file]
        while todo:
            unit = todo.pop()
            todo.extend(piece.unit for piece in unit.pieces or () if piece.unit is not None)
            if unit.pieces is None:
                chunks.extend(self._whole(unit))
            elif unit.shape == BOX:
                chunks.extend(self._skeleton(unit))
            else:
                chunks.extend(self._packed(unit, self._runs(unit)))
        chunks.sort(key=lambda chunk: (chunk.start, -chunk.end))
        return chunks

    def _whole(self, unit: Unit) -> list[Chunk]:
        start, end = trim(self.data, unit.start, unit.end)
        if end - start <= self.limits.max_bytes:
            return [self._chunk(unit.kind, unit.symbol, [(start, end)])] if end > start else []
        return [
            self._chunk(unit.kind, unit.symbol, [span])
            for span in self._trimmed(split_span(self.data, start, end, [], self.limits.max_bytes))
        ]

    def _skeleton(self, unit: Unit) -> list[Chunk]:
        """The container's own text and its members' signatures, as one chunk that spans it; then what did not fit."""
        runs = self._runs(unit)
        room = self.limits.max_bytes
        kept = runs
        rest: list[_Run] = []
        if sum(run.end - run.start for run in runs) > room:
            kept, rest = self._fitting(runs, room * 3 // 4)
        parts = [(run.start, run.end) for run in kept]
        room -= sum(end - start for start, end in parts)
        for piece in unit.pieces or ():
            if piece.unit is not None and room > 0:
                start, end = self._signature(piece.unit)
                if 0 < end - start <= room:
                    parts.append((start, end))
                    room -= end - start
        start, end = trim(self.data, unit.start, unit.end)
        if not parts:
            return self._packed(unit, rest)
        chunk = self._chunk(unit.kind, unit.symbol, sorted(parts))
        whole = chunk._replace(
            start=start, end=end, start_line=self.lines.number(start), end_line=self.lines.number(end - 1)
        )
        return [whole, *self._packed(unit, rest)]

    def _fitting(self, runs: list[_Run], room: int) -> tuple[list[_Run], list[_Run]]:
        kept: list[_Run] = []
        rest: list[_Run] = []
        for run in runs:
            size = run.end - run.start
            if size <= room and (not rest or size <= _SCRAP):
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
        for piece in [*(unit.pieces or ()), None]:
            if piece is not None and piece.unit is None:
                loose.append(piece)
            elif loose:
                runs.extend(self._cut(unit, loose))
                loose = []
        return runs

    def _cut(self, unit: Unit, loose: list[Piece]) -> list[_Run]:
        start, end = loose[0].start, loose[-1].end
        size = self.limits.max_bytes
        if end - start <= size:
            spans = [(start, end)]
        else:
            spans = split_span(self.data, start, end, [(piece.start, piece.depth) for piece in loose], size)
        return [self._run(unit, span, loose) for span in self._trimmed(spans)]

    def _run(self, unit: Unit, span: tuple[int, int], loose: list[Piece]) -> _Run:
        start, end = span
        low = bisect_left(loose, start, key=lambda piece: piece.start)
        inside = [piece for piece in loose[low : bisect_left(loose, end, key=lambda piece: piece.start)] if piece.name]
        if unit.kind in _CODE or not inside:
            return _Run(start, end, [], "")
        kinds = {piece.kind for piece in inside}
        return _Run(start, end, [piece.name for piece in inside], kinds.pop() if len(kinds) == 1 else "module")

    def _packed(self, unit: Unit, runs: list[_Run]) -> list[Chunk]:
        """Merge small runs that are near to each other, across the units between them."""
        groups: list[list[_Run]] = []
        size = 0
        limits = self.limits
        for run in runs:
            own = run.end - run.start
            near = bool(groups) and run.start - groups[-1][-1].end <= 2 * limits.max_bytes
            if near and size + own <= limits.max_bytes and (size < limits.min_bytes or own < limits.min_bytes):
                groups[-1].append(run)
                size += own
            else:
                groups.append([run])
                size = own
        return [self._merged(unit, group) for group in groups]

    def _merged(self, unit: Unit, group: list[_Run]) -> Chunk:
        names = [name for run in group for name in run.names]
        kinds = {run.kind for run in group if run.kind}
        kind = kinds.pop() if len(kinds) == 1 else ""
        if len(names) != 1 and kind not in _PLURAL:
            kind = ""
        if unit.kind in _CODE or not names:
            symbol = unit.symbol
        else:
            symbol = f"{unit.scope}{self.grammar.joint}" if unit.scope else ""
            symbol += _joined(names)
        return self._chunk(kind or unit.kind, symbol, [(run.start, run.end) for run in group])

    def _trimmed(self, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        return [trim(self.data, start, end) for start, end in spans if has_ink(self.data, start, end)]

    def _chunk(self, kind: str, symbol: str, parts: list[tuple[int, int]]) -> Chunk:
        number = self.lines.number
        start, end = parts[0][0], parts[-1][1]
        joined = tuple(_adjoined(self.data, parts)) if len(parts) > 1 else ((start, end),)
        return Chunk(start, end, number(start), number(end - 1), kind, symbol, joined)


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


def _joined(names: list[str]) -> str:
    text = ""
    for name in dict.fromkeys(names):
        if len(text) + len(name) > _MAX_SYMBOL - 60 and text:
            break
        text += f", {name}" if text else name
    return text[: _MAX_SYMBOL - 40]


def _whole_character(data: bytes, at: int) -> int:
    while 0 < at < len(data) and data[at] & 0xC0 == 0x80:
        at -= 1
    return at
