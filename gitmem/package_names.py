"""Names that contain packages, files or classes, as code writes them, compared with places in a tree. Pure."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from gitmem.lazy_pattern import lazy_pattern
from gitmem.named_tuple import NamedTuple

SOURCE_SET: Final = lazy_pattern(
    r"((?:.*?/)??)src/[^/]+/(?:clj[cs]?|clojure|groovy|java|kotlin|proto|scala(?:-[^/]*)?)/"
)
"""Folder of a source set as Maven and Gradle have it, `core/src/main/java/`, behind that of its module."""

_SOURCE_ROOTS: Final = (
    SOURCE_SET,
    lazy_pattern(r"((?:.*/)?)src/(?:(?:main|tests?|java|kotlin|scala|groovy)/)*"),
    lazy_pattern(r"((?:.*?/)??)(?:tests?|java|javatests|kotlin|scala|groovy)/"),
)
"""Folders below which folders are packages of Java or its kin, in the order in which they are tried."""

KEYWORDS: Final = frozenset({"crate", "self", "super"})
"""Words of Rust for a module in place of its name."""


class PackagePlace(NamedTuple):
    """Package of a file by its folders, and the folder of the module around it, "" or with a slash behind."""

    module: str
    package: str


@lru_cache(maxsize=1 << 15)
def package_place(path: str) -> PackagePlace:
    """Return the package of a file of Java or its kin: `shop/time` for `core/src/test/java/shop/time/ClockTest.java`.

    Without a source root in the path, all folders are the package.
    """
    folder, slash, _ = path.rpartition("/")
    root = next((found for pattern in _SOURCE_ROOTS if (found := pattern.match(folder + slash))), None)
    return PackagePlace(root[1], (folder + slash)[root.end() :].rstrip("/")) if root else PackagePlace("", folder)


def is_qualified(path: str, symbol: Sequence[str], wanted: Sequence[str]) -> bool:
    """Return whether a name with its qualifiers is that of a symbol in the file at a path.

    The qualifiers are the classes around it, and before them the end of the path, with the name of the file or without.
    """
    return is_in_file(path, symbol, wanted) or is_in_package(path, symbol, wanted)


def is_in_file(path: str, symbol: Sequence[str], wanted: Sequence[str]) -> bool:
    """Return whether qualifiers are those of a symbol with the name of its file: `celery.app.base.Celery`."""
    return _ends_with([*path.rpartition(".")[0].removesuffix("/__init__").split("/"), *symbol], wanted)


def is_in_package(path: str, symbol: Sequence[str], wanted: Sequence[str]) -> bool:
    """Return whether qualifiers are those of a symbol with the folder of its file: `com.google.gson.Gson`."""
    return _ends_with([*path.split("/")[:-1], *symbol], wanted)


def _ends_with(whole: list[str], wanted: Sequence[str]) -> bool:
    return whole[-len(wanted) :] == list(wanted)


def may_be_exported(path: str, symbol: Sequence[str], wanted: Sequence[str]) -> bool:
    """Return whether a package in the path of a file may export a symbol under a name: `flask.Flask` of `flask/app.py`.

    The qualifiers are all classes around it, and before them some of the folders, in their order.
    """
    packages = wanted[: -len(symbol)]
    folders = iter(map(plain_name, path.rpartition(".")[0].split("/")))
    return tuple(wanted[-len(symbol) :]) == tuple(symbol) and all(
        plain_name(part) in folders for part in packages if part not in KEYWORDS
    )


def plain_name(name: str) -> str:
    """Return a name without regard to case and to how its words are joined: `ContentType` in `content-type.js`."""
    return name.replace("_", "").replace("-", "").lower()


def template_name(path: str) -> str:
    """Return the name of a template by its path, as others write it: "/form" for `stories/_form.html.erb`.

    No name in code begins with a slash.
    """
    stem = path.rpartition("/")[2].lstrip("_").partition(".")[0]
    return "/" + stem if stem else ""
