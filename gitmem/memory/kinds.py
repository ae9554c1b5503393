"""The kinds of content a search covers: code, the three kinds of records, and commit messages. Pure."""

from collections.abc import Iterable
from typing import Final

from gitmem.errors import UsageError
from gitmem.memory.record_paths import CONVERSATIONS, DOCUMENTS, NOTES
from gitmem.types import COMMIT, DOCUMENT, NOTE, RECORD_KINDS, TURN

CODE: Final = "code"
FOLDERS: Final = {"documents": DOCUMENTS, "notes": NOTES, "conversations": CONVERSATIONS}
"""Kinds of records, and the folder of each below the memory ref."""

COMMITS: Final = "commits"
_KIND_OF: Final = {DOCUMENT: "documents", NOTE: "notes", TURN: "conversations", COMMIT: COMMITS}
_HEADER_LINES: Final = 2

ALL: Final = "all"
CHOICES: Final = (CODE, *FOLDERS, COMMITS, ALL)
KINDS: Final = CHOICES[:-1]
DEFAULT: Final = (CODE, "documents")
"""Kinds searched by default in the working tree. The others must be asked for: they mention code often."""


def parse_kinds(names: Iterable[str]) -> tuple[str, ...]:
    """Return the kinds of a list of names, without duplicates; `all` means every kind. Raises UsageError."""
    kinds = tuple(dict.fromkeys(names))
    unknown = next((name for name in kinds if name not in CHOICES), None)
    if unknown is not None:
        raise UsageError(f"unknown kind `{unknown}`", hint="kinds: " + ", ".join(CHOICES))
    return KINDS if ALL in kinds else kinds


def kind_of(chunk_type: str) -> str:
    """Return the kind of content that a chunk type belongs to."""
    return _KIND_OF.get(chunk_type, CODE)


def content_line(chunk_type: str, line: int) -> int:
    """Convert a line of a blob to the line a person counts: a record's content begins below its header."""
    return line - _HEADER_LINES if chunk_type in RECORD_KINDS else line
