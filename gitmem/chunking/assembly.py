"""Turn an outline into chunks: skeletons of containers, whole units, and merged runs of the loose text between units.

Every byte of an outline lies in exactly one unit or piece of loose text, and all text but blanks reaches some chunk. A
member's signature appears twice: in its own chunk and in the skeleton of its container, which is found by its members
then.
"""

import re
from bisect import bisect_left
from typing import Final

from gitmem.chunking.chunk_size import MERGE_REACH, SCRAP_BYTES, SIGNATURE_BYTES, ChunkBounds
from gitmem.chunking.grammar import CONTAINER, MERGEABLE, NAMESPACE, Grammar
from gitmem.chunking.lines import Lines, has_text, trim
from gitmem.chunking.outline import Piece, Unit
from gitmem.chunking.split import split_span
from gitmem.chunking.symbols import MAX_NAMES, MAX_SHOWN_NAMES, join_names, qualified
from gitmem.named_tuple import NamedTuple
from gitmem.types import Chunk, DefinitionSpan, ResultUnit

_CODE: Final = frozenset({"function", "method"})
_PLURAL: Final = frozenset({"field", "property", "constant", "type", "macro", "section"})
"""Chunk types that also fit a merged chunk with several names of that type."""

_WORD: Final = re.compile(rb"\w")


class _Run(NamedTuple):
    """Adjoining loose text without blanks at its ends, and the definitions in it, all of one scope."""

    start: int
    end: int
    scope: str
    named: list[Piece]
    chunk_types: frozenset[str]


class Assembler:
    """Builds the chunks of one blob."""

    def __init__(self, data: bytes, grammar: Grammar, bounds: ChunkBounds, lines: Lines) -> None:
        self.data = data
        self.grammar = grammar
        self.bounds = bounds
        self.lines = lines

    def assemble(self, file: Unit) -> list[Chunk]:
        """Return all chunks of the outline, ordered by start. Of chunks with the same start the longest comes first."""
        chunks: list[Chunk] = []
        # The flag says that the loose text of the unit has already become part of a unit around it (see _shares_text).
        todo = [(file, False)]
        while todo:
            unit, shared = todo.pop()
            if unit.pieces is None:
                chunks.extend(self._closed_chunks(unit))
                continue
            inner = [piece.unit for piece in unit.pieces if piece.unit is not None]
            todo.extend((each, self._shares_text(unit, each)) for each in inner)
            if unit.shape == CONTAINER:
                chunks.extend(self._container_chunks(unit))
            elif not shared:
                chunks.extend(self._pieces_of(unit, self._merged_runs(unit, self._runs(unit))))
        chunks.sort(key=lambda chunk: (chunk.start, -chunk.end))
        return chunks

    def _closed_chunks(self, unit: Unit) -> list[Chunk]:
        """Return the chunk of a unit that was not opened. If it is too large, split it by its lines."""
        start, end = trim(self.data, unit.start, unit.end)
        if end - start <= self.bounds.max_bytes:
            return [self._chunk(unit.chunk_type, unit.symbol, [(start, end)])] if end > start else []
        spans = self._trimmed(split_span(self.data, start, end, [], self.bounds.max_bytes))
        return self._pieces_of(unit, [self._chunk(unit.chunk_type, unit.symbol, [span]) for span in spans])

    def _pieces_of(self, unit: Unit, chunks: list[Chunk]) -> list[Chunk]:
        """Return the chunks of a unit, with its span if it is a function and several share it."""
        if len(chunks) < 2 or unit.chunk_type not in _CODE or not unit.symbol:
            return chunks
        start, end = trim(self.data, unit.start, unit.end)
        whole = DefinitionSpan(start, end, self.lines.number(start), self.lines.number(end - 1))
        return [chunk._replace(whole=whole) for chunk in chunks]

    def _container_chunks(self, unit: Unit) -> list[Chunk]:
        """Return a container's skeleton, then chunks of its loose text that did not fit.

        The skeleton spans the whole container. Its own text is the loose text and the signatures of the members.
        """
        runs = self._runs(unit)
        # `room` is what the skeleton may still take. Loose text comes first: nothing else shows it. Signatures fill the
        # remainder in order, since each member also has a chunk of its own.
        room = self.bounds.max_bytes
        own, rest = runs, list[_Run]()
        if sum(run.end - run.start for run in runs) > room:
            own, rest = self._fitting(runs, unit.nodes[0].start_byte)
        parts = [(run.start, run.end) for run in own]
        # The header may be inside a run that was too large. The skeleton repeats it then.
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
            return self._merged_runs(unit, rest)
        start, end = trim(self.data, unit.start, unit.end)
        chunk = self._chunk(unit.chunk_type, unit.symbol, sorted(parts))
        skeleton = chunk._replace(
            start=start, end=end, start_line=self.lines.number(start), end_line=self.lines.number(end - 1)
        )
        # Fields and signatures without a body have no chunk of their own. They are results next to the container.
        units = [] if self.grammar.merged_type else [each for run in own for each in self._units(run)]
        if units:
            skeleton = skeleton._replace(units=(ResultUnit(*skeleton[:6]), *units))
        return [skeleton, *self._merged_runs(unit, rest)]

    def _fitting(self, runs: list[_Run], head: int) -> tuple[list[_Run], list[_Run]]:
        """Divide the loose text of a container into the part for its skeleton and the rest.

        The skeleton gets the run with the header (at offset `head`), scraps, and the first runs. The latter leave a
        quarter of the size free for signatures.
        """
        own: list[_Run] = []
        rest: list[_Run] = []
        room = self.bounds.max_bytes
        for run in runs:
            size = run.end - run.start
            preferred = size <= SCRAP_BYTES or run.start <= head < run.end
            if size <= room and (preferred or (not rest and size <= room - self.bounds.max_bytes // 4)):
                own.append(run)
                room -= size
            else:
                rest.append(run)
        return own, rest

    def _signature(self, unit: Unit) -> tuple[int, int]:
        """Return the span from the line of the unit's node to its body, limited to SIGNATURE_BYTES.

        Without a body the signature is one line.
        """
        node = unit.nodes[0]  # the first clause, if the unit has several
        start = max(unit.start, self.data.rfind(b"\n", unit.start, node.start_byte) + 1)
        body = node.child_by_field_name("body")
        if body is None:
            body = next((child for child in node.children if child.type in self.grammar.bodies), None)
        stop = body.start_byte if body is not None else self.data.find(b"\n", node.start_byte, unit.end)
        stop = min(stop if stop > start else unit.end, start + SIGNATURE_BYTES, unit.end)
        return trim(self.data, start, _character_start(self.data, stop))

    def _runs(self, unit: Unit) -> list[_Run]:
        """Return the loose text between the units, split if it is too large."""
        runs: list[_Run] = []
        loose: list[Piece] = []
        for piece in unit.pieces or ():
            if piece.unit is None:
                loose.append(piece)
                continue
            if loose:
                runs.extend(self._split_run(unit, loose))
                loose = []
            if self._shares_text(unit, piece.unit):
                runs.extend(self._runs(piece.unit))
        if loose:
            runs.extend(self._split_run(unit, loose))
        return runs

    def _shares_text(self, unit: Unit, inner: Unit) -> bool:
        """Return whether the loose text of an inner unit is merged with that of the unit around it.

        That holds for a namespace, and for a large key of a data file.
        """
        if inner.pieces is None:
            return False
        if unit.shape == inner.shape == NAMESPACE:
            return True
        return bool(self.grammar.merged_type) and inner.shape == MERGEABLE and unit.shape in (MERGEABLE, NAMESPACE)

    def _split_run(self, unit: Unit, loose: list[Piece]) -> list[_Run]:
        """Return adjoining loose text as one run, or as several if it is larger than one chunk."""
        start, end = loose[0].start, loose[-1].end
        size = self.bounds.max_bytes
        if end - start <= size:
            start, end = trim(self.data, start, end)
            return [self._run(unit, start, end, loose)] if end > start else []
        # Each piece starts at a syntax boundary, and its depth is the cost of a cut there.
        spans = split_span(self.data, start, end, [(piece.start, piece.depth) for piece in loose], size)
        starts = [piece.start for piece in loose]
        return [
            self._run(unit, low, high, loose[bisect_left(starts, low) : bisect_left(starts, high)])
            for low, high in self._trimmed(spans)
        ]

    def _run(self, unit: Unit, start: int, end: int, loose: list[Piece]) -> _Run:
        named = [piece for piece in loose if piece.name and piece.name != "_"]  # `_ = value` names nothing
        chunk_types = frozenset([piece.chunk_type for piece in loose if piece.chunk_type])
        return _Run(start, end, unit.scope, named, chunk_types)

    def _merged_runs(self, unit: Unit, runs: list[_Run]) -> list[Chunk]:
        """Merge small runs that are close to each other, across the units between them, greedily in order."""
        groups: list[list[_Run]] = []
        size = 0
        bounds = self.bounds
        for run in runs:
            length = run.end - run.start
            near = bool(groups) and run.end - groups[-1][0].start <= MERGE_REACH * bounds.max_bytes
            # A run that is large enough stays alone: merging it would only dilute what it is about.
            small = size < bounds.min_bytes or length < bounds.min_bytes
            if near and small and size + length <= bounds.max_bytes:
                groups[-1].append(run)
                size += length
            else:
                groups.append([run])
                size = length
        return [self._merged(unit, group) for group in groups]

    def _merged(self, unit: Unit, group: list[_Run]) -> Chunk:
        """Return one chunk for a group of runs, with the names in them. Names inside functions are left out."""
        parts = [(run.start, run.end) for run in group]
        names = [] if unit.chunk_type in _CODE else [(run.scope, piece.name) for run in group for piece in run.named]
        if not names:
            scope = next((run.scope for run in group if run.scope), unit.symbol)
            nameless_type = self.grammar.merged_type if scope else ""
            return self._chunk(nameless_type or unit.chunk_type, scope, parts)
        # The type of the names if they agree on one, else that of the container: `A, B` of two constants is a constant.
        chunk_types = frozenset().union(*(run.chunk_types for run in group))
        common_type = next(iter(chunk_types)) if len(chunk_types) == 1 else ""
        if common_type not in _PLURAL and len(names) > 1:
            common_type = ""
        chunk_type = common_type or self.grammar.merged_type or unit.chunk_type
        limit = MAX_SHOWN_NAMES if self.grammar.merged_type else MAX_NAMES
        chunk = self._chunk(chunk_type, join_names(names, self.grammar.separator, limit), parts)
        if self.grammar.merged_type:
            return chunk
        units = [each for run in group for each in self._units(run)]
        if self._has_words_outside(chunk, units):
            # The text between the definitions is a result as well, under the name of what is around it.
            scope = next((run.scope for run in group if run.scope), unit.symbol)
            units.insert(0, ResultUnit(*chunk[:4], unit.chunk_type, scope))
        return chunk._replace(units=tuple(units)) if len(units) > 1 else chunk

    def _units(self, run: _Run) -> list[ResultUnit]:
        """Return the definitions in a run of loose text."""
        units = []
        for piece in run.named:
            start, end = trim(self.data, max(piece.start, run.start), min(piece.stop, run.end))
            if end > start:
                line, last = self.lines.number(start), self.lines.number(end - 1)
                symbol = qualified(run.scope, piece.name, self.grammar.separator)
                units.append(ResultUnit(start, end, line, last, piece.chunk_type, symbol))
        return units

    def _has_words_outside(self, chunk: Chunk, units: list[ResultUnit]) -> bool:
        """Return whether a chunk's own text has words in no unit."""
        at = iter(units)
        unit = next(at, None)
        for start, end in chunk.parts:
            while start < end:
                while unit is not None and unit.end <= start:
                    unit = next(at, None)
                stop = end if unit is None else min(end, max(unit.start, start))
                if _WORD.search(self.data, start, stop):
                    return True
                start = end if unit is None else min(end, max(stop, unit.end))
        return False

    def _trimmed(self, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        trimmed = [trim(self.data, start, end) for start, end in spans]
        return [(start, end) for start, end in trimmed if end > start]

    def _chunk(self, chunk_type: str, symbol: str, parts: list[tuple[int, int]]) -> Chunk:
        number = self.lines.number
        start, end = parts[0][0], parts[-1][1]
        joined = tuple(_joined_parts(self.data, parts)) if len(parts) > 1 else ((start, end),)
        return Chunk(start, end, number(start), number(end - 1), chunk_type, symbol, joined)


def _joined_parts(data: bytes, parts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join sorted parts that overlap or have only white space between them."""
    joined = [parts[0]]
    for start, end in parts[1:]:
        previous, last = joined[-1]
        if start <= last or not has_text(data, last, start):
            joined[-1] = (previous, max(end, last))
        else:
            joined.append((start, end))
    return joined


def _character_start(data: bytes, at: int) -> int:
    """Return the start of the UTF-8 character that contains the byte at `at`."""
    while 0 < at < len(data) and data[at] & 0xC0 == 0x80:
        at -= 1
    return at
