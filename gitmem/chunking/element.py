"""Element of a blob: a definition with its exact span (`elements` finds them). Without the modules that parse."""

from typing import Final

from gitmem.named_tuple import NamedTuple
from gitmem.types import NOTEBOOK_LANGUAGE


class Element(NamedTuple):
    """A definition. Offsets are bytes of `text_with_elements`, half-open; lines are 1-based and inclusive.

    `start` includes the comments above, `code` excludes them, `body` is the end of the signature. Without a body it
    equals `end`. `name` is the last component of `symbol`. `holds` says whether the definitions inside are elements of
    their own, as in a class: then only the remaining text belongs to this one.
    """

    symbol: str
    name: str
    chunk_type: str
    start: int
    code: int
    body: int
    end: int
    first_line: int
    last_line: int
    holds: bool


ANONYMOUS: Final = "new "
"""Begins the part of a symbol that stands for an anonymous class, before the name of its supertype."""


def is_in_anonymous_class(symbol: str) -> bool:
    """Return whether a symbol is that of a member of an anonymous class: `Menu.open.new Runnable.run`."""
    return f".{ANONYMOUS}" in symbol


class FileElements(NamedTuple):
    """Elements of a blob by start, the longest first, and the spans of its comments. Empty without syntax."""

    elements: list[Element]
    comments: list[tuple[int, int]]


NO_ELEMENTS: Final = FileElements([], [])


def text_with_elements(data: bytes, language: str) -> bytes:
    """Return the text of a blob in which its elements are: that of the cells of a notebook, else all of it."""
    if language != NOTEBOOK_LANGUAGE:
        return data
    from gitmem.chunking.notebook import plain_text, read_notebook

    notebook = read_notebook(data)
    return data if notebook is None else plain_text(notebook)
