"""Qualified names in the symbols of chunks: `A.b, c` defines `A.b` and `A.c`; headings are qualified by ` > `. Pure."""

from collections.abc import Sequence
from typing import Final

from gitmem.types import CHUNK_TYPES

_EXTENSION: Final = CHUNK_TYPES.index("impl")  # `extension` in Swift, `impl` in Rust
_METHOD: Final = CHUNK_TYPES.index("method")
TYPES: Final = frozenset({"class", "interface", "struct", "enum", "trait", "type"})
"""Types of chunks that have members."""

_UNTELLING: Final = frozenset(("default", "main", "this"))


def fold(name: str) -> str:
    """Return a name without underscores and hyphens."""
    return name.replace("_", "").replace("-", "")


def own_name(symbol: str) -> str:
    """Return the first name of a symbol, without its containers."""
    return symbol.split(", ", 1)[0].rsplit(".", 1)[-1].rsplit(" > ", 1)[-1]


def telling_name(symbol: str) -> str:
    """Return the first name of a symbol; with the part before it if that is the type of a resource.

    In Terraform most resources of a module are called `this` or `main`: `aws_launch_template.this`. A destructor tells
    nothing: its name is that of the class.
    """
    name = own_name(symbol)
    if name.startswith("~"):
        return ""
    if name in _UNTELLING:
        around, _, _ = symbol.split(", ", 1)[0].rpartition(".")
        resource = around.rpartition(".")[2]
        return f"{resource}.{name}" if "_" in resource else name
    return name


def qualified_names(symbol: str) -> list[tuple[str, ...]]:
    """Return each name of a symbol in its parts; the container of the first also holds the others (`A.b, c`)."""
    first, *others = (
        tuple(part for part in name.replace(" > ", ".").split(".") if part) for name in symbol.split(", ")
    )
    return [first, *(first[:-1] + name for name in others)]


def last_parts(symbol: str) -> list[str]:
    """Return the last part of each name of a symbol."""
    return [name.replace(" > ", ".").rstrip(".").rpartition(".")[2] for name in symbol.split(", ")]


def has_name(symbol: str, name: Sequence[str]) -> bool:
    """Return whether a name of a symbol ends with another, which is in lower case and has no underscores."""
    return any(
        tuple(fold(part.lower()) for part in parts[-len(name) :]) == tuple(name) for parts in qualified_names(symbol)
    )


def defines_own_name(parts: Sequence[str], chunk_type: int) -> bool:
    """Return whether a chunk is what the last part of its qualified name names; `chunk_type` indexes CHUNK_TYPES.

    A constructor or destructor (`Ring.Ring`, `Ring.~Ring`) has the name of its class. An extension has that of a type
    that is defined elsewhere.
    """
    if chunk_type == _METHOD:
        return len(parts) < 2 or parts[-1].removeprefix("~") != parts[-2]
    return chunk_type != _EXTENSION
