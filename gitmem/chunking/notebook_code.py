"""Read the code of a notebook's cell: its language, and its text without the commands of the kernel. Pure."""

import re
from typing import Final

from gitmem.chunking.languages import LANGUAGES

LOOSE: Final = frozenset({"module", "text", "constant", "field", "property"})
"""Types of chunks that are part of a cell, and no definition in it."""

_MAGIC: Final = re.compile(rb"%%(\w+)[^\n]*")
"""First line of a cell that another program runs, such as `%%bash`."""

_MAGIC_LANGUAGES: Final = {"sh": "bash", "script": "bash", "js": "javascript", "python3": "python", "svg": "html",
                           "R": "r", "cython": "python", "bigquery": "sql"}  # fmt: skip
_TRANSPARENT_MAGICS: Final = frozenset({"time", "timeit", "capture", "prun", "writefile", "cython"})
"""Magic names whose cell is in the language of the kernel."""

_LINE_MAGIC: Final = re.compile(rb"^[ \t]*[%!]", re.MULTILINE)


def language_of_cell(text: bytes, language: str) -> str:
    """Return the language of a code cell, given that of the kernel; "" if it is not known."""
    magic = _MAGIC.match(text)
    if magic is None:
        return language
    name = magic[1].decode()
    if name in _TRANSPARENT_MAGICS:
        return language
    name = _MAGIC_LANGUAGES.get(name, name.lower())
    return name if name in LANGUAGES else ""


def without_commands(text: bytes) -> bytes:
    """Return a code cell with the lines that the kernel runs as commands as comments, at the same length.

    The language of the cell does not have them.
    """
    return _LINE_MAGIC.sub(lambda mark: mark[0][:-1] + b"#", text)
