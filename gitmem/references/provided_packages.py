"""Packages that a tree provides to other repositories, by the names that their imports begin with. Pure.

Each ecosystem has one row: Python, Java and their kin name packages by folders, the others in a manifest. An import of
another repository is exact, while `module_paths` compares modules inside of one tree by the ends of paths.
"""

import json
import posixpath
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from gitmem.named_tuple import NamedTuple
from gitmem.package_names import package_place

_PYTHON_MANIFESTS: Final = ("pyproject.toml", "setup.cfg", "setup.py")
MANIFESTS: Final = frozenset({*_PYTHON_MANIFESTS, "package.json", "go.mod", "Cargo.toml"})
"""Files in which packages are named."""

SOURCES: Final = (".py", ".pyi", ".java", ".kt", ".kts", ".scala", ".groovy")
"""Ends of files whose folders name packages."""

_GO_MODULE: Final = re.compile(r"^module\s+\"?([^\s\"]+)", re.MULTILINE)
_JVM_ENDING: Final = re.compile(r"\.(?:java|kts?|scala|groovy)$")
_ECMA_ENDING: Final = re.compile(r"(?:\.d)?\.(?:[cm]?[jt]sx?|vue|svelte|astro)$")
_PYTHON_ENDING: Final = re.compile(r"(?:/__init__)?\.pyi?$")


class Package(NamedTuple):
    """Package under the name that imports begin with. For Python `folder` is the one above it, else its own."""

    name: str
    folder: str


class _Ecosystem(NamedTuple):
    """How a family of languages names packages.

    `read` returns them from all paths and the texts of manifests. `fits` says whether a file at a path is the module
    that is `rest` inside of a package. `beside` are files next to the importer that an import means first.
    """

    separator: str
    read: Callable[[Sequence[str], Mapping[str, str]], Iterable[Package]]
    fits: Callable[[Package, str, str], bool]
    beside: tuple[str, ...] = ()


class ProvidedPackages:
    """Packages of one tree."""

    def __init__(self, paths: Sequence[str], manifests: Mapping[str, str]) -> None:
        """`paths` are those of files that others may import, `manifests` the texts of MANIFESTS by path."""
        self._packages: dict[str, dict[str, list[Package]]] = {}
        for family, ecosystem in _ECOSYSTEMS.items():
            named = self._packages.setdefault(family, {})
            for package in dict.fromkeys(ecosystem.read(paths, manifests)):
                named.setdefault(package.name, []).append(package)

    @property
    def families(self) -> frozenset[str]:
        """Families of languages of which there are packages."""
        return frozenset(family for family, named in self._packages.items() if named)

    def provides(self, module: str, family: str) -> bool:
        """Return whether a module, as an import writes it, is in a package of this tree."""
        return bool(self._find(module, family))

    def names_file(self, module: str, path: str, family: str) -> bool:
        """Return whether a module of this tree, as another repository imports it, is the file at a path."""
        return any(_ECOSYSTEMS[family].fits(package, rest, path) for package, rest in self._find(module, family))

    def _find(self, module: str, family: str) -> list[tuple[Package, str]]:
        """Return the packages of the longest name with which a module begins, and what follows that name."""
        ecosystem = _ECOSYSTEMS.get(family)
        if ecosystem is None or module.startswith("."):
            return []
        separator = ecosystem.separator
        parts = module.replace("::", ".").split(separator)
        for size in range(len(parts), 0, -1):
            packages = self._packages[family].get(separator.join(parts[:size]))
            if packages is not None:
                return [(package, separator.join(parts[size:])) for package in packages]
        return []


class TreePackages(NamedTuple):
    """Packages of a tree, and the number of manifests that were not read."""

    provided: ProvidedPackages
    omitted: int


def is_beside(module: str, importer: str, family: str, has_path: Callable[[str], bool]) -> bool:
    """Return whether a module is a file next to the one that imports it, or below the root of its tree.

    Then it means no other repository.
    """
    ecosystem = _ECOSYSTEMS.get(family)
    if ecosystem is None:
        return False
    inside = module.replace("::", ".").replace(".", "/")
    folder = posixpath.dirname(importer)
    places = (posixpath.join(folder, inside.partition("/")[0]), posixpath.join(folder, inside), inside)
    return any(has_path(place + ending) for place in places for ending in ecosystem.beside)


def _read_python(paths: Sequence[str], manifests: Mapping[str, str]) -> Iterator[Package]:
    """Yield the topmost packages, folders of code below `src`, and modules that the manifest above them names."""
    modules = [path for path in paths if path.endswith((".py", ".pyi"))]
    packages = {posixpath.dirname(path) for path in modules if posixpath.basename(path).startswith("__init__.py")}
    for path in modules:
        folder, file = posixpath.split(path)
        above, name = posixpath.split(folder)
        if folder in packages:
            if folder and above not in packages:
                yield Package(name, above)
                yield from _namespaces(above, name)
        elif posixpath.basename(above) == "src":
            yield Package(name, above)
        # Most single modules are scripts, which nobody imports from elsewhere.
        elif _is_named(file.partition(".")[0], above if name in ("src", "lib") else folder, manifests):
            yield Package(file.partition(".")[0], folder)


def _is_named(module: str, folder: str, manifests: Mapping[str, str]) -> bool:
    """Return whether a manifest of Python in a folder has the name of a module as a word."""
    texts = (manifests.get(posixpath.join(folder, file)) for file in _PYTHON_MANIFESTS)
    return any(text is not None and re.search(rf"\b{re.escape(module)}\b", text) for text in texts)


def _namespaces(above: str, name: str) -> Iterator[Package]:
    """Yield a package under its name with the namespaces above it: all folders below a source root."""
    parts = above.split("/") if above else []
    first = max((place + 1 for place, part in enumerate(parts) if part in ("src", "lib")), default=0)
    if first < len(parts):
        yield Package(".".join((*parts[first:], name)), "/".join(parts[:first]))


def _is_python(package: Package, rest: str, path: str) -> bool:
    inside = [*package.name.split("."), *(rest.split(".") if rest else ())]
    return _PYTHON_ENDING.sub("", path) == posixpath.join(package.folder, *inside)


def _read_ecma(_paths: Sequence[str], manifests: Mapping[str, str]) -> Iterator[Package]:
    for path, text in _named(manifests, "package.json"):
        try:
            value: Any = json.loads(text)
        except (ValueError, RecursionError):
            continue  # others cannot install it either
        if isinstance(value, dict) and isinstance(value.get("name"), str):
            yield Package(value["name"], posixpath.dirname(path))


def _is_ecma(package: Package, rest: str, path: str) -> bool:
    # The manifest names built files, which are rarely committed. So any file of the package may export the name.
    inside = "/" + _ECMA_ENDING.sub("", path)
    return _is_below(path, package.folder) and (not rest or f"/{_ECMA_ENDING.sub('', rest)}" in inside)


def _read_go(_paths: Sequence[str], manifests: Mapping[str, str]) -> Iterator[Package]:
    for path, text in _named(manifests, "go.mod"):
        module = _GO_MODULE.search(text)
        if module is not None:
            yield Package(module[1], posixpath.dirname(path))


def _is_go(package: Package, rest: str, path: str) -> bool:
    return posixpath.dirname(path) == posixpath.join(package.folder, rest).rstrip("/")


def _read_rust(_paths: Sequence[str], manifests: Mapping[str, str]) -> Iterator[Package]:
    for path, text in _named(manifests, "Cargo.toml"):
        try:
            value = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError):
            continue
        # The library may have another name than the package.
        tables = [table for table in (value.get("lib"), value.get("package")) if isinstance(table, dict)]
        name = next((table["name"] for table in tables if isinstance(table.get("name"), str)), "")
        if name:
            yield Package(name.replace("-", "_"), posixpath.dirname(path))


def _is_rust(package: Package, rest: str, path: str) -> bool:
    # A crate re-exports what is in its modules, and a module may be inside of a file.
    last = rest.rpartition(".")[2]
    return _is_below(path, package.folder) and (not last or last in path.removesuffix(".rs").split("/"))


def _read_jvm(paths: Sequence[str], _manifests: Mapping[str, str]) -> Iterator[Package]:
    for path in paths:
        package = package_place(path).package
        if package and _JVM_ENDING.search(path):
            yield Package(package.replace("/", "."), posixpath.dirname(path))


def _is_jvm(package: Package, rest: str, path: str) -> bool:
    folder, file = posixpath.split(path)
    # Only Java requires that a file has the name of its class.
    return folder == package.folder and (
        not rest or not file.endswith(".java") or file.partition(".")[0] == rest.partition(".")[0]
    )


def _named(manifests: Mapping[str, str], name: str) -> Iterator[tuple[str, str]]:
    return ((path, text) for path, text in manifests.items() if posixpath.basename(path) == name)


def _is_below(path: str, folder: str) -> bool:
    return not folder or path.startswith(folder + "/")


_ECOSYSTEMS: Final[Mapping[str, _Ecosystem]] = {
    "python": _Ecosystem(".", _read_python, _is_python, (".py", "/__init__.py")),
    "javascript": _Ecosystem("/", _read_ecma, _is_ecma),
    "go": _Ecosystem("/", _read_go, _is_go),
    "rust": _Ecosystem(".", _read_rust, _is_rust, (".rs", "/mod.rs")),
    "java": _Ecosystem(".", _read_jvm, _is_jvm),
}
"""Ecosystems by family of languages. Other families import nothing from other repositories."""
