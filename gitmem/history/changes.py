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


_VALUES: Final = ("section", "module", "field", "constant")
"""Chunk types that have a value: tables of configuration files, constants. Others without a body are declarations."""


def compare(older: Version, newer: Version, *, file_moved: bool = False, members: bool = True) -> tuple[str, ...]:
    """Return the kinds of changes between two versions of an element; none if their text and place are the same.

    `file_moved` says that the whole file moved, if the paths differ: else the element left it by itself. With
    `members`, a class changes if one of its members came or went.
    """
    kinds = []
    if older.path != newer.path:
        kinds.append(FILE_MOVE if file_moved else MOVE)
    elif _changed_container(older, newer):
        kinds.append(MOVE)
    if older.element.name != newer.element.name:
        kinds.append(RENAME)
    # A member that came or went may leave the text around it as it was.
    members = members and older.element.holds and newer.element.holds and older.members != newer.members
    # Line endings belong to the file: converting them changes no element.
    if older.text.replace(b"\r\n", b"\n") == newer.text.replace(b"\r\n", b"\n"):
        return (*kinds, BODY) if members else tuple(kinds)
    if not newer.element.symbol:
        return (*kinds, BODY)
    changed = len(kinds)
    differs = {SIGNATURE: older.bare_signature != newer.bare_signature, BODY: older.body != newer.body or members}
    if newer.element.chunk_type in _VALUES and newer.element.body == newer.element.end:
        # Where the grammar marks no body, all of a value counts as its signature, which it does not have.
        differs = {BODY: any(differs.values())}
    kinds += [kind for kind, is_different in differs.items() if is_different]
    if older.comments != newer.comments:
        kinds.append(DOCUMENTATION)
    if len(kinds) == changed and RENAME not in kinds:
        kinds.append(FORMAT)
    return tuple(kinds)


def _changed_container(older: Version, newer: Version) -> bool:
    """Return whether an element left its container. A container that was renamed takes its elements along."""
    before, after = older.container, newer.container
    if before == after:
        return False
    olds = {element.symbol for element in older.source.file.elements}
    news = {element.symbol for element in newer.source.file.elements}
    return before in news or after in olds or not before or not after
