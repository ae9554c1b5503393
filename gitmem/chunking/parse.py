"""Bytes to a syntax tree, within a time, a depth and some memory. The only module that meets the parser library."""

import mmap
import os
import re
import time
from functools import cache
from typing import Final, cast, get_args

import tree_sitter_language_pack as pack
from tree_sitter import Node, Parser, Tree

_BLOCK: Final = 1 << 12
_SMALL: Final = 1 << 14
_MAX_BYTES: Final = 4 << 20
_MAX_MEMORY: Final = 192 << 20
_TRIAL: Final = 0.3
_TRIAL_BYTES: Final = 0.2
"""Of the time for a parse, and of the bytes: what has not come through a fifth by then would not come to its end, and
its words are still to be counted. Noise is like that, and nothing that anybody wrote."""

_CALLS: Final = 8
"""Of so many calls of the parser one looks at the memory: at each it would be a tenth of the parse."""

_PAGE: Final = mmap.PAGESIZE
_MAX_LINE: Final = 1 << 16
_MAX_DEPTH: Final = 1500
_INDENTED: Final = re.compile(rb"^(?:[ \t]|[-?:] ){120}", re.MULTILINE)
_SHALLOW: Final = frozenset({"yaml"})
"""Grammars whose scanners crash on more nesting than they can store, yet are too useful to give up."""

_SHALLOW_DEPTH: Final = 100

__all__ = ["Node", "UnparsedError", "has_grammar", "language_nodes", "parse_tree"]


class UnparsedError(Exception):
    """No tree; the text says why."""


def has_grammar(name: str) -> bool:
    """Whether the bundled grammars know this name."""
    return name in _names()


def parse_tree(data: bytes, name: str, seconds: float) -> Tree:
    """Parse with the grammar `name`; raise `UnparsedError` for input that would cost more than its worth."""
    if len(data) > _MAX_BYTES:
        raise UnparsedError("too large to parse")
    if len(data) > _MAX_LINE and max(map(len, data.split(b"\n"))) > _MAX_LINE:
        raise UnparsedError("a line too long to parse")
    if _too_deep(data, name):
        raise UnparsedError("nested too deep to parse")
    parser = _parser(name)
    watch = _Watch(seconds, len(data))

    def read(offset: int, _point: object) -> bytes:
        return data[offset : offset + _BLOCK]

    # The callback is ignored for bytes input, hence the reader.
    try:
        tree = parser.parse(read, progress_callback=watch)
    except ValueError:
        tree = None
    finally:
        watch.close()
    if tree is None:
        parser.reset()
        raise UnparsedError(watch.told)
    return tree


class _Watch:
    """Says when a parse shall stop: after some processor time, or when it has taken too much memory.

    Where a grammar leaves much open, the parser follows all that might be meant: a file of 600 KB took 1.1 GB.
    """

    def __init__(self, seconds: float, size: int) -> None:
        started = time.thread_time()
        self._stop = started + seconds
        self._trial = started + _TRIAL * seconds
        self._trial_bytes = int(_TRIAL_BYTES * size)
        self._calls = 0
        self.told = "took too long to parse"
        try:
            self._memory = os.open("/proc/self/statm", os.O_RDONLY)
        except OSError:  # no such file on this system: there time alone bounds it
            self._memory = -1
        self._most = self._pages() + _MAX_MEMORY // _PAGE

    def __call__(self, offset: int, _error: bool) -> bool:
        self._calls += 1
        if self._calls % _CALLS == 0 and self._pages() > self._most:
            self.told = "took too much memory to parse"
            return True
        now = time.thread_time()
        return now > self._stop or (now > self._trial and offset < self._trial_bytes)

    def _pages(self) -> int:
        """Pages of this process that are in memory."""
        return int(os.pread(self._memory, 64, 0).split()[1]) if self._memory >= 0 else 0

    def close(self) -> None:
        if self._memory >= 0:
            os.close(self._memory)


def _too_deep(data: bytes, name: str) -> bool:
    if name in _SHALLOW:
        return _INDENTED.search(data) is not None or _depth(data) > _SHALLOW_DEPTH
    return len(data) > _SMALL and _depth(data) > _MAX_DEPTH


def _depth(data: bytes) -> int:
    """About how many brackets are open at once, looked at in a few places."""
    deepest = depth = 0
    step = max(len(data) // 16, 1)
    for at in range(0, len(data), step):
        part = data[at : at + step]
        depth += sum(part.count(mark) for mark in (b"(", b"[", b"{"))
        depth -= sum(part.count(mark) for mark in (b")", b"]", b"}"))
        deepest = max(deepest, depth)
    return deepest


def language_nodes(name: str) -> list[str]:
    """The names of a grammar's visible, named nodes."""
    language = pack.get_language(cast("pack.SupportedLanguage", name))
    ids = range(language.node_kind_count)
    return [language.node_kind_for_id(i) or "" for i in ids if language.node_kind_is_named(i)]


@cache
def _names() -> frozenset[str]:
    return frozenset(get_args(pack.SupportedLanguage))


@cache
def _parser(name: str) -> Parser:
    return pack.get_parser(cast("pack.SupportedLanguage", name))
