"""Names with the packages, files and classes before them, as code writes them, compared with places in a tree. Pure."""

from collections.abc import Sequence
from typing import Final

KEYWORDS: Final = frozenset({"crate", "self", "super"})
"""Words of Rust for a module in place of its name."""


def is_qualified(path: str, symbol: Sequence[str], wanted: Sequence[str]) -> bool:
    """Return whether a name with its qualifiers is that of a symbol in the file at a path.

    The qualifiers are the classes around it, and before them the end of the path. Where a class has the name of its
    file, the path is that of the package: `com.google.gson.Gson`.
    """
    *folders, stem = path.rpartition(".")[0].removesuffix("/__init__").split("/")
    return any(
        tuple([*around, *symbol][-len(wanted) :]) == tuple(wanted) for around in ((*folders, stem), tuple(folders))
    )


def may_be_exported(path: str, symbol: Sequence[str], wanted: Sequence[str]) -> bool:
    """Return whether a package in the path of a file may export a symbol under a name: `flask.Flask` of `flask/app.py`.

    The qualifiers are all classes around it, and before them some of the folders, in their order.
    """
    packages = wanted[: -len(symbol)]
    folders = iter(map(_plain, path.rpartition(".")[0].split("/")))
    return tuple(wanted[-len(symbol) :]) == tuple(symbol) and all(
        _plain(part) in folders for part in packages if part not in KEYWORDS
    )


def _plain(name: str) -> str:
    return name.replace("-", "_").lower()
