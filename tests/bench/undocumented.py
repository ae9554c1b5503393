"""Remove the documentation of definitions from source files, and keep its first sentence with the definition's place.

Python has docstrings; the other languages have comments above a definition. Only definitions that the patterns below
know are kept, which is enough for a benchmark.
"""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_WORDS: Final = range(5, 31)
"""Lengths of usable sentences in words."""


@dataclass(frozen=True, slots=True)
class Documented:
    """Definition by its name and 1-based line in the text without documentation, and the sentence that described it."""

    name: str
    line: int
    sentence: str


def remove_documentation(path: str, text: str) -> tuple[str, list[Documented]]:
    """Return a source file without documentation, and the definitions that had a usable first sentence."""
    if path.endswith(".py"):
        return _remove_docstrings(text)
    for endings, pattern, comment in _COMMENTED:
        if path.endswith(endings):
            return _remove_comments(text.split("\n"), pattern, comment)
    return text, []


def has_documentation(path: str) -> bool:
    """Return whether the language of a file is one whose documentation is removed."""
    return path.endswith((".py", *(ending for endings, _, _ in _COMMENTED for ending in endings)))


def first_sentence(text: str, name: str) -> str | None:
    """Return the first sentence of a documentation without the name at its start; None if it is not usable."""
    text = re.sub(r"[`*\[\]]", "", " ".join(text.split()))
    end = re.match(r".+?[.!?](?=\s|$)", text)
    sentence = end[0] if end else text
    if len(sentence.split()) not in _WORDS or not sentence.isascii() or "http" in sentence:
        return None
    return re.sub(rf"^{re.escape(name)}(\(\))?\s+(is |are )?", "", sentence)


def _remove_docstrings(text: str) -> tuple[str, list[Documented]]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text, []
    removed: dict[int, str | None] = {}
    found: list[tuple[int, str, str]] = []
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)):
            continue
        first = node.body[0] if node.body else None
        if not (isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)):
            continue
        if not isinstance(first.value.value, str):
            continue
        removed |= dict.fromkeys(range(first.lineno, (first.end_lineno or first.lineno) + 1))
        if not isinstance(node, ast.Module):
            if len(node.body) == 1:
                removed[first.lineno] = " " * first.col_offset + "..."
            found.append((node.lineno, node.name, first.value.value))
    kept: list[str] = []
    new_line: dict[int, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        replacement = removed.get(number, line)
        if replacement is not None:
            kept.append(replacement)
        new_line[number] = len(kept)
    return "\n".join(kept), _usable((name, new_line[line], documentation) for line, name, documentation in found)


def _remove_comments(
    lines: Sequence[str], definition: re.Pattern[str], comment: Callable[[Sequence[str], int], int]
) -> tuple[str, list[Documented]]:
    """Remove comments above definitions. `comment` returns the number of lines of a comment that begins at a line."""
    kept: list[str] = []
    found: list[tuple[str, int, str]] = []
    place = 0
    above: Sequence[str] = ()
    while place < len(lines):
        size = comment(lines, place)
        if size:
            above = lines[place : place + size]
            place += size
            continue
        kept.append(lines[place])
        match = definition.match(lines[place])
        if match and above:
            found.append((match["name"], len(kept), " ".join(map(_plain, above))))
        if match or not lines[place].lstrip().startswith(("@", "#[")):
            above = ()
        place += 1
    return "\n".join(kept), _usable(found)


def _plain(line: str) -> str:
    """Return a line of a comment without its marks; nothing of a tag such as `@param`."""
    line = re.sub(r"^\s*(/\*\*|\*/|\*|//[/!]?)|\*/\s*$", "", line).strip()
    return "" if line.startswith("@") else line


def _usable(found: "Iterator[tuple[str, int, str]] | Sequence[tuple[str, int, str]]") -> list[Documented]:
    sentences = ((name, line, first_sentence(text, name)) for name, line, text in found)
    return [Documented(name, line, sentence) for name, line, sentence in sentences if sentence]


def _block_size(lines: Sequence[str], place: int) -> int:
    if not lines[place].lstrip().startswith("/**"):
        return 0
    return next((end - place + 1 for end in range(place, len(lines)) if "*/" in lines[end]), 0)


def _run_size(mark: str) -> Callable[[Sequence[str], int], int]:
    pattern = re.compile(mark)

    def size(lines: Sequence[str], place: int) -> int:
        end = place
        while end < len(lines) and pattern.match(lines[end]):
            end += 1
        return end - place

    return size


_COMMENTED: Final = (
    (
        (".go",),
        re.compile(r"(func|type)\s+(\([^)]*\)\s*)?(?P<name>\w+)"),
        _run_size(r"\s*//(?!go:|\s*\+build)"),
    ),
    (
        (".rs",),
        re.compile(r"\s*(pub(\([^)]*\))?\s+)?((async|const|unsafe)\s+)*(fn|struct|enum|trait|const)\s+(?P<name>\w+)"),
        _run_size(r"\s*//[/!]"),
    ),
    (
        (".kt", ".java", ".js", ".ts"),
        re.compile(
            r"\s*((public|internal|private|protected|abstract|open|override|inline|suspend|data|sealed|static|final"
            r"|export|default|async)\s+)*(fun\s+interface|class|interface|object|fun|val|var|function\*?|type|const|let)"
            r"\s+(<[^>]*>\s*)?([\w<>?, ]+\.)?(?P<name>\w+)"
        ),
        _block_size,
    ),
)
"""Endings of files, the definitions in them, and where a comment is."""
