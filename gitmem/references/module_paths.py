"""Whether the module of an import, as it is written, is a file of the tree. Pure but for questions about the tree.

The tail of a path says enough in most languages, and the names that the file defines must also fit. Of project files,
only the names of packages in manifests are used, which the index has. Each rule compares the written module with the
path of a file that is already known to define the name.
"""

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from gitmem.package_names import SOURCE_SET, plain_name, template_name
from gitmem.references.languages import COMPONENT_ENDINGS, KOTLIN_ENDINGS, TEMPLATE_ENDINGS
from gitmem.references.rust_paths import is_root, names_rust_file
from gitmem.references.tree_paths import TreePaths

_ECMA_ENDING: Final = re.compile(r"(?:\.d)?\.(?:[cm]?[jt]sx?|vue|svelte|astro)$")
_ECMA_ALIAS: Final = re.compile(r"^(?:@|~|#|\$lib|src)/")
_MAINS: Final = ("lib/index", "src/index", "lib/main", "src/main", "dist/index")
"""Usual main files of a package, from its folder."""

_NAME_JOINTS: Final = re.compile(r"[-_.]+")
_ECMA_SOURCES: Final = frozenset({"src", "lib", "source"})
_JAVA_LIBRARIES: Final = frozenset({"java", "javax", "jdk", "sun", "kotlin", "android"})
_SOURCE_ROOTS: Final = frozenset("src lib library app test tests source inc includes classes kotlin java".split())
"""Folders below which namespaces begin. Their names do not belong to one."""

_CACHED: Final = 1 << 14
"""Paths that are kept: each module is compared with many files."""

_VERSION: Final = re.compile(r"/v[0-9]+$|\.v[0-9]+$")


def names_file(module: str, path: str, importer: str, family: str, tree: TreePaths) -> bool:
    """Return whether a module, as the file `importer` writes it, is the file at `path` or the package that it is in."""
    if path.endswith(TEMPLATE_ENDINGS):
        return _names_template(module, path, importer)
    rule = _RULES.get(family)
    return rule is None or rule(module, path, importer, tree)


def module_base(module: str, importer: str, family: str) -> str:
    """Return what of the path of a file decides which files a module means that it writes: "" for nothing."""
    if family not in ("javascript", "python"):
        return importer
    return posixpath.dirname(importer) if family == "python" or module.startswith(".") else ""


def may_re_export(module: str, path: str, family: str) -> bool:
    """Return whether a file at a path that a module names can export for it what it imports.

    In Rust this is the root of a crate or module, not any file of it.
    """
    return family != "rust" or is_root(module, path)


def names_part(name: str, path: str) -> bool:
    """Return whether a name before another one is that of a file or its folder, in any spelling: `RackBuilder`."""
    folder, file = posixpath.split(path)
    return plain_name(name) in map(plain_name, (file.partition(".")[0], posixpath.basename(folder)))


def component_of(path: str) -> str:
    """Return the name of the component or template that a file or module defines: `MyPanel` for `my-panel.vue`.

    For other files, return "". See `template_name`.
    """
    if path.endswith(TEMPLATE_ENDINGS):
        return template_name(path)
    stem, ending = posixpath.splitext(posixpath.basename(path))
    if ending not in COMPONENT_ENDINGS:
        return ""
    if stem.lower() == "index" and ending != ".razor":
        stem = posixpath.basename(posixpath.dirname(path))
    return "".join(part[:1].upper() + part[1:] for part in _NAME_JOINTS.split(stem))


def main_export_of(path: str, *, is_class: bool = False) -> str:
    """Return the name that a file or module gives an export without one: `parseHeaders` for `parse-headers.js`."""
    stem = posixpath.basename(path).partition(".")[0]
    if stem == "index":
        stem = posixpath.basename(posixpath.dirname(path))
    first, *others = _NAME_JOINTS.split(stem)
    return "".join(
        (first[:1].upper() + first[1:] if is_class else first, *(each[:1].upper() + each[1:] for each in others))
    )


def _names_template(module: str, path: str, importer: str) -> bool:
    """Compare the path of a template with the end of another one. Rails looks for a bare name in the same folder."""
    folder = posixpath.dirname(importer)
    if module.startswith("."):
        module = posixpath.normpath(posixpath.join(folder, module))
    elif "/" not in module and importer.endswith(".erb"):
        return template_name(module) == template_name(path) and posixpath.dirname(path) == folder
    (*wanted, name), (*folders, own) = module.strip("/").split("/"), path.split("/")
    return template_name(name) == template_name(own) and folders[len(folders) - len(wanted) :] == wanted


def _python(module: str, path: str, importer: str, tree: TreePaths) -> bool:
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
    return not tree.has_path(f"{above}/__init__.py") or (above == posixpath.dirname(importer) and "/" not in tail)


def _ecma(module: str, path: str, importer: str, tree: TreePaths) -> bool:
    """Compare relative paths, aliases of the root, and names of packages with folders."""
    name = _without_ending(path)
    if module.startswith("."):
        wanted = _relative_path(posixpath.dirname(importer), module)
        if _without_ending(wanted) in (name, posixpath.dirname(name) if _is_index(name) else name) or wanted == path:
            return True
        # A folder with a package is its main file.
        folder = f"{wanted}/" if wanted else ""
        is_main = name.startswith(folder) and name[len(folder) :] in _MAINS
        return is_main and not tree.has_path(f"{folder}index.js")
    alias = _ECMA_ALIAS.match(module)
    if alias:
        return _ends_with(name, _without_ending(module[alias.end() :]))
    if module.startswith(("@", "#")) and _ends_with(name, _without_ending(module[1:])):
        return True  # `@constants/keys`, `#client/keys`, as a setting of the compiler or the manifest names the folder
    if module.startswith("#"):
        # The manifest may leave out folders: `#compiler/builders` for `compiler/utils/builders.js`.
        folder, _, rest = module[1:].partition("/")
        return bool(rest) and f"/{folder}/" in f"/{path}" and _ends_with(name, _without_ending(rest))
    parts = module.split("/")
    size = 2 if module.startswith("@") and len(parts) > 1 else 1
    folders = tree.package_folders("/".join(parts[:size]), "package.json")
    if folders:
        is_inside = any(_is_in_package(path, folder) for folder in folders)
    else:
        is_inside = parts[size - 1] in posixpath.dirname(path).split("/")
    rest = "/".join(parts[size:])
    return is_inside and (not rest or ("/" + name).find("/" + _without_ending(rest)) >= 0)


def _ends_with(name: str, wanted: str) -> bool:
    """Return whether the path of a file or its folder ends with another one."""
    return any(("/" + each).endswith("/" + wanted) for each in (name, posixpath.dirname(name)) if each)


def _is_in_package(path: str, folder: str) -> bool:
    """Return whether a file is in a package. The root folder also has those of tests, examples and other packages."""
    if folder:
        return path.startswith(folder + "/")
    return "/" not in path or path.partition("/")[0] in _ECMA_SOURCES


@lru_cache(maxsize=_CACHED)
def _relative_path(folder: str, module: str) -> str:
    """Return the path of a module as a file in a folder writes it, "" for the root of the tree."""
    path = posixpath.normpath(posixpath.join(folder, module))
    return "" if path == "." else path


@lru_cache(maxsize=_CACHED)
def _without_ending(path: str) -> str:
    return _ECMA_ENDING.sub("", path)


def _is_index(name: str) -> bool:
    return posixpath.basename(name) in ("index", "main", "mod")


def _go(module: str, path: str, _importer: str, _tree: TreePaths) -> bool:
    """Compare the import path with a folder; that of the root is known only by the host of a module."""
    folder = posixpath.dirname(path)
    module = _VERSION.sub("", module)
    if folder:
        return module == folder or module.endswith("/" + folder)
    return module.count("/") <= 2 and "." in module.partition("/")[0]


def _java(module: str, path: str, _importer: str, _tree: TreePaths) -> bool:
    """Compare the package, or the class whose static member is imported, with the end of a path.

    Folders of Kotlin leave out the root package by convention.
    """
    parts = module.split(".")
    places = [place.split("/") for place in (posixpath.splitext(path)[0], posixpath.dirname(path)) if place]
    if path.endswith(KOTLIN_ENDINGS) and parts[0] not in _JAVA_LIBRARIES:
        root = SOURCE_SET.match(path)
        *package, file = path[root.end() :].split("/") if root else [""]
        if package:
            inside = package, [*package, posixpath.splitext(file)[0]]
            return any(parts[-len(each) :] == each for each in inside)
        return any(_is_below_root(parts, place) for place in places)
    return any(place[-len(parts) :] == parts for place in places)


def _c(module: str, path: str, _importer: str, _tree: TreePaths) -> bool:
    """Compare a header with a file, or with the source that has its name."""
    name, wanted = posixpath.splitext(path)[0], posixpath.splitext(module.removeprefix("./"))[0]
    while wanted.startswith("../"):
        wanted = wanted[3:]
    return ("/" + name).endswith("/" + wanted) or posixpath.basename(name) == posixpath.basename(wanted)


def _php(module: str, path: str, _importer: str, _tree: TreePaths) -> bool:
    """Compare the end of the namespace with that of the folder. What is above it is a root, as PSR-4 maps one."""
    parts = [part for part in module.lower().replace("\\", ".").split(".") if part]
    folders = [folder for folder in posixpath.dirname(path).lower().split("/") if folder]
    return _is_below_root(parts, folders)


def _end_of_path(module: str, path: str, _importer: str, _tree: TreePaths) -> bool:
    """Compare a package or module, whose file has its name, with the end of a path."""
    return ("/" + posixpath.splitext(path)[0]).endswith("/" + module.replace("::", "/").replace(".", "/"))


def _is_below_root(parts: Sequence[str], folders: Sequence[str]) -> bool:
    """Return whether the ends of a package and a folder are equal up to a source root, or the package is used up."""
    same = 0
    while same < min(len(parts), len(folders)) and parts[-1 - same] == folders[-1 - same]:
        same += 1
    return same in (len(parts), len(folders)) or folders[-1 - same] in _SOURCE_ROOTS


_RULES: Final[Mapping[str, Callable[[str, str, str, TreePaths], bool]]] = {
    "python": _python, "javascript": _ecma, "go": _go, "rust": names_rust_file, "java": _java, "c": _c, "php": _php,
    **dict.fromkeys(("perl", "elm", "purescript", "gleam"), _end_of_path),
}  # fmt: skip
"""Rules by family of languages. In others every module may be every file: names alone decide."""
