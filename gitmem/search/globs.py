"""Path filters of a query: gitignore syntax, case-sensitive. A bare folder or file name matches at any depth."""

from collections.abc import Callable, Sequence
from typing import Final

from gitmem.errors import UsageError
from gitmem.git.path_encoding import queried_path
from gitmem.patterns.pathspec import Pathspec, compile_pathspecs
from gitmem.patterns.pattern_table import GlobTable, uncached_folders
from gitmem.patterns.wildmatch import Glob, parse_ignore_line

NO_MATCH: Final = -1


def compile_filters(
    include: Sequence[str],
    exclude: Sequence[str],
    pathspecs: Sequence[Pathspec],
    files: Sequence[str],
    folders: Sequence[str],
) -> Callable[[bytes], bool]:
    """Return a predicate for paths that pass all filters, of which an empty one lets all pass.

    A path must be one of `files` and below one of `folders`. Raises: UsageError for a malformed pattern.
    """
    matches = compile_globs(include, exclude, pathspecs)
    named = frozenset(map(queried_path, files))
    below = PathFilter([folder_pattern(folder) for folder in folders]) if folders else None
    return lambda path: (not named or path in named) and (below is None or below.selects(path)) and matches(path)


def folder_pattern(folder: str) -> str:
    """Return the gitignore pattern of a folder: a name at any depth, a path from the root, or a glob."""
    # gitignore has the same three forms: a slash at the beginning or inside ties a pattern to the root. A folder may be
    # called `!x` or `#x`, and none is an exception here.
    escaped = f"\\{folder}" if folder.startswith(("!", "#")) else folder
    return escaped if escaped.endswith(("/", "/**")) else f"{escaped}/"


def compile_globs(
    include: Sequence[str], exclude: Sequence[str], pathspecs: Sequence[Pathspec] = ()
) -> Callable[[bytes], bool]:
    """Return a predicate for paths that `include` selects (all if it is empty) and `exclude` does not.

    If there are pathspecs, they must select the path as well. Raises: UsageError for a malformed pattern.
    """
    included = PathFilter(include) if include else None
    excluded = PathFilter(exclude) if exclude else None
    within = compile_pathspecs(pathspecs) if pathspecs else None

    def matches(path: bytes) -> bool:
        if within is not None and not within(path):
            return False
        if included is not None and not included.selects(path):
            return False
        return excluded is None or not excluded.selects(path)

    return matches


class PathFilter:
    """Patterns of one filter, relative to the top of the tree; a folder that matches selects everything below it.

    The last pattern that matches the path itself decides, else the last one that matches a folder above it. Unlike in
    an ignore file, `!` may thus take out a part of a selected folder: `src/` with `!src/generated/`. git forbids that
    to avoid listing ignored folders, but a filter lists none.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._globs = [_parse(pattern) for pattern in patterns]
        self._table = GlobTable(self._globs)
        self._last_by_folder: dict[bytes, int] = {b"": NO_MATCH}

    def selects(self, path: bytes) -> bool:
        """Return whether the patterns select a file."""
        folder, _, name = path.rpartition(b"/")
        matching = self._table.matching(path, name)
        last = matching[-1] if matching else self._last_above(folder)
        return last != NO_MATCH and not self._globs[last].negated

    def _last_above(self, folder: bytes) -> int:
        """Return the number of the last pattern that matches a folder or one of its parents, or NO_MATCH."""
        for below in uncached_folders(folder, self._last_by_folder):
            parent, _, name = below.rpartition(b"/")
            matching = self._table.matching(below, name, folder=True)
            self._last_by_folder[below] = max([self._last_by_folder[parent], *matching])
        return self._last_by_folder[folder]


def _parse(pattern: str) -> Glob:
    try:
        glob = parse_ignore_line(pattern.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:  # a lone surrogate, from an escape in JSON
        glob = None
    if glob is None:
        raise UsageError(f"malformed path pattern `{pattern}`", hint=_hint(pattern))
    return glob


def _hint(pattern: str) -> str:
    if pattern.startswith("#"):
        return f"a pattern that begins with `#` is a comment; write `\\{pattern}`"
    return "close the bracket, or write `\\[` for the character itself" if "[" in pattern else ""
