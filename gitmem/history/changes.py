"""Say what distinguishes two versions of an element. Pure."""

from typing import Final

from gitmem.history.version import Version

INTRODUCED: Final = "introduced"
REMOVED: Final = "removed"
FILE_MOVE: Final = "file move"
MOVE: Final = "move"
RENAME: Final = "rename"
SIGNATURE: Final = "signature"
BODY: Final = "body"
DOCUMENTATION: Final = "documentation"
FORMAT: Final = "format"

KINDS: Final = (INTRODUCED, REMOVED, FILE_MOVE, MOVE, RENAME, SIGNATURE, BODY, DOCUMENTATION, FORMAT)
"""Kinds of changes, in the order in which those of one commit are listed."""


def compare(older: Version, newer: Version, *, file_moved: bool = False) -> tuple[str, ...]:
    """Return the kinds of changes between two versions of an element; none if their text and place are the same.

    `file_moved` says that the whole file moved, if the paths differ: else the element left it by itself.
    """
    kinds = []
    if older.path != newer.path:
        kinds.append(FILE_MOVE if file_moved else MOVE)
    elif _changed_container(older, newer):
        kinds.append(MOVE)
    if older.element.name != newer.element.name:
        kinds.append(RENAME)
    # Line endings belong to the file: converting them changes no element.
    if older.text.replace(b"\r\n", b"\n") == newer.text.replace(b"\r\n", b"\n"):
        return tuple(kinds)
    if not newer.element.symbol:
        return (*kinds, BODY)
    changed = len(kinds)
    if older.bare_signature != newer.bare_signature:
        kinds.append(SIGNATURE)
    if older.body != newer.body:
        kinds.append(BODY)
    if older.comments != newer.comments:
        kinds.append(DOCUMENTATION)
    if len(kinds) == changed and RENAME not in kinds:
        kinds.append(FORMAT)
    return tuple(kinds)


def _changed_container(older: Version, newer: Version) -> bool:
    """Return whether an element left its container. A container that was renamed takes its elements along."""
    before, after = _container(older), _container(newer)
    if before == after:
        return False
    olds = {element.symbol for element in older.source.file.elements}
    news = {element.symbol for element in newer.source.file.elements}
    return before in news or after in olds or not before or not after


def _container(version: Version) -> str:
    """Return the symbol of what holds an element."""
    symbol, name = version.element.symbol, version.element.name
    return symbol[: -len(name)].rstrip(".> ") if symbol.endswith(name) else symbol
