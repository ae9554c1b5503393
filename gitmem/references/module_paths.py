"""Whether the module of an import, as it is written, is a file of the tree. Pure but for the existence of paths.

No language server's project files are read: the tail of a path says enough, and the names that the file defines must
also fit. Each rule compares the written module with the path of a file that is already known to define the name.
"""

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

HasPath = Callable[[str], bool]

_ECMA_ENDING: Final = re.compile(r"(?:\.d)?\.(?:[cm]?[jt]sx?|vue|svelte|astro)$")
_ECMA_ALIAS: Final = re.compile(r"^(?:@|~|#|\$lib|src)/")
_MAINS: Final = ("lib/index", "src/index", "lib/main", "src/main", "dist/index")
"""Usual main files of a package, from its folder."""

_RUST_LIBRARIES: Final = frozenset({"std", "core", "alloc", "proc_macro"})
_CRATE: Final = re.compile(r"(?:^|/)(?:src|tests|examples|benches)/")
_JAVA_LIBRARIES: Final = frozenset({"java", "javax", "jdk", "sun", "kotlin", "android"})
_SOURCE_ROOTS: Final = frozenset("src lib library app test tests source inc includes classes kotlin java".split())
"""Folders below which namespaces begin. Their names do not belong to one."""

_VERSION: Final = re.compile(r"/v[0-9]+$|\.v[0-9]+$")


def names_file(module: str, path: str, importer: str, family: str, has_path: HasPath) -> bool:
    """Return whether a module, as the file `importer` writes it, is the file at `path` or the package that it is in."""
    rule = _RULES.get(family)
    return rule is None or rule(module, path, importer, has_path)


def names_part(name: str, path: str) -> bool:
    """Return whether a name before another one is that of a file or its folder, in any spelling: `RackBuilder`."""
    plain = name.replace("_", "").replace("-", "").lower()
    folder, file = posixpath.split(path)
    parts = (file.partition(".")[0], posixpath.basename(folder))
    return plain in (part.replace("_", "").replace("-", "").lower() for part in parts)


def _python(module: str, path: str, importer: str, has_path: HasPath) -> bool:
    """Compare dotted modules. The folder above the first package is none itself, as `sys.path` has it."""
    name = path.removesuffix("i").removesuffix(".py").removesuffix("/__init__")
    if name == "__init__":
        name = ""
    relative = module.lstrip(".")
    if relative != module:
        folder = posixpath.dirname(importer)
        for _ in range(len(module) - len(relative) - 1):
            folder = posixpath.dirname(folder)
        return name == posixpath.join(folder, relative.replace(".", "/")).strip("/")
    tail = module.replace(".", "/")
    if name == tail:
        return True
    if not name.endswith("/" + tail):
        return False
    above = name[: -len(tail) - 1]
    return not has_path(f"{above}/__init__.py") or (above == posixpath.dirname(importer) and "/" not in tail)


def _ecma(module: str, path: str, importer: str, has_path: HasPath) -> bool:
    """Compare relative paths, aliases of the root, and names of packages with folders."""
    name = _without_ending(path)
    if module.startswith("."):
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(importer), module))
        if _without_ending(wanted) in (name, posixpath.dirname(name) if _is_index(name) else name) or wanted == path:
            return True
        # A folder with a package is its main file.
        return name in (posixpath.join(wanted, main) for main in _MAINS) and not has_path(f"{wanted}/index.js")
    alias = _ECMA_ALIAS.match(module)
    if alias:
        wanted = _without_ending(module[alias.end() :])
        return any(("/" + each).endswith("/" + wanted) for each in (name, posixpath.dirname(name)) if each)
    package, _, rest = _split_package(module)
    folders = posixpath.dirname(path).split("/")
    return package in folders and (not rest or ("/" + name).find("/" + _without_ending(rest)) >= 0)


def _split_package(module: str) -> tuple[str, str, str]:
    parts = module.split("/")
    size = 2 if module.startswith("@") and len(parts) > 1 else 1
    return parts[size - 1], "/", "/".join(parts[size:])


def _without_ending(path: str) -> str:
    return _ECMA_ENDING.sub("", path)


def _is_index(name: str) -> bool:
    return posixpath.basename(name) in ("index", "main", "mod")


def _go(module: str, path: str, _importer: str, _has_path: HasPath) -> bool:
    """Compare the import path with a folder; that of the root is known only by the host of a module."""
    folder = posixpath.dirname(path)
    module = _VERSION.sub("", module)
    if folder:
        return module == folder or module.endswith("/" + folder)
    return module.count("/") <= 2 and "." in module.partition("/")[0]


def _rust(module: str, path: str, importer: str, _has_path: HasPath) -> bool:
    """Compare the last component with the file or its folder; a crate's own root is any file of its source folder."""
    head = module.replace("::", ".").partition(".")[0]
    if head in _RUST_LIBRARIES or (head == "crate" and _crate(path) != _crate(importer)):
        return False
    parts = [part for part in module.replace("::", ".").split(".") if part not in ("crate", "self")]
    stem = path.removesuffix(".rs").removesuffix("/mod").removesuffix("/lib").removesuffix("/main")
    if not parts:
        return _crate(path) == _crate(importer)
    if set(parts) == {"super"}:
        return posixpath.dirname(stem) == posixpath.dirname(posixpath.dirname(importer)) or (
            posixpath.dirname(path) == posixpath.dirname(importer)
        )
    last = parts[-1]
    if posixpath.basename(stem) == last or last.replace("_", "-") in _crate(path).split("/"):
        return True
    # A module re-exports what is in its files.
    return last in posixpath.dirname(stem).split("/")


def _crate(path: str) -> str:
    match = _CRATE.search(path)
    return path[: match.start()] if match else ""


def _java(module: str, path: str, _importer: str, _has_path: HasPath) -> bool:
    """Compare the package, or the class whose static member is imported, with the end of a path.

    Folders of Kotlin leave out the root package by convention.
    """
    parts = module.split(".")
    places = [place.split("/") for place in (posixpath.splitext(path)[0], posixpath.dirname(path)) if place]
    if path.endswith((".kt", ".kts")) and parts[0] not in _JAVA_LIBRARIES:
        return any(_is_below_root(parts, place) for place in places)
    return any(place[-len(parts) :] == parts for place in places)


def _c(module: str, path: str, _importer: str, _has_path: HasPath) -> bool:
    """Compare a header with a file, or with the source that has its name."""
    name, wanted = posixpath.splitext(path)[0], posixpath.splitext(module.removeprefix("./"))[0]
    while wanted.startswith("../"):
        wanted = wanted[3:]
    return ("/" + name).endswith("/" + wanted) or posixpath.basename(name) == posixpath.basename(wanted)


def _php(module: str, path: str, _importer: str, _has_path: HasPath) -> bool:
    """Compare the end of the namespace with that of the folder. What is above it is a root, as PSR-4 maps one."""
    parts = [part for part in module.lower().replace("\\", ".").split(".") if part]
    folders = [folder for folder in posixpath.dirname(path).lower().split("/") if folder]
    return _is_below_root(parts, folders)


def _perl(module: str, path: str, _importer: str, _has_path: HasPath) -> bool:
    """Compare a package with the end of a path."""
    return ("/" + posixpath.splitext(path)[0]).endswith("/" + module.replace("::", "/"))


def _is_below_root(parts: Sequence[str], folders: Sequence[str]) -> bool:
    """Return whether the ends of a package and a folder are equal up to a source root, or the package is used up."""
    same = 0
    while same < min(len(parts), len(folders)) and parts[-1 - same] == folders[-1 - same]:
        same += 1
    return same in (len(parts), len(folders)) or folders[-1 - same] in _SOURCE_ROOTS


_RULES: Final[Mapping[str, Callable[[str, str, str, HasPath], bool]]] = {
    "python": _python, "javascript": _ecma, "go": _go, "rust": _rust, "java": _java, "c": _c, "php": _php,
    "perl": _perl,
}  # fmt: skip
"""Rules by family of languages. In others every module may be every file: names alone decide."""
