"""Find the definitions that a user or another part names: by name with qualifiers, or by lines of a file."""

import re
from collections.abc import Sequence
from typing import Final

from gitmem.package_names import is_in_file, is_in_package, may_be_exported
from gitmem.references.file_names import Definition
from gitmem.references.languages import QUALIFIED_IN_FOLDER, REEXPORTING
from gitmem.references.scopes import split_name
from gitmem.references.tree_names import Names
from gitmem.store.occurrences import ANY_ROLE

_BLOCKS: Final = {"variable": ("var",), "locals": ("local",), "resource": ()}
"""Names that references of Terraform have instead of the type of a block, with which symbols begin."""

_COLON: Final = re.compile(r"(?<=\w):(?=\w)")
"""Joint of Erlang and Lua."""


def read_name(names: Names, text: str) -> tuple[tuple[str, ...], str]:
    """Return the names before a name, as users and symbols write it, and the name itself.

    A name with joints, such as `data.frame` of R, counts as a whole if some file of the tree has it.
    """
    *qualifiers, name = split_name(_COLON.sub(".", text)) or ("",)
    is_whole = bool(qualifiers) and len(names.entries(text, ANY_ROLE)) > 0
    return ((), text) if is_whole else (tuple(qualifiers), name)


def find_definitions(names: Names, name: str, qualifiers: Sequence[str]) -> list[Definition]:
    """Return the definitions of a name with the qualifiers before it: classes, and packages, files or folders."""
    definitions = names.definitions(name)
    if not qualifiers:
        return definitions
    wanted = (*qualifiers, name)
    as_referred = (*_BLOCKS.get(wanted[0], wanted[:1]), *wanted[1:-1])

    def fits(definition: Definition) -> bool:
        file = names.file(definition.entry)
        symbol = *definition.container, name
        return (
            is_in_file(file.path, symbol, wanted)
            or (file.family not in REEXPORTING and is_in_package(file.path, symbol, wanted))
            or (file.family in QUALIFIED_IN_FOLDER and definition.container == as_referred)
        )

    return [each for each in definitions if fits(each)] or [
        each
        for each in definitions
        if (file := names.file(each.entry)).family in REEXPORTING
        and may_be_exported(file.path, (*each.container, name), wanted)
    ]


def component_at(names: Names, entry: int) -> Definition | None:
    """Return the component that a file defines as a whole, None for other files."""
    file = names.file(entry)
    return file.definitions(file.component)[0] if file.component else None


def definition_at(names: Names, entry: int, first: int, last: int, symbol: str = "") -> Definition | None:
    """Return the definition at some lines of a file: that of a symbol there, else the first, else the one around."""
    file = names.file(entry)
    wanted = (symbol, *split_name(symbol)[-1:])
    starts = [each for each in file.all_definitions() if first <= each.line <= last]
    named = [each for each in starts if each.name in wanted]
    if named or starts:
        return (named or starts)[0]
    around = file.scopes.at(first)
    while around:
        own = [each for each in file.definitions(around[-1]) if each.container == around[:-1]]
        if own:
            return max((each for each in own if each.line <= last), default=own[0], key=lambda each: each.line)
        around = around[:-1]
    return None
