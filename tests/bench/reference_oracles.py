"""Oracles for the lines that refer to a definition: services that list references, and type checkers.

A type checker only says what a name means. It is asked for every occurrence of a definition's name: those that mean
the definition refer to it.
"""

import argparse
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from gitmem.named_tuple import NamedTuple
from tests.bench.definition_calls import AskedCall
from tests.bench.definition_oracles import ask_go, ask_java, ask_typescript
from tests.bench.language_server import LanguageServer
from tests.bench.rust_pages import ask_rustdoc
from tests.bench.server_oracles import clangd_server, intelephense_server, is_definition
from tests.bench.subjects import git

Lines = set[tuple[str, int]]
"""Paths with numbers."""

_MODIFIERS: Final = r"(?:(?:public|protected|private|static|final|abstract|synchronized|default|native|readonly) )*"


class AskedName(NamedTuple):
    """Name that a line defines."""

    place: AskedCall
    name: str


class ReferenceOracle(NamedTuple):
    """Patterns of its files, the start of a line that defines the name in one of its groups, and who answers."""

    files: tuple[str, ...]
    definition: re.Pattern[str]
    answer: Callable[[Path, Sequence[AskedName], Sequence[str], argparse.Namespace], Iterable[Lines]]


def _ask_jedi(
    root: Path, names: Sequence[AskedName], _files: Sequence[str], _options: argparse.Namespace
) -> Iterator[Lines]:
    import jedi  # an extra

    project = jedi.Project(str(root))
    for place, _ in names:
        try:
            script = jedi.Script(path=str(root / place.path), project=project)
            found = script.get_references(place.line, place.column, scope="project")
        except Exception:  # jedi fails on some code; it is no oracle there
            found = []
        inside = [each for each in found if each.module_path and Path(each.module_path).is_relative_to(root)]
        yield {
            (Path(each.module_path).relative_to(root).as_posix(), each.line)
            for each in inside
            if not each.is_definition()
        }


def _ask_typescript(
    root: Path, names: Sequence[AskedName], _files: Sequence[str], options: argparse.Namespace
) -> Iterator[Lines]:
    for lines in ask_typescript(root, [each.place for each in names], options, "references"):
        yield lines or set()


def _ask_checker(checker: Callable[..., Iterable[set[tuple[str, int]] | None]]) -> Callable[..., Iterator[Lines]]:
    """Return an oracle that asks what each occurrence of the names means."""

    def answer(
        root: Path, names: Sequence[AskedName], files: Sequence[str], options: argparse.Namespace
    ) -> Iterator[Lines]:
        asked = [(name, place) for name in names for place in _occurrences(root, name.name, files)]
        meanings = checker(root, [place for _, place in asked], options)
        found: dict[AskedName, Lines] = {name: set() for name in names}
        for (name, place), meaning in zip(asked, meanings, strict=True):
            if meaning and (name.place.path, name.place.line) in meaning:
                found[name].add((place.path, place.line))
        for name in names:
            yield found[name]

    return answer


def _ask_clangd(
    root: Path, names: Sequence[AskedName], _files: Sequence[str], options: argparse.Namespace
) -> Iterator[Lines]:
    # References are those of the index, so all files are compiled first.
    with clangd_server(root, names[0].place.path, options) as server:
        yield from _ask_server(server, root, names, "cpp")


def _ask_intelephense(
    root: Path, names: Sequence[AskedName], _files: Sequence[str], options: argparse.Namespace
) -> Iterator[Lines]:
    with intelephense_server(root, options) as server:
        yield from _ask_server(server, root, names, "php")


def _ask_server(server: LanguageServer, root: Path, names: Sequence[AskedName], language: str) -> Iterator[Lines]:
    for place, name in names:
        server.open(place.path, language)
        symbols = (each for each in server.symbols(place.path, language) if each.line == place.line)
        # clangd lists no macro. Other names without a symbol are local variables.
        if not _is_macro(root, place) and not any(each.name == name and is_definition(each) for each in symbols):
            yield set()
            continue
        found = server.places("references", *place, context={"includeDeclaration": False})
        lines = {(path.relative_to(root).as_posix(), line) for path, line in found if path.is_relative_to(root)}
        yield {each for each in lines if not _is_declared(server, name, *each, language)}


def _is_declared(server: LanguageServer, name: str, path: str, line: int, language: str) -> bool:
    """Return whether a line is no reference: it declares a constructor, an override, or a member outside its class."""
    symbols = (each for each in server.symbols(path, language) if each.line == line)
    return any(each.name == name or f"{name}::" in each.name for each in symbols)


def _is_macro(root: Path, place: AskedCall) -> bool:
    return (root / place.path).read_text("utf-8", "replace").split("\n")[place.line - 1].startswith("#define")


def _occurrences(root: Path, name: str, files: Sequence[str]) -> Iterator[AskedCall]:
    """Yield the places of a name as a word in the files of a language."""
    for path in git(root, "grep", "-lw", "-e", name, "--", *files).splitlines():
        for number, line in enumerate((root / path).read_text("utf-8", "replace").split("\n"), 1):
            for match in re.finditer(rf"\b{re.escape(name)}\b", line):
                yield AskedCall(path, number, match.start())


REFERENCE_ORACLES: Final = {
    "jedi": ReferenceOracle(("*.py",), re.compile(r"(?:def|class) (\w+)|(\w+)(?::[^=]*)? = "), _ask_jedi),
    "typescript": ReferenceOracle(
        ("*.ts", "*.tsx", "*.js", "*.jsx", "*.mjs"),
        re.compile(
            r"(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:async )?"
            r"(?:function\*?|class|interface|type|enum|const|let|var) (\w+)"
        ),
        _ask_typescript,
    ),
    "go": ReferenceOracle(
        ("*.go",),
        re.compile(r"(?:func(?: \([^)]*\))?|type|var|const) (\w+)|\t(\w+)(?: [\w.]+)? += "),
        _ask_checker(ask_go),
    ),
    "java": ReferenceOracle(
        ("*.java",),
        re.compile(
            rf"\s*{_MODIFIERS}(?:class|interface|enum|record|@interface) (\w+)"
            rf"|(?:    |  |\t){_MODIFIERS}(?:<[^>]*> )?[A-Za-z][\w.<>\[\], ?]* (\w+)(?: =|;|\()"
        ),
        _ask_checker(ask_java),
    ),
    "clangd-c": ReferenceOracle(
        ("*.c", "*.h"),
        re.compile(
            r"#define (\w+)|(?:struct|enum|union) (\w+) \{|[A-Za-z][\w *]*?\b(\w+)(?:\(|;| =|\[)"
            r"|\s+([A-Z]\w+)(?: =.*)?,$"
        ),
        _ask_clangd,
    ),
    "clangd": ReferenceOracle(
        ("*.cc", "*.cpp", "*.cxx", "*.hpp", "*.hh", "*.h"),
        re.compile(
            r"#define (\w+)"
            r"|\s*(?:class|struct|enum class|enum|union) (?:\w+_EXPORT |\w+_API )?(\w+)(?: final)?(?: :.*)? \{"
            r"|\s*[A-Za-z][\w *:<>,&]*?[ *&](?:\w+::)*(\w+)(?:\(|;| =|\[)|\s+([A-Z]\w+)(?: =.*)?,$"
        ),
        _ask_clangd,
    ),
    "rustdoc": ReferenceOracle(
        ("*.rs",),
        re.compile(
            r"\s*(?:pub(?:\([\w: ]+\))? )?(?:default )?(?:const )?(?:unsafe )?(?:async )?"
            r"(?:fn|struct|enum|union|trait|type|const|static(?: mut)?|macro_rules!) (\w+)|\s+([A-Z]\w+)(?:\(.*\))?,$"
        ),
        _ask_checker(ask_rustdoc),
    ),
    "intelephense": ReferenceOracle(
        ("*.php",),
        re.compile(
            rf"\s*{_MODIFIERS}(?:(?:class|interface|trait|enum|function &?|const|case)\s*)(\w+)"
            rf"|\s+{_MODIFIERS}(?:[\w|?\\]+ )?\$(\w+)(?: =|;)"
        ),
        _ask_intelephense,
    ),
}
"""Oracles by their names, as in `python -m tests.bench usages`."""
