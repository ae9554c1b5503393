"""Find the names that a file imports, by statements and by expressions, and the names under which it uses them."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from gitmem.chunking.dynamic_imports import find_dynamic_imports
from gitmem.chunking.grammar import Node
from gitmem.chunking.import_statements import Import, read_imports
from gitmem.chunking.name_spelling import LETTER, MAX_NAME
from gitmem.types import OCCURRENCE_KINDS

_IMPORT: Final = OCCURRENCE_KINDS.index("import")
_ALIAS: Final = OCCURRENCE_KINDS.index("alias")
_LAST_NAME: Final = re.compile(LETTER + rb"+[?!]?$")

_ONE_LINE: Final = frozenset({"kotlin"})
"""Languages whose imports end with their line. The nodes reach up to the next declaration, with its annotations."""

_MAX_IMPORT: Final = 20_000
"""Bytes of a statement of several lines in which the lines of the imported names are looked for."""

_MAX_CACHED: Final = 400
"""Bytes of a statement whose names are kept: the files of a repository import the same modules again and again."""

Name = tuple[int, int, bytes, bytes]
"""Start, kind, text and receiver of a name. A plain tuple, because there are many."""


def find_imported_names(data: bytes, nodes: Iterable[Node], language: str) -> tuple[list[Name], list[tuple[int, int]]]:
    """Return the imported names of a file, and the spans of its import statements. `nodes` may be such statements."""
    names: list[Name] = []
    statements: list[tuple[int, int]] = []
    for start, end in sorted(node.byte_range for node in nodes):
        if language in _ONE_LINE:
            feed = data.find(b"\n", start, end)
            end = feed if feed >= 0 else end
        imports = list(_read_import(data[start:end], language, start))
        # `const app = create("x")` has the form of `const x = require("x")`, but is a call like any other.
        if imports:
            names += imports
            statements.append((start, end))
    # These are in the midst of code, which has names of its own, so they are no statements.
    for start, each in find_dynamic_imports(data, language):
        names += _names_at(start, each)
    return names, statements


def _read_import(statement: bytes, language: str, start: int) -> Iterator[Name]:
    """Yield the names that a statement imports."""
    read = _names_of_import if len(statement) <= _MAX_CACHED else _names_of_import.__wrapped__
    for at, kind, text, module in read(statement, language):
        yield start + at, kind, text, module


@lru_cache(maxsize=1 << 12)
def _names_of_import(statement: bytes, language: str) -> tuple[Name, ...]:
    """Return the names that a statement imports, as if it were a file of its own."""
    text = statement.rstrip()
    is_long = b"\n" in text and len(text) < _MAX_IMPORT
    names: list[Name] = []
    ends: dict[bytes, int] = {}
    for each in read_imports(statement.decode("utf-8", "replace"), language):
        at, own = 0, each.name.encode()[:MAX_NAME]
        if own and is_long:
            # Each name has a line of its own in a long statement, also one that is exported under several names.
            at = _find_word(text, own, ends.get(own, 0))
            ends[own] = at + len(own)
        names += _names_at(at, each)
    return tuple(names)


def _names_at(at: int, imported: Import) -> Iterator[Name]:
    """Yield the imported name at a place, and the one under which the file uses it."""
    own, path = imported.name.encode()[:MAX_NAME], imported.module.encode()[: 2 * MAX_NAME]
    last = _LAST_NAME.search(path.removesuffix(b"/"))
    shown = own or (last[0] if last else path[-MAX_NAME:])
    if shown:
        yield at, _IMPORT, shown, path if own else path + b":"
        if imported.alias and imported.alias != imported.name:
            yield at, _ALIAS, imported.alias.encode()[:MAX_NAME], path + b":" + own


def _find_word(text: bytes, word: bytes, start: int) -> int:
    """Return where a text has a word first from a place on, 0 if nowhere."""
    at = text.find(word, start)
    while at >= 0:
        around = text[max(0, at - 1) : at], text[at + len(word) : at + len(word) + 1]
        if not any(each.replace(b"_", b"a").replace(b"$", b"a").isalnum() for each in around):
            return at
        at = text.find(word, at + 1)
    return 0
