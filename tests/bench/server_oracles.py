"""Oracles that are language servers: clangd for C and C++, intelephense for PHP, sourcekit-lsp for Swift.

They read the headers and libraries that the machine has. What they cannot find is no definition of the repository.
"""

import argparse
import json
import shlex
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.bench.definition_calls import Answer, AskedCall, Place
from tests.bench.language_server import LanguageServer, Symbol, language_server
from tests.bench.subjects import SubjectError

C_ENDINGS: Final = (".c", ".h")
CPP_ENDINGS: Final = (".cc", ".cpp", ".cxx", ".hpp", ".hh", ".h")
_SOURCES: Final = {".c": "c", ".cc": "c++", ".cpp": "c++", ".cxx": "c++"}
_HEADERS: Final = (".h", ".hh", ".hpp")
_STANDARDS: Final = {"c": "-std=gnu11", "c++": "-std=gnu++17"}

_CLASSES: Final = (5, 10, 11, 23)
_MEMBERS: Final = (6, 7, 8, 9, 12)
_CONSTRUCTOR: Final = 9
"""Kinds of symbols in the protocol: classes, enumerations, interfaces and structures; what they hold, and functions."""


def ask_clangd(root: Path, calls: Sequence[AskedCall], options: argparse.Namespace) -> Iterator[Answer]:
    """Yield the definitions that clangd knows once it has compiled all files."""
    with clangd_server(root, next((each.path for each in calls), ""), options) as server:
        # A method is declared in its class and often defined elsewhere: both places are the same method.
        yield from ask_server(server, root, calls, "cpp", ("definition", "declaration"))


@contextmanager
def clangd_server(root: Path, first: str, options: argparse.Namespace) -> Iterator[LanguageServer]:
    """Yield a clangd that has compiled all files of a repository; its index begins with one of them."""
    with tempfile.TemporaryDirectory(prefix="clangd-", dir=root.parent) as folder:
        (Path(folder) / "compile_commands.json").write_text(json.dumps(compile_commands(root)))
        program = shlex.split(options.server or "clangd")
        command = [*program, f"--compile-commands-dir={folder}", "--background-index", "-j=2", "--log=error"]
        with language_server(command, root) as server:
            server.open(first, "cpp")
            server.wait()
            yield server


def compile_commands(root: Path) -> list[dict[str, Any]]:
    """Return a command for each source file, with the folders of all headers and of those above them."""
    files = [path for path in sorted(root.rglob("*")) if path.is_file() and ".git" not in path.parts]
    holding = {path.parent for path in files if path.suffix in _HEADERS}
    roots = [folder for folder in {above for each in holding for above in (each, each.parent)} if root in
             (folder, *folder.parents)]  # fmt: skip
    # Those near the root come first: a library's own headers before the copies in its tests.
    included = [f"-I{folder}" for folder in sorted({root, *roots}, key=lambda each: (len(each.parts), str(each)))]
    return [
        {"directory": str(root), "file": str(path), "arguments": [
            "clang", "-x", language, _STANDARDS[language], "-D_GNU_SOURCE", *included, "-c", str(path)]}
        for path in files if (language := _SOURCES.get(path.suffix))
    ]  # fmt: skip


def ask_intelephense(root: Path, calls: Sequence[AskedCall], options: argparse.Namespace) -> Iterator[Answer]:
    """Yield the definitions that intelephense knows."""
    with intelephense_server(root, options) as server:
        yield from ask_server(server, root, calls, "php", ("definition",))


@contextmanager
def intelephense_server(root: Path, options: argparse.Namespace) -> Iterator[LanguageServer]:
    """Yield an intelephense that has read all files of a repository. Raises: SubjectError."""
    if not options.server:
        raise SubjectError("the oracle needs --server, for example `node .../intelephense/lib/intelephense.js`")
    command = [*shlex.split(options.server), "--stdio"]
    with tempfile.TemporaryDirectory(prefix="intelephense-", dir=root.parent) as folder:
        begin = {"storagePath": folder, "globalStoragePath": folder, "clearCache": True}
        with language_server(command, root, begin) as server:
            server.wait()
            yield server


def ask_sourcekit(root: Path, calls: Sequence[AskedCall], options: argparse.Namespace) -> Iterator[Answer]:
    """Yield the definitions that sourcekit-lsp knows, with all files of the repository in one module."""
    files = [str(path) for path in sorted(root.rglob("*.swift")) if path.name != "Package.swift"]
    command = ["swiftc", "-module-name", "All", "-parse-as-library", "-Onone", *files]
    commands = [{"directory": str(root), "file": path, "arguments": command} for path in files]
    (root / "compile_commands.json").write_text(json.dumps(commands))  # of the clone, which is not indexed again
    program = [*shlex.split(options.server or "sourcekit-lsp"), "--default-workspace-type", "compilationDatabase"]
    with language_server(program, root) as server:
        yield from ask_server(server, root, calls, "swift", ("definition",))


def ask_server(
    server: LanguageServer, root: Path, calls: Sequence[AskedCall], language: str, asked: Sequence[str]
) -> Iterator[Answer]:
    """Yield the definitions of calls: None if the server knows none, or only a variable or parameter."""
    for call in calls:
        server.open(call.path, language)
        places = [each for what in asked for each in server.places(what, call.path, call.line, call.column)]
        inside = [(path.relative_to(root).as_posix(), line) for path, line in places if path.is_relative_to(root)]
        listed = {place for path, line in inside for place in _listed(server.symbols(path, language), path, line)}
        # A place at which the server lists no symbol is a local variable, which `usages` does not list either.
        yield None if not places or (inside and not listed) else listed


def _listed(symbols: Sequence[Symbol], path: str, line: int) -> Iterator[Place]:
    """Yield the place of a definition, and for a constructor that of its class too, which a caller means."""
    for symbol in symbols:
        if symbol.line == line and is_definition(symbol):
            yield path, line
            if symbol.kind == _CONSTRUCTOR or symbol.name == "__construct":
                yield from ((path, each.line) for each in symbol.around[-1:])


def is_definition(symbol: Symbol) -> bool:
    """Return whether a symbol is a class, a member, a function, or a variable outside of functions."""
    is_outside = all(each.kind not in _MEMBERS for each in symbol.around)
    return symbol.kind in (*_CLASSES, *_MEMBERS) or is_outside


SERVER_ORACLES: Final[dict[str, tuple[tuple[str, ...], Callable[..., Iterator[Answer]]]]] = {
    "clangd-c": (C_ENDINGS, ask_clangd),
    "clangd": (CPP_ENDINGS, ask_clangd),
    "intelephense": ((".php",), ask_intelephense),
    "sourcekit": ((".swift",), ask_sourcekit),
}
"""Ends of the names of the files, and the function that answers calls of one repository, by the name of the oracle."""
