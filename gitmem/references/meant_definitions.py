"""Find the definitions that the references on some lines of a file mean, as a declaration or an import does."""

import re
from itertools import islice
from typing import Final

import numpy as np

from gitmem.arrays import is_among
from gitmem.references.direct_usages import DirectUsages
from gitmem.references.file_names import CODES, Definition
from gitmem.references.resolution import Resolver
from gitmem.references.tree_names import Names
from gitmem.types import DEFINING

_RANKS: Final = tuple(CODES[kind] for kind in ("call", "decorator", "import", "alias", "base", "name", "read", "type"))
"""Kinds of references, the most telling ones first. A prototype, `Item *find(Cart *cart)`, has types
as well."""

_MENTION: Final = CODES["name"]

_WORD: Final = re.compile(r"[\w$]+")


def name_at(names: Names, entry: int, line: int, text: str, column: int) -> str:
    """Return the name at a column of a line, from 1, or right before it. It may be more than a word, as `empty?`.

    Returns the word there if none is recorded, "" outside of words.
    """
    file = names.file(entry)
    recorded = {each.name for each in file.all_definitions() if each.line == line}
    on_line = np.flatnonzero(file.occurrences.lines == line).tolist()
    recorded.update(each.name.decode("utf-8", "replace") for each in file.occurrences.at(on_line))
    patterns = [re.compile(_whole(name)) for name in recorded if name]
    for texts in ([found for pattern in patterns for found in pattern.finditer(text)], _WORD.finditer(text)):
        at_column = [each for each in texts if each.start() < column <= each.end() + 1]
        if at_column:
            return max(at_column, key=lambda each: (column <= each.end(), len(each[0])))[0]
    return ""


def _whole(name: str) -> str:
    """Return a pattern of a name as a whole word."""
    before, after = (r"\b" if edge.isalnum() or edge == "_" else "" for edge in (name[0], name[-1]))
    return before + re.escape(name) + after


def meant_at(names: Names, entry: int, first: int, last: int, word: str = "") -> dict[str, list[Definition]]:
    """Return the definitions that references on some lines mean, by their names.

    With a word, only references by that name count, and a definition on the lines means itself. Without one, those of
    the most telling kind.
    """
    file = names.file(entry)
    occurrences = file.occurrences
    own = [each for each in file.all_definitions() if word and each.name == word and first <= each.line <= last]
    if own:
        return {word: own}
    # Only names on the lines are resolved, as those in the whole file are for usages.
    direct = DirectUsages(names, Resolver(names), lambda: None)
    on_lines = (occurrences.lines >= first) & (occurrences.lines <= last) & (occurrences.kinds >= DEFINING)
    references = occurrences.at(np.flatnonzero(on_lines & is_among(occurrences.kinds, np.array(_RANKS))).tolist())
    by_kind: dict[int, dict[str, list[Definition]]] = {}
    for name in dict.fromkeys(each.name.decode("utf-8", "replace") for each in references):
        for reference, resolution in direct.references(file, name) if word in ("", name) else ():
            if first <= reference.line <= last and resolution.definitions:
                definitions = by_kind.setdefault(reference.kind, {}).setdefault(name, [])
                definitions += (each for each in resolution.definitions if each not in definitions)
    best = next((kind for kind in _RANKS if kind in by_kind), None)
    if best is None:
        return {}
    # Behind the name of a prototype stand those of its parameters.
    return dict(islice(by_kind[best].items(), 1 if best == _MENTION else None))
