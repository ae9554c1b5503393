"""Which file a path of modules in Rust means: of a crate, or behind the words `crate`, `self` and `super`. Pure.

A file is a module by its path below `src`. Modules inside of files, and those that others export again, have no path.
So a file is accepted if its module is related to the one that is meant, and `closeness` says which one to prefer.
"""

import posixpath
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from gitmem.package_names import KEYWORDS
from gitmem.references.tree_paths import TreePaths

_LIBRARIES: Final = frozenset({"std", "core", "alloc", "proc_macro"})
_CRATE: Final = re.compile(r"(?:^|/)(src|tests|examples|benches)/")
_ROOTS: Final = frozenset({"lib", "main", "mod"})

_Modules = tuple[str, ...]


def names_rust_file(module: str, path: str, importer: str, tree: TreePaths) -> bool:
    """Return whether a module, as the file `importer` writes it, is the file at `path` or a module around it."""
    words = _words(module)
    if not words or set(words) == {"crate"}:
        return _crate(path) == _crate(importer)
    if words[0] in _LIBRARIES:
        return False
    stem = path.removesuffix(".rs").split("/")
    if words[0] in KEYWORDS:
        return _crate(path) == _crate(importer) and (
            any(_is_related(_modules(path), wanted) for wanted in _wanted(words, importer)) or words[-1] in stem
        )
    folders = _crate_folders(words[0], tree)
    if folders and not _has_module(words[0], importer, tree):
        is_inside = any(_is_library(path, folder) for folder in folders)
        return is_inside and (len(words) == 1 or words[-1] in stem)
    # A module re-exports what is in its files.
    return words[-1] in _whole_modules(path) or words[-1].replace("_", "-") in _crate(path).split("/")


def closeness(module: str, path: str, importer: str) -> int:
    """Return 0 if a module is the file at a path, 1 if one is inside of the other, 2 else."""
    modules = _modules(path)
    wanted = list(_wanted(_words(module), importer))
    if modules in wanted:
        return 0
    return 1 if any(_is_related(modules, each) for each in wanted) else 2


def is_below(path: str, of_path: str) -> bool:
    """Return whether a file is inside of the module of another one, and so sees what is private there."""
    modules = _modules(of_path)
    return _crate(path) == _crate(of_path) and _modules(path)[: len(modules)] == modules


def is_above(module: str) -> bool:
    """Return whether a module is one around the file that writes it: `super`, `crate`."""
    return set(_words(module)) <= KEYWORDS


def module_files(module: str, importer: str) -> Iterator[str]:
    """Yield the paths of the files that a module in the crate of the file `importer` may be."""
    match = _CRATE.search(importer)
    for modules in _wanted(_words(module), importer):
        path = importer[: match.end() if match else 0] + "/".join(modules)
        yield from (f"{path}.rs", f"{path}/mod.rs")


def is_root(module: str, path: str) -> bool:
    """Return whether a file is the root of a crate or module, which can export what it imports: `pub use`."""
    stem = posixpath.basename(path).removesuffix(".rs")
    return stem in _ROOTS or [stem] == _words(module)[-1:]


def _words(module: str) -> list[str]:
    return [word for word in module.replace("::", ".").split(".") if word]


def _wanted(words: list[str], importer: str) -> Iterator[_Modules]:
    """Yield the modules, from the root of the crate, that a path in a file may mean."""
    own = _modules(importer)
    above = sum(word == "super" for word in words)
    inside = tuple(word for word in words if word not in KEYWORDS)
    if words[:1] == ["crate"]:
        yield inside
    elif words and words[0] in KEYWORDS:
        yield own[: max(0, len(own) - above)] + inside
        if above:  # from a module inside of the file: `mod tests`
            yield own[: max(0, len(own) - above + 1)] + inside
    else:
        yield from (own + inside, inside, inside[1:])


def _is_related(one: _Modules, other: _Modules) -> bool:
    size = min(len(one), len(other))
    return one[:size] == other[:size]


@lru_cache(maxsize=1 << 12)
def _modules(path: str) -> _Modules:
    """Return the module of a file from the root of its crate."""
    match = _CRATE.search(path)
    *folders, stem = path[match.end() if match else 0 :].removesuffix(".rs").split("/")
    return tuple(folders) if stem in _ROOTS else (*folders, stem)


def _whole_modules(path: str) -> list[str]:
    """Return the parts of a path that may be modules, those above the crate as well."""
    *folders, stem = path.removesuffix(".rs").split("/")
    return folders if stem in _ROOTS else [*folders, stem]


def _crate_folders(name: str, tree: TreePaths) -> list[str]:
    """Return the folders of the crates with a name. Manifests may write it with hyphens."""
    spellings = dict.fromkeys((name, name.replace("_", "-")))
    return [folder for spelling in spellings for folder in tree.package_folders(spelling, "Cargo.toml")]


def _has_module(name: str, importer: str, tree: TreePaths) -> bool:
    """Return whether there is a module next to a file, or below it, that hides the crate of that name."""
    folders = (posixpath.dirname(importer), importer.removesuffix(".rs"))
    return any(tree.has_path(posixpath.join(folder, name + end)) for folder in folders for end in (".rs", "/mod.rs"))


def _is_library(path: str, folder: str) -> bool:
    """Return whether a file belongs to the library of the crate in a folder."""
    match = _CRATE.search(path)
    if match is None:  # a manifest may name any file
        return bool(folder) and path.startswith(folder + "/")
    return match[1] == "src" and path[: match.start()] == folder


def _crate(path: str) -> str:
    match = _CRATE.search(path)
    return path[: match.start()] if match else ""
