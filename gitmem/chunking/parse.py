"""Parse bytes within bounds of time, depth and memory. The only module that imports the parser library.

tree-sitter recovers from any syntax error, so bytes that are not code parse too, at a cost without bound. The scanners
of some grammars crash on deep nesting. Hence the checks before a parse and during it.
"""

import mmap
import os
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Final, cast, get_args

import tree_sitter_language_pack as pack
from tree_sitter import Node, Parser, Query, QueryCursor, QueryError, Tree

from gitmem.chunking.annotation_macros import with_commented_annotations
from gitmem.chunking.attribute_macros import without_attribute_macros
from gitmem.chunking.c_conditions import without_inner_conditions
from gitmem.chunking.chunk_size import DEFAULT_BOUNDS
from gitmem.chunking.conditional_lines import without_conditions
from gitmem.chunking.described_heads import with_test_functions
from gitmem.chunking.grammar import UnparsedError
from gitmem.chunking.item_macros import without_item_macros
from gitmem.chunking.kotlin_heads import with_plain_heads
from gitmem.chunking.macro_comments import without_macro_comments
from gitmem.chunking.objective_cpp import with_plain_cpp
from gitmem.chunking.swift_forms import with_plain_forms

_BLOCK: Final = 1 << 12
_BLOCKS: Final = 16
"""The parser gets whole blocks of bytes, at most so many at once, and last the rest."""

_FIRST: Final = 256
_GROWTH: Final = 4
"""Bytes that the parser gets after it has gone back, and by how much more it gets each time that it goes on."""

# Bounds that hold before a parse.
_MAX_LINE: Final = 1 << 16
"""Longer lines are minified or generated: their parse costs much and gives no useful units."""

_MAX_DEPTH: Final = 1500
_DEPTH_EXEMPT: Final = 1 << 14
"""Blobs up to this size are parsed however deep they are nested."""

_SHALLOW: Final = frozenset({"yaml"})
"""Grammars whose scanners crash on more nesting than they can store, yet are too useful to give up."""

_SHALLOW_DEPTH: Final = 100
_LINED: Final = frozenset({"perl"})
"""Grammars whose scanners hang on a word before a comment that ends the text, without a line feed."""

_ASCII_ONLY: Final = frozenset({"bash", "d", "gn", "odin", "v"})
"""Grammars whose scanners look up the class of a character in a table that ends with Latin-1: others crash at times."""

_TO_ASCII: Final = bytes(range(128)) + b"." * 128
_INDENTED: Final = re.compile(rb"^(?:[ \t]|[-?:] ){120}", re.MULTILINE)

# Bounds that hold during a parse.
_TRIAL_SECONDS: Final = 0.3
"""Share of the allowed time after which progress is checked."""

_TRIAL_BYTES: Final = 0.2
"""Share of the bytes that must be parsed by then. A slower parse would not finish in time, and the words of the blob
must still be counted. Random bytes are that slow, hand-written text never."""

_PAUSE: Final = 0.002
"""Seconds between two looks at processor time and memory. A look at each call, every 200 bytes or so, would take a
fifth of the parse. Elapsed time costs little to read, and processor time never passes faster."""

_PAGE: Final = mmap.PAGESIZE
_monotonic: Final = time.monotonic

_ROW: Final = re.compile(r"\brow (\d+)")
"""Row of a text of patterns in an error of the library, from zero."""

_MATCHES: Final = 1 << 12
"""Matches of a query that are under way at once. Hand-written code has a few at a time."""

__all__ = [
    "Node",
    "Query",
    "UnparsedError",
    "adapted",
    "capture",
    "find_nodes",
    "find_query",
    "find_usable_query",
    "has_grammar",
    "language_nodes",
    "parse_tree",
]


def has_grammar(name: str) -> bool:
    """Return whether the bundled grammars include this language."""
    return name in _names()


def parse_tree(data: bytes, name: str, seconds: float, memory: int = DEFAULT_BOUNDS.parse_memory) -> Tree:
    """Parse with the grammar `name` in at most `seconds` of processor time and `memory` bytes.

    Any number of threads may parse at a time. Raises UnparsedError for input that would exceed the bounds, or does.
    """
    if len(data) > _MAX_LINE and max(map(len, data.split(b"\n"))) > _MAX_LINE:
        raise UnparsedError("a line too long to parse")
    if _too_deep(data, name):
        raise UnparsedError("nested too deep to parse")
    # Taking from and adding to a list are atomic, so no lock can be held by another thread when the process is forked.
    try:
        tools = _idle_tools.pop()
    except IndexError:
        tools = _ParseTools()
    parser = tools.parser(name)
    watch = _Watch(seconds, memory, len(data))

    # The library ignores the progress callback if the input is bytes, hence the reader.
    reader = _Reader(data, adapted(data, name), tools)
    try:
        tree = parser.parse(reader.read, progress_callback=watch.stops)
    except ValueError:
        tree = None
    finally:
        watch.close()
        reader.parsing = False
    if tree is None:
        parser.reset()  # else the next parse would resume this one
    _idle_tools.append(tools)
    if tree is None:
        raise UnparsedError(watch.reason)
    return tree


def adapted(data: bytes, grammar: str) -> bytes:
    """Return the bytes that a parser gets for a text: as many, safe for its scanner, and perhaps a line feed."""
    parsed = with_commented_annotations(without_attribute_macros(data, grammar), data, grammar)
    parsed = without_inner_conditions(parsed, data, grammar)
    parsed = without_macro_comments(parsed, data, grammar)
    parsed = with_plain_heads(parsed, data, grammar)
    for change in (without_conditions, without_item_macros, with_test_functions, with_plain_forms, with_plain_cpp):
        parsed = change(parsed, grammar)
    if grammar in _ASCII_ONLY:
        parsed = parsed.translate(_TO_ASCII)
    if grammar in _LINED and not data.endswith(b"\n"):
        parsed += b"\n"
    return parsed


class _ParseTools:
    """Parsers, and the buffer of their input, for one parse at a time."""

    def __init__(self) -> None:
        self._parsers: dict[str, Parser] = {}
        self._buffer = memoryview(bytearray(_BLOCK * _BLOCKS))
        self._views: dict[int, memoryview] = {}

    def parser(self, name: str) -> Parser:
        """Return the parser of a grammar."""
        parser = self._parsers.get(name)
        if parser is None:
            parser = self._parsers[name] = pack.get_parser(cast("pack.SupportedLanguage", name))
        return parser

    def view(self, size: int) -> memoryview:
        """Return the first bytes of the buffer: the length of what is handed over is that of the view."""
        view = self._views.get(size)
        if view is None:
            view = self._views[size] = self._buffer[:size]
        return view


_idle_tools: Final[list[_ParseTools]] = []
"""Tools that no thread uses: as many as there ever were parses at a time."""


class _Reader:
    """Source of a parse that hands all bytes over in one buffer.

    py-tree-sitter 0.26.1 never releases its reference to the object that a read callback returns. Slices of the
    input would stay in memory for good: 2 MB of Scala, whose scanner makes it read each block hundreds of times, cost
    700 MB. References to an object that is used again cost nothing. The parser needs a block only until its next call.
    """

    __slots__ = ("_ahead", "_data", "_end", "_parsed", "_start", "_tools", "_view", "parsing")

    def __init__(self, data: bytes, parsed: bytes, tools: _ParseTools) -> None:
        """The parser gets `parsed` for `data`: as many bytes, and perhaps some behind them."""
        self._data = data
        self._parsed = parsed
        self._tools = tools
        self._start, self._end = -1, 0
        self._view = tools.view(0)
        self._ahead = _BLOCK * _BLOCKS
        self.parsing = True
        """Whether the parser calls. The tree calls as well, for the text of a node, and crashes on other than bytes."""

    def read(self, offset: int, _point: object) -> memoryview | bytes:
        """Return the bytes from `offset` on, as many as are likely to be read; nothing at the end."""
        if not self.parsing:
            return self._data[offset : offset + _BLOCK * _BLOCKS]
        if offset == self._start:  # nine in ten reads of Scala, each for the column of a token; the buffer still has it
            return self._view
        # As a file system reads ahead: a scanner that asks for the column goes back to the start of the line, at every
        # token, and needs little more than that line. Only a parser that goes on gets larger and larger blocks.
        self._ahead = min(_GROWTH * self._ahead, _BLOCK * _BLOCKS) if offset == self._end else _FIRST
        block = self._parsed[offset : offset + self._ahead]
        size = len(block)
        if size > _BLOCK and size % _BLOCK:
            # Few lengths are possible, because their views stay for good.
            size -= size % _BLOCK
            block = block[:size]
        self._start, self._end = offset, offset + size
        view = self._tools.view(size)
        view[:] = block
        self._view = view
        return view


class _Watch:
    """Progress callback that stops a parse after too much processor time or memory.

    tree-sitter is a generalised LR parser. It follows all readings of ambiguous text at once: a file of 600 KB took
    1.1 GB.
    """

    def __init__(self, seconds: float, memory: int, size: int) -> None:
        started = time.thread_time()
        self._stop = started + seconds
        self._trial = started + _TRIAL_SECONDS * seconds
        self._trial_bytes = int(_TRIAL_BYTES * size)
        self._next = _monotonic() + _PAUSE
        self.reason = "took too long to parse"
        self._memory = memory
        self._max_pages = 0
        """Resident pages of the process beyond which the parse stops; 0 until the first look."""

        self._statm = -1

    def stops(self, offset: int, _error: bool) -> bool:
        """Return whether to stop. `offset` is the number of bytes parsed."""
        elapsed = _monotonic()
        if elapsed < self._next:
            return False
        self._next = elapsed + _PAUSE
        if self._exceeds_memory():
            self.reason = "took too much memory to parse"
            return True
        now = time.thread_time()
        return now > self._stop or (now > self._trial and offset < self._trial_bytes)

    def _exceeds_memory(self) -> bool:
        """Return whether the process has grown too much since the first look, which most parses end before."""
        if not self._max_pages:
            # Systems without procfs limit only the time.
            with suppress(OSError):
                self._statm = os.open("/proc/self/statm", os.O_RDONLY)
            self._max_pages = self._pages() + self._memory // _PAGE
        return self._pages() > self._max_pages

    def _pages(self) -> int:
        """Return the number of resident pages of this process, 0 if unknown."""
        return int(os.pread(self._statm, 64, 0).split()[1]) if self._statm >= 0 else 0

    def close(self) -> None:
        """Close the file that memory is read from."""
        if self._statm >= 0:
            os.close(self._statm)


def _too_deep(data: bytes, name: str) -> bool:
    if name in _SHALLOW:
        return _INDENTED.search(data) is not None or _depth(data) > _SHALLOW_DEPTH
    return len(data) > _DEPTH_EXEMPT and _depth(data) > _MAX_DEPTH


def _depth(data: bytes) -> int:
    """Estimate the maximum number of open brackets from the balance after each sixteenth of the text.

    Counting per part is fast because `bytes.count` runs in C. It misses nesting that opens and closes within one part,
    and counts brackets in strings.
    """
    deepest = depth = 0
    step = max(len(data) // 16, 1)
    for at in range(0, len(data), step):
        part = data[at : at + step]
        depth += sum(part.count(mark) for mark in (b"(", b"[", b"{"))
        depth -= sum(part.count(mark) for mark in (b")", b"]", b"}"))
        deepest = max(deepest, depth)
    return deepest


def language_nodes(name: str) -> list[str]:
    """Return the names of a grammar's visible, named node types."""
    language = pack.get_language(cast("pack.SupportedLanguage", name))
    ids = range(language.node_kind_count)
    return [language.node_kind_for_id(i) or "" for i in ids if language.node_kind_is_named(i)]


def find_nodes(root: Node, name: str, types: frozenset[str]) -> list[Node]:
    """Return all nodes of some named types below a node, by start, of the grammar `name`.

    The library searches by itself: visiting each node from Python takes longer than the parse.
    """
    query = _query(name, types)
    if query is None:
        return []
    nodes = [node for nodes in QueryCursor(query).captures(root).values() for node in nodes]
    return sorted(nodes, key=lambda node: (node.start_byte, -node.end_byte))


@cache
def _query(name: str, types: frozenset[str]) -> Query | None:
    """Return the query for those of the types that the grammar has; None if it has none."""
    known = sorted(types.intersection(language_nodes(name)))
    language = pack.get_language(cast("pack.SupportedLanguage", name))
    return Query(language, f"[{' '.join(f'({each})' for each in known)}] @node") if known else None


def find_query(name: str, source: str) -> Query | None:
    """Compile patterns of a grammar's nodes; return None if one of them cannot occur in it."""
    try:
        return Query(pack.get_language(cast("pack.SupportedLanguage", name)), source)
    except QueryError:
        return None


def find_usable_query(name: str, patterns: Sequence[str]) -> Query | None:
    """Compile those of some patterns, each a line, that can occur in a grammar; return None if there is none.

    The library names the row of the first pattern that cannot, which costs less than to compile each by itself.
    """
    rest = list(patterns)
    language = pack.get_language(cast("pack.SupportedLanguage", name))
    while rest:
        try:
            return Query(language, "\n".join(rest))
        except QueryError as problem:
            row = _ROW.search(str(problem))
            if row is None:
                raise
            del rest[int(row[1])]
    return None


def capture(query: Query, root: Node, end: int) -> tuple[dict[str, list[Node]], bool]:
    """Return the nodes that a query captures, by the names of the captures, up to a byte; and whether these are all."""
    cursor = QueryCursor(query, match_limit=_MATCHES)
    cursor.set_byte_range(0, end)
    captures = cursor.captures(root)
    return captures, not cursor.did_exceed_match_limit


@cache
def _names() -> frozenset[str]:
    return frozenset(get_args(pack.SupportedLanguage))
