"""Find the statements that import a file as a whole, or something of it: by its path, not by the names that it defines.

An import says a path in the way of its language. It has the name of the file, or of the folder if the file is the main
one of a folder or package, so the postings of the search know which files may have one. Where that name is all that
fits, as of `#include "config.h"` in another folder, the import is found by name alone.
"""

import posixpath
import re
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from gitmem.arrays import is_among
from gitmem.references.file_names import CODES, FileNames
from gitmem.references.tree_names import Names
from gitmem.references.usage import MAX_FILES, Usage, unique_lines

_MAINS: Final = frozenset("__init__ __main__ index mod lib main".split())
"""Names of files that stand for their folder."""

_BY_NAME: Final = frozenset({"java", "php"})
"""Families whose imports name a class, with the name of its file, behind its package."""

_WITH_RULES: Final = frozenset({"python", "javascript", "go", "rust", "perl", "elm", "purescript", "gleam"})
"""Families whose modules are compared with paths. In others, the end of a module is the name of a file."""

_JOINTS: Final = {"python": ".", "rust": "::"}
"""What stands between a module and a name in it that may be a file."""

_ALIAS: Final = CODES["alias"]
_IMPORTS: Final = np.array((CODES["import"], _ALIAS))
_ALIASED_FOLDER: Final = re.compile(r"@([\w-]+)/")
"""Beginning of a module of JavaScript below a folder with another name in imports: `@queries/servers`."""

_WORDS: Final = re.compile(r"[^\w-]+")


def find_importers(
    names: Names, path: str, tree: int, check: Callable[[], None] = lambda: None
) -> tuple[list[Usage], list[str]]:
    """Return the imports of the file at a path of a tree, and a note if files were left out.

    `check` is called for every file and raises to cancel. Raises DamagedFile.
    """
    word = module_word(path)
    counts = names.word_counts(word)
    usages: list[Usage] = []
    for entry, _ in counts[:MAX_FILES]:
        check()
        file = names.file(entry)
        for line, rule in _importing_lines(names, file, path, tree, word):
            usages.append(Usage(entry, line, "import", ".".join(file.scopes.at(line)), rule, 1))
    left = len(counts) - MAX_FILES
    return unique_lines(usages), [f"{left:,} of {len(counts):,} files were not read"] if left > 0 else []


def name_in_text(path: str) -> str:
    """Return how text names a file: that of a folder or package not by its own name alone."""
    folder, name = posixpath.split(path)
    return f"{posixpath.basename(folder)}/{name}" if folder and _stem(name) in _MAINS else name


def module_word(path: str) -> str:
    """Return the word by which imports name a file: a package of Go is its folder."""
    folder, name = posixpath.split(path)
    is_folder = name.endswith(".go") or _stem(name) in _MAINS
    return posixpath.basename(folder) if is_folder and folder else _stem(name)


def _stem(name: str) -> str:
    return name.partition(".")[0]


def _importing_lines(names: Names, file: FileNames, path: str, tree: int, word: str) -> Iterator[tuple[int, str]]:
    """Yield the first line of the imports from each module that is the file at a path, and how it was found."""
    modules: set[str] = set()
    occurrences = file.occurrences
    for each in occurrences.at(np.flatnonzero(is_among(occurrences.kinds, _IMPORTS)).tolist()):
        receiver, name = (part.decode("utf-8", "replace") for part in (each.receiver, each.name))
        if each.kind == _ALIAS:
            module, _, name = receiver.rpartition(":")
        elif receiver.endswith(":"):
            module, name = receiver[:-1], ""  # the whole module
        else:
            module = receiver
        if module not in modules and is_import_of(names, file, module, name, path, tree, word):
            modules.add(module)
            is_sure = file.family in _WITH_RULES | _BY_NAME or _ends_there(module, path, file.path)
            yield each.line, "import" if is_sure else "name"


def _ends_there(module: str, path: str, importer: str) -> bool:
    """Return whether a path in an import leads from its file to the other, or ends it with a folder."""
    near = posixpath.normpath(posixpath.join(posixpath.dirname(importer), module))
    ends = path, posixpath.splitext(path)[0]
    return near in ends or ("/" in module and any(f"/{end}".endswith(f"/{module}") for end in ends))


def is_import_of(names: Names, file: FileNames, module: str, name: str, path: str, tree: int, word: str) -> bool:
    """Return whether an import of a name of a module, "" for the whole, imports the file at a path or is in it."""

    def names_path(module: str) -> bool:
        return names.names_path(module, file, path, tree)

    words = _WORDS.split(module)
    # A rule accepts the whole package of a class, and of C the source with a header.
    if file.family in _BY_NAME:
        return word in (name, words[-1]) and names_path(module)
    if file.family == "c":
        return posixpath.basename(module) == posixpath.basename(path) and names_path(module)
    if file.family not in _WITH_RULES:
        return posixpath.basename(module).partition(".")[0] == word and file.tree == tree
    # Names decide in other answers, so the rule takes any package with a folder of its name.
    alias = _ALIASED_FOLDER.match(module) if file.family == "javascript" else None
    if alias and alias[1] not in path.split("/"):
        return False
    if word in words and names_path(module):
        return True
    # `from shop import cart` and `use crate::cart` name a file by the name that is imported.
    joint = _JOINTS.get(file.family)
    return joint is not None and name == word and names_path(module + joint.removeprefix(module[-1:]) + name)
