"""Measure the language and the imports of gitmem against the figures of the projects it is compared with.

The ceilings leave semble, httpx, sqlite-utils, pre-commit and borg within reach: 0 to 1 "what" and 0 to 4 "where" in
1,000 words of docstrings, 4 to 14 comments in 100 lines of code, and no import cycle. `python -m tests.prose_check`
prints the figures of the whole package, with a path those of a folder. The exit code is 1 if a bound is exceeded.
"""

import ast
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.import_graph import build_graph, count_lazy_imports, find_cycles, read_modules

PACKAGE: Final = Path(__file__).resolve().parent.parent / "gitmem"

CLAUSE_WORDS: Final = frozenset(
    """a all an as every for how if in it no none nothing of one some that the this those what when where whether which
    who whoever whose""".split()
)
"""First words of docstrings that begin with a noun or a clause instead of a verb."""

DIALECT: Final = {
    "told, tells": (r"told|tells?", 0.1),
    "what": (r"what", 1.5),
    "where": (r"where", 4.0),
    "is no, are no": (r"(?:is|are) no", 0.2),
    "anew, beside, whoever": (r"anew|beside|whoever|whatever", 0.3),
    "stands, stood": (r"stands?|stood", 0.3),
}
"""Expressions and their most frequent use in 1,000 words of docstrings and messages."""

VAGUE_NAMES: Final = frozenset("asked found given kept left made meant said seen shown taken told wanted".split())
"""Participles that say nothing of a value when they are its whole name."""

NOUN_SHARE: Final = 0.15
VAGUE_SHARE: Final = 0.01
LEAST_COMMENTS: Final = 3.0
SHARED_SHARE: Final = 0.12
LAZY_IMPORTS: Final = 3.6


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value and its bound."""

    label: str
    value: float
    bound: float
    at_least: bool = False

    @property
    def holds(self) -> bool:
        """Return whether the value respects its bound."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def __str__(self) -> str:
        sign = ">=" if self.at_least else "<="
        return f"{'ok' if self.holds else 'MISSED':6} {self.value:7.3f} {sign} {self.bound:<5g} {self.label}"


@dataclass(slots=True)
class Prose:
    """Docstrings, messages, names and line counts of a package."""

    docstrings: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    names: Counter[str] = field(default_factory=Counter)
    comments: int = 0
    code_lines: int = 0
    lines: int = 0


def measure(package: Path = PACKAGE) -> list[Figure]:
    """Measure a package or one of its folders."""
    prose = read_prose(package)
    trees = read_modules(package)
    lazy = sum(count_lazy_imports(tree) for tree in trees.values())
    return [
        Figure("docstrings that begin with a noun or a clause", noun_share(prose.docstrings), NOUN_SHARE),
        *dialect_figures(" ".join(prose.docstrings + prose.messages)),
        Figure("names that are a bare participle, share of assignments", vague_share(prose.names), VAGUE_SHARE),
        Figure("comments in 100 lines of code", _rate(prose.comments, prose.code_lines, 100), LEAST_COMMENTS, True),
        Figure("import cycles", len(find_cycles(build_graph(trees))), 0),
        Figure("modules that share their name, share of modules", shared_share(package), SHARED_SHARE),
        Figure("imports inside functions in 1,000 lines", _rate(lazy, prose.lines, 1000), LAZY_IMPORTS),
    ]


def read_prose(package: Path) -> Prose:
    """Collect what the modules of a package say."""
    prose = Prose()
    for path in sorted(package.rglob("*.py")):
        with tokenize.open(path) as source:
            prose.comments += sum(token.type == tokenize.COMMENT for token in tokenize.generate_tokens(source.readline))
        text = path.read_text("utf-8")
        lines = [line.strip() for line in text.splitlines()]
        prose.lines += len(lines)
        prose.code_lines += sum(bool(line) and not line.startswith("#") for line in lines)
        for node in ast.walk(ast.parse(text)):
            _add_node(prose, node)
    return prose


def _add_node(prose: Prose, node: ast.AST) -> None:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        if docstring := ast.get_docstring(node):
            prose.docstrings.append(docstring)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        prose.names[node.id.lstrip("_")] += 1
    elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        prose.messages += (text for argument in node.exc.args for text in _strings(argument))


def _strings(node: ast.AST) -> Iterator[str]:
    """Yield the text of string literals, including the constant parts of f-strings."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def noun_share(docstrings: list[str]) -> float:
    """Return the share of docstrings whose first word is an article, a pronoun or a conjunction."""
    first = [docstring.split()[0].strip(".,:`").lower() for docstring in docstrings]
    return _rate(sum(word in CLAUSE_WORDS for word in first), len(first))


def dialect_figures(text: str) -> Iterator[Figure]:
    """Yield the frequency of each dialect expression."""
    words = len(text.split())
    for name, (pattern, bound) in DIALECT.items():
        count = len(re.findall(rf"\b(?:{pattern})\b", text, re.IGNORECASE))
        yield Figure(f"'{name}' in 1,000 words of docstrings and messages", _rate(count, words, 1000), bound)


def vague_share(names: Counter[str]) -> float:
    """Return the share of assignments to a bare participle."""
    return _rate(sum(names[name] for name in VAGUE_NAMES), names.total())


def shared_share(package: Path) -> float:
    """Return the share of modules whose file name another module has too."""
    paths = sorted(package.rglob("*.py"))
    counts = Counter(path.stem for path in paths if not path.stem.startswith("__"))
    return _rate(sum(count for count in counts.values() if count > 1), len(paths))


def _rate(count: float, total: float, unit: int = 1) -> float:
    return unit * count / total if total else 0.0


def main(arguments: list[str]) -> int:
    """Print the figures and the import cycles; return 1 if a bound is exceeded."""
    package = Path(arguments[0]).resolve() if arguments else PACKAGE
    figures = measure(package)
    for figure in figures:
        print(figure)
    for cycle in find_cycles(build_graph(read_modules(package))):
        print(f"       cycle: {' '.join(cycle)}")
    return 0 if all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
