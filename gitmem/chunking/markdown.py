"""Markdown by its headings. A line scanner: headings, fences and front matter are all that matters here."""

import re
from bisect import bisect_right
from typing import Final

from gitmem.chunking.chunk_size import ChunkLimits
from gitmem.chunking.lines import Lines, has_ink, trim
from gitmem.chunking.split import Edge, split_span
from gitmem.types import Chunk

_MAX_SYMBOL: Final = 200
_FRONT: Final = re.compile(rb"(?:\xef\xbb\xbf)?(---|\+\+\+)[ \t]*\r?\n(?:.*\n)*?\1[ \t]*(?:\r?\n|\Z)")
_MARK: Final = re.compile(
    rb"^ {0,3}(?:(?P<hash>#{1,6})(?:[ \t]+(?P<title>[^\n]*?))?[ \t]*\r?$"
    rb"|(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)$"
    rb"|(?P<under>=+|-{2,})[ \t]*\r?$|(?P<html><!--))",
    re.MULTILINE,
)
_TAIL: Final = re.compile(rb"(?:^|[ \t]+)#+$")
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|[*_`]{1,3}([^*_`]+)[*_`]{1,3}|<[^>]+>")


def section_chunks(data: bytes, lines: Lines, limits: ChunkLimits) -> list[Chunk]:
    """One chunk for each heading's own text; a bare heading goes with the section below it."""
    heads, fences = _headings(data)
    del heads[limits.max_chunks :]
    chunks: list[Chunk] = []
    path: list[tuple[int, str]] = []
    pending = -1
    edges = [(at, 0, "") for at in [0]] + heads
    for index, (at, level, title) in enumerate(edges):
        stop = edges[index + 1][0] if index + 1 < len(edges) else len(data)
        if level:
            path = [step for step in path if step[0] < level] + [(level, title)]
        if not has_ink(data, at, stop):
            continue
        start = pending if pending >= 0 else at
        deeper = index + 1 < len(edges) and edges[index + 1][1] > level
        if level and deeper and stop - start < limits.max_bytes // 4 and not _has_body(data, at, stop):
            pending = start
            continue
        pending = -1
        symbol = " > ".join(step[1] for step in path if step[1])[:_MAX_SYMBOL]
        for low, high in split_span(data, start, stop, _edges(fences, start, stop), limits.max_bytes):
            if has_ink(data, low, high):
                low, high = trim(data, low, high)
                line, last = lines.number(low), lines.number(high - 1)
                chunks.append(Chunk(low, high, line, last, "section", symbol, ((low, high),)))
    return chunks


def _headings(data: bytes) -> tuple[list[tuple[int, int, str]], list[Edge]]:
    """(offset, level, title) of every heading outside fences, and where fences start and end."""
    front = _FRONT.match(data)
    at = front.end() if front else 0
    heads: list[tuple[int, int, str]] = []
    fences: list[Edge] = []
    fence = b""
    for found in _MARK.finditer(data, at):
        mark = found["fence"]
        if fence:
            if mark and mark[:1] == fence[:1] and len(mark) >= len(fence) and not found["info"].strip():
                fence = b""
                fences.append((found.end() + 1, 1))
        elif mark:
            if mark[:1] == b"~" or b"`" not in found["info"]:
                fence = mark
                fences.append((found.start(), 1))
        elif found["hash"]:
            heads.append((found.start(), len(found["hash"]), _title(_TAIL.sub(b"", found["title"] or b""))))
        elif found["under"]:
            above = data.rfind(b"\n", at, max(at, found.start() - 1)) + 1
            text = data[max(above, at) : found.start()].strip()
            if text and not text.startswith((b"#", b"-", b"*", b">", b"|", b"<", b"```", b"+")):
                heads.append((max(above, at), 1 if found["under"].startswith(b"=") else 2, _title(text)))
    return heads, fences


def _title(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace").strip()
    return " ".join(_LINK.sub(lambda found: found[1] or found[2] or "", text).split())[:120]


def _has_body(data: bytes, start: int, stop: int) -> bool:
    """Whether anything but the heading itself stands there."""
    first = data.find(b"\n", start, stop)
    return first >= 0 and has_ink(data, first, stop)


def _edges(fences: list[Edge], start: int, stop: int) -> list[Edge]:
    return fences[bisect_right(fences, (start, 99)) : bisect_right(fences, (stop, 0))]
