"""The files of several languages, and how each is divided into layers."""

from collections.abc import Callable, Mapping
from typing import Final

from gitmem.chunking.components import divide_component
from gitmem.chunking.embedded_code import divide_razor, divide_tagged
from gitmem.chunking.layers import Layer
from gitmem.chunking.perl_documentation import divide_perl

_DIVIDERS: Final[Mapping[str, Callable[[bytes, str], list[Layer]]]] = {
    "vue": divide_component,
    "svelte": divide_component,
    "astro": divide_component,
    "perl": divide_perl,
    "erb": divide_tagged,
    "ejs": divide_tagged,
    "razor": divide_razor,
}
LAYERED: Final = frozenset(_DIVIDERS)
"""Languages whose files have text in other languages."""


def divide_file(data: bytes, language: str) -> list[Layer]:
    """Return the layers of a file, that of its own language first. `language` is one of `LAYERED`."""
    return _DIVIDERS[language](data, language)
