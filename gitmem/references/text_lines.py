"""Find the lines that have a name which is recorded nowhere on them: comments, documents, settings and strings.

They complete the usages that the syntax of the code shows. The postings of the search know which files may have such
lines, so few files are read. A name there may mean anything, so only names that are no ordinary word are looked for
unless somebody asks.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

from gitmem.references.file_names import CLASS, CODES, FUNCTION, Definition, FileNames
from gitmem.references.tree_names import Names
from gitmem.references.usage import Usage
from gitmem.words import find_identifiers, split_identifier

MAX_FILES: Final = 200
"""Files with the words of a name in which lines of text are looked for."""

_FILES_AT_ONCE: Final = 20
_KIND: Final = "text"
_BOUND: Final = CODES["bound"]
_MAX_COUNT: Final = 255
"""Frequencies of a term are stored up to this one."""

ReadLines = Callable[[Collection[int]], Mapping[int, Sequence[bytes]]]
"""Returns the lines of some files."""


def is_distinctive(name: str) -> bool:
    """Return whether a name has several parts or a capital, so that a text with it is likely to mean it."""
    return name[:1].isupper() or sum(len(split_identifier(each)) for each in find_identifiers(name)) > 1


def find_text_lines(
    names: Names,
    targets: Sequence[Definition],
    name: str,
    spelling: str,
    read_lines: ReadLines,
    is_minor: Callable[[FileNames], bool],
) -> tuple[list[Usage], list[str]]:
    """Return the lines of text with a name, and a note if files were left out.

    Text has the `spelling`, which may begin with other names. Each line may mean any of the definitions of that name.
    Those that are left out are in files that are minor, such as translations, before others.
    """
    near = {each.entry for each in targets}
    counts = names.word_counts(spelling)
    if len(counts) > MAX_FILES:
        counts.sort(key=lambda count: (count[0] not in near, is_minor(names.file(count[0])), count[0]))
    in_words = spelling != name
    files = [entry for entry, most in counts[:MAX_FILES] if in_words or _may_have_more(names.file(entry), name, most)]
    has_members = any(each.kind == CLASS for each in targets)
    meanings = len(names.definitions(name)) if targets else 0
    usages = [
        Usage(entry, number, _KIND, ".".join(names.file(entry).scopes.at(number)), _KIND, meanings)
        # The lines of all files could take hundreds of megabytes.
        for first in range(0, len(files), _FILES_AT_ONCE)
        for entry, lines in read_lines(files[first : first + _FILES_AT_ONCE]).items()
        for number in _new_lines(names.file(entry), lines, name, spelling, has_members=has_members)
    ]
    cut = f"lines of text are those of {MAX_FILES} of {len(counts):,} files with the words of the name"
    return usages, [cut] if len(counts) > MAX_FILES else []


def _may_have_more(file: FileNames, name: str, most: int) -> bool:
    """Return whether a file has a name more often than it is recorded there; `most` is how often it has its words."""
    # One at a place may also be the variable whose type the place shows.
    places = file.occurrences.find(name.encode())
    recorded = int((file.occurrences.kinds[places] != _BOUND).sum())
    return most >= _MAX_COUNT or most > recorded


def _new_lines(
    file: FileNames, lines: Sequence[bytes], name: str, spelling: str, *, has_members: bool
) -> Iterator[int]:
    """Yield the lines that have a name as a whole word and are in no function that uses the name on a recorded line.

    Neither is a line that defines a member of a class of that name.
    """
    text = spelling.encode()
    word = re.compile(rb"(?<![\w$-])" + re.escape(text) + rb"(?![\w$-])")
    known = set(file.occurrences.lines[file.occurrences.find(name.encode())].tolist())
    around = {scope for line in known if (scope := file.scopes.at(line)) and _is_function(file, scope)}
    if has_members:
        known.update(each.line for each in file.all_definitions() if name in each.container)
    # Nearly all lines are without the name, and the expression is slower than the search for its text.
    for number, line in enumerate(lines, 1):
        if text in line and number not in known and word.search(line):
            scope = file.scopes.at(number)
            if not any(scope[:size] in around for size in range(1, len(scope) + 1)):
                yield number


def _is_function(file: FileNames, scope: tuple[str, ...]) -> bool:
    return any(each.kind == FUNCTION and each.container == scope[:-1] for each in file.definitions(scope[-1]))
