"""The text that stands for the bytes of a blob, and how large a blob may be. Loads nothing that few blobs need."""

from typing import Final

from gitmem.commit import commit_text
from gitmem.types import COMMIT, NOTEBOOK_LANGUAGE
from gitmem.words import utf8_text

MAX_NOTEBOOK_BYTES: Final = 64 << 20
"""Maximum size of a notebook with its outputs. Without them it may have the size of any other file."""

MAX_GROWTH: Final = 2
"""Bytes of a text in UTF-8 for each byte of its blob, at most: letters of Latin-1 beyond ASCII take two."""


def text_of(data: bytes, language: str) -> bytes:
    """Return the text of a blob of a language: that of the cells of a notebook, else all of it, in UTF-8.

    Offsets of chunks are those in this text.
    """
    if language == COMMIT:
        return utf8_text(commit_text(data))
    if language != NOTEBOOK_LANGUAGE:
        return utf8_text(data)
    from gitmem.chunking.notebook import read_notebook

    notebook = read_notebook(data)
    return utf8_text(data) if notebook is None else notebook.text


def read_limit(language: str, limit: int) -> int:
    """Return the maximum size of a blob that is read, for a language and the maximum size of texts."""
    return max(limit, MAX_NOTEBOOK_BYTES) if language == NOTEBOOK_LANGUAGE else limit


def fit_blob(data: bytes, language: str, limit: int) -> bytes | None:
    """Return a blob of a language within the maximum size of texts, None if it is larger.

    A larger notebook is returned without its outputs, which changes neither its text nor its lines.
    """
    if len(data) <= limit:
        return data
    if language != NOTEBOOK_LANGUAGE:
        return None
    from gitmem.chunking.notebook import without_outputs

    reduced = without_outputs(data)
    return reduced if reduced is not None and len(reduced) <= limit else None
