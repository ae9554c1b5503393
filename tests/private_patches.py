"""Find the tests that replace a private name: such a test breaks with every change inside a module.

If a file computes the name that it replaces, all private names among its texts count. The methods of protocols
(`__enter__`) are public, but not the internals of a function (`__defaults__`).
"""

import ast
from collections.abc import Iterator
from pathlib import Path

PATCHERS = frozenset({"setattr", "delattr", "object", "patch"})
"""Functions that replace an attribute: of `monkeypatch`, of `unittest.mock`, and the built-in ones."""

OWN = frozenset({"self", "cls"})
INTERNALS = frozenset({"__defaults__", "__kwdefaults__", "__code__", "__closure__", "__globals__"})


def find_private_patches(folder: Path) -> list[str]:
    """Return `file:line: name` of each private name that a Python file of the folder replaces."""
    return [
        f"{file.relative_to(folder)}:{line}: {name}"
        for file in sorted(folder.rglob("*.py"))
        for line, name in sorted(_iter_patches(ast.parse(file.read_bytes())))
    ]


def _iter_patches(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _function_name(node.func) in PATCHERS:
            name = _replaced_name(node.args)
            names = [name] if name else _texts(tree)
            yield from ((node.lineno, name) for name in names if _is_private(name))
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and _is_private(node.attr):
            owner = node.value
            if not (isinstance(owner, ast.Name) and owner.id in OWN):
                yield node.lineno, node.attr


def _function_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _replaced_name(arguments: list[ast.expr]) -> str:
    """Return the replaced name: the last part of a dotted first argument, or else the second; "" if it is computed."""
    for argument in arguments[:2]:
        last = argument.values[-1] if isinstance(argument, ast.JoinedStr) and argument.values else argument
        if isinstance(last, ast.Constant) and isinstance(last.value, str):
            return last.value.rpartition(".")[2]
        if last is not argument:
            return ""
    return ""


def _texts(tree: ast.Module) -> list[str]:
    """Return the last part of each text that is an identifier or a dotted name."""
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return sorted({text.rpartition(".")[2] for text in texts if text.replace(".", "").isidentifier()})


def _is_private(name: str) -> bool:
    return name in INTERNALS or (name.startswith("_") and not name.startswith("__"))
