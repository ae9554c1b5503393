"""Pathspecs as git's commands take them after `--`, relative to the folder of the user.

A pathspec without wildcards selects a file, or a folder with everything below it. In one with wildcards `*` also
matches slashes, unlike in ignore files. Supported magic: `:(top)` or `:/`, `:(exclude)`, `:!` or `:^`, `:(literal)`,
`:(glob)` and `:(icase)`. Syntax: gitglossary(7). Semantics: git's `dir.c`.
"""

import posixpath
import re
from collections.abc import Callable, Sequence
from typing import Final

from gitmem.errors import UsageError
from gitmem.named_tuple import NamedTuple
from gitmem.patterns.wildmatch import SPECIAL, translate, translate_flat

_SHORT: Final = {"/": "top", "!": "exclude", "^": "exclude"}
_WORDS: Final = frozenset(("top", "exclude", "literal", "glob", "icase"))
_HINT: Final = "magic of pathspecs: " + ", ".join(f":({word})" for word in sorted(_WORDS))


class Pathspec(NamedTuple):
    """Pathspec relative to the root of the tree. The first `fixed` bytes are the user's folder, compared literally."""

    path: bytes
    fixed: int
    magic: frozenset[str]

    @property
    def excludes(self) -> bool:
        """Return whether the pathspec excludes the paths that it matches."""
        return "exclude" in self.magic


def parse_pathspec(text: str, folder: str) -> Pathspec:
    """Parse a pathspec given in a folder, which is relative to the root. Raises UsageError."""
    magic, rest = _parse_magic(text)
    base = "" if "top" in magic else folder
    joined = posixpath.normpath(posixpath.join(base, rest)) if base or rest else "."
    if joined == ".." or joined.startswith(("../", "/")):
        raise UsageError(f"the path `{text}` is outside of the repository", hint="paths are relative to this folder")
    while base and not joined.startswith(f"{base}/"):  # `..` leaves folders of the user
        base = posixpath.dirname(base)
    path = "" if joined == "." else joined + "/" * rest.endswith("/")
    start = f"{base}/".encode("utf-8", "surrogateescape") if base else b""
    return Pathspec(path.encode("utf-8", "surrogateescape"), len(start), magic)


def compile_pathspecs(pathspecs: Sequence[Pathspec]) -> Callable[[bytes], bool]:
    """Return a predicate for paths that a pathspec selects and none excludes; exclusions alone select all others."""
    included = [_compile(pathspec) for pathspec in pathspecs if not pathspec.excludes]
    excluded = [_compile(pathspec) for pathspec in pathspecs if pathspec.excludes]

    def matches(path: bytes) -> bool:
        selected = not included or any(match(path) for match in included)
        return selected and not any(match(path) for match in excluded)

    return matches


def _parse_magic(text: str) -> tuple[frozenset[str], str]:
    """Split a pathspec into its magic words and the rest. Raises UsageError for unknown magic."""
    if not text:
        raise UsageError("a path is empty", hint="write `.` for the current folder")
    if not text.startswith(":"):
        return frozenset(), text
    if text.startswith(":("):
        words, closed, rest = text[2:].partition(")")
        magic = frozenset(word for word in words.split(",") if word)
        unknown = sorted(magic - _WORDS)
        if not closed or unknown or magic >= {"literal", "glob"}:
            raise UsageError(f"unknown or malformed magic in the pathspec `{text}`", hint=_HINT)
        return magic, rest
    rest = text[1:]
    short = len(rest) - len(rest.lstrip("".join(_SHORT)))
    return frozenset(_SHORT[sign] for sign in rest[:short]), rest[short:].removeprefix(":")


def _compile(pathspec: Pathspec) -> Callable[[bytes], bool]:
    """Return a predicate for one pathspec: the path itself, a folder above it, or a match of its wildcards."""
    if "icase" in pathspec.magic:
        lowered = pathspec._replace(path=pathspec.path.lower(), magic=pathspec.magic - {"icase"})
        same = pathspec.path[: pathspec.fixed]
        match_lowered = _compile(lowered)
        return lambda path: path.startswith(same) and match_lowered(path.lower())
    path = pathspec.path
    below = path if path.endswith(b"/") or not path else path + b"/"
    literal = "literal" in pathspec.magic or not SPECIAL.search(path, pathspec.fixed)
    if literal:
        return lambda candidate: candidate == path or candidate.startswith(below)
    expression = (translate if "glob" in pathspec.magic else translate_flat)(path[pathspec.fixed :])
    # A malformed pattern matches nothing but a path of that very name.
    match = re.compile(expression, re.DOTALL).fullmatch if expression is not None else lambda _: None
    start = path[: pathspec.fixed]

    def matches(candidate: bytes) -> bool:
        if candidate == path or candidate.startswith(below):
            return True
        return candidate.startswith(start) and match(candidate[len(start) :]) is not None

    return matches
