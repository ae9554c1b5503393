"""Find the element of a commit that a location names.

The grammar is that of `gitmem.locations`; a symbol alone is searched in all files.
"""

import posixpath
import re
from collections.abc import Callable, Sequence
from typing import Final

from gitmem.answering.symbol_lookup import SymbolChunk, find_symbol
from gitmem.chunking.element import Element
from gitmem.display import count
from gitmem.errors import UsageError
from gitmem.git.commit_diffs import read_uncommitted_hunks
from gitmem.git.file_history import read_blob_id, read_files_with
from gitmem.git.locate import RepositoryLocation
from gitmem.git.path_encoding import path_bytes, path_text
from gitmem.history.element_reader import ElementReader
from gitmem.history.line_tracking import element_of_lines
from gitmem.history.version import FileVersion, Version
from gitmem.locations import LineRange, Location, parse_location
from gitmem.package_names import is_qualified, may_be_exported

FindFiles = Callable[[str], list[bytes] | None]

_MAX_SEARCHED: Final = 60
"""Files that may contain the name of a symbol given without its path. More would take seconds to parse."""

_MAX_LISTED: Final = 8
_NAME: Final = re.compile(r"(?=.*\w)(?:[^\s/:#]|::)+")
_JOINTS: Final = re.compile(r"\.|::|#")


def find_target(
    location: RepositoryLocation,
    reader: ElementReader,
    text: str,
    commit: str,
    folder: str,
    find_files: FindFiles,
    *,
    uncommitted: bool,
) -> Version:
    """Return the element that a location names in a commit: of a line the innermost, of a range the one it equals.

    Other ranges are traced as lines. With `uncommitted`, lines are those of the working tree. `find_files` returns the
    files that define a symbol, None if it does not know them. Raises UsageError.
    """
    blobs: dict[str, str] = {}

    def has_path(path: str) -> bool:
        return _find_path(location, commit, path, folder, blobs) is not None

    where = parse_location(text, has_path)
    if where.blob:
        raise UsageError("a blob has no history of its own", hint="name its path: PATH:12 or PATH#SYMBOL")
    path = _find_path(location, commit, where.path, folder, blobs)
    if path is None:
        if where.lines is None and not where.symbol and _NAME.fullmatch(where.path):
            symbol = where.path.removesuffix("()")
            return _find_anywhere(location, reader, symbol, commit, find_files(symbol))
        raise UsageError(f"no such file in {commit[:7]}: `{where.path}`", hint="an older one: add --rev REV")
    file = reader.version(path_bytes(path), blobs[path])
    if where.symbol:
        return _by_symbol(path, file, where.symbol)
    if where.lines is None:
        raise UsageError(f"`{path}` is a whole file", hint=f"add a line or a symbol, for example `{path}:1`")
    lines = _committed_lines(location, path, where.lines) if uncommitted else where.lines
    return _by_lines(path, file, where, lines)


def _find_path(location: RepositoryLocation, commit: str, path: str, folder: str, blobs: dict[str, str]) -> str | None:
    """Return a path from the root, given as such or relative to `folder`, and store its blob."""
    for candidate in dict.fromkeys((posixpath.normpath(path), posixpath.normpath(posixpath.join(folder, path)))):
        if candidate.startswith(("../", "/")) or candidate in ("", ".", ".."):
            continue
        if candidate not in blobs:
            blobs[candidate] = read_blob_id(location, commit, path_bytes(candidate))
        if blobs[candidate]:
            return candidate
    return None


def _by_symbol(path: str, file: FileVersion, symbol: str) -> Version:
    """Return the element of a symbol. Raises UsageError if there is none or more than one."""
    chunks = [
        SymbolChunk(number, LineRange(version.element.first_line, version.element.last_line), version.element.symbol)
        for number, version in enumerate(file.versions)
    ]
    if not chunks:
        raise UsageError(f"`{path}` has no symbols", hint=f"name lines: `{path}:1-40`")
    found = find_symbol(path, chunks, symbol)
    same = _definitions_among([version for version in file.versions if version.element.symbol == found.symbol])
    if len(same) > 1:
        places = _listed([f"{each.element.first_line}-{each.element.last_line}" for each in same])
        hint = f"name a line of one: `{path}:{same[0].element.first_line}`"
        raise UsageError(f"`{path}` defines `{found.symbol}` {len(same)} times: lines {places}", hint=hint)
    return same[0]


def _by_lines(path: str, file: FileVersion, where: Location, lines: LineRange) -> Version:
    """Return the innermost element around one line, the element that a range equals, or else the lines."""
    total = len(file.data.splitlines())
    if lines.last > total:
        raise UsageError(f"`{path}` has {count(total, 'line')}, line {lines.last} does not exist")
    if where.lines is not None and where.lines.first == where.lines.last:
        around = [each for each in file.versions if _is_around(each.element, lines.first)]
        if around:
            return min(around, key=lambda each: (each.element.last_line - each.element.first_line, each.element.start))
    return element_at(file, lines)


def _is_around(element: Element, line: int) -> bool:
    """Return whether a line stands for an element. A section of cells is long: only its heading stands for it."""
    if element.chunk_type == "section" and element.holds:
        return line == element.first_line
    return element.first_line <= line <= element.last_line


def element_at(file: FileVersion, lines: LineRange) -> Version:
    """Return the element that a range of lines equals, with or without the comments above it, or else the lines."""
    for version in file.versions:
        element = version.element
        code_line = element.first_line + file.data.count(b"\n", element.start, element.code)
        if lines.last == element.last_line and element.first_line <= lines.first <= code_line:
            return version
    return Version(file, element_of_lines(file.data, *lines))


def _committed_lines(location: RepositoryLocation, path: str, lines: LineRange) -> LineRange:
    """Return the lines of HEAD that lines of the working tree are. Raises UsageError if all of them are new."""
    if location.worktree is None:
        return lines
    first, last = shift_lines(read_uncommitted_hunks(location, path_bytes(path)), lines)
    if first > last:
        text = f"line {lines.first}" if lines.first == lines.last else f"lines {lines.first}-{lines.last}"
        raise UsageError(
            f"{text} of `{path}`: not committed yet", hint="for the lines of the last commit, add --rev HEAD"
        )
    return LineRange(first, last)


def shift_lines(hunks: list[tuple[int, int, int, int]], lines: LineRange) -> tuple[int, int]:
    """Map lines of the new side of a diff to the old one; the result is empty if all of them were added."""
    wanted = range(lines.first, lines.last + 1)
    shift, start = 0, 1
    kept: list[int] = []
    for old_first, old_size, new_first, new_size in [*hunks, (0, 0, lines.last + 1, 0)]:
        # git names the line before an empty side.
        stop = new_first + (1 if new_size == 0 and (old_first or old_size) else 0)
        same = range(max(start, wanted.start), min(stop, wanted.stop))
        if same:
            kept += [same[0] + shift, same[-1] + shift]
        shift += old_size - new_size
        start = stop + new_size
    return (kept[0], kept[-1]) if kept else (1, 0)


def _find_anywhere(
    location: RepositoryLocation, reader: ElementReader, symbol: str, commit: str, defining: list[bytes] | None
) -> Version:
    """Return the only element of a symbol in all files of a commit, the defining ones if known. Raises UsageError."""
    name = _JOINTS.split(symbol)[-1] or symbol
    # The index knows no symbols of documents, for example headings.
    paths = defining or read_files_with(location, commit, name)
    if len(paths) > _MAX_SEARCHED:
        likely = min(paths, key=lambda path: posixpath.basename(path_text(path)).partition(".")[0] != name)
        hint = f"name its file: {path_text(likely)}#{symbol}"
        raise UsageError(f"`{name}` occurs in {len(paths)} files", hint=hint)
    wanted = _JOINTS.split(symbol)
    versions = [
        version for path in paths for version in reader.version(path, read_blob_id(location, commit, path)).versions
    ]
    matches = _definitions_among([version for version in versions if _is_named(version, wanted, is_qualified)])
    if not matches and defining:
        matches = _definitions_among([version for version in versions if _is_named(version, wanted, may_be_exported)])
    if not matches:
        raise UsageError(f"no definition of `{symbol}` in {commit[:7]}", hint="one that was removed: add --rev REV")
    if len(matches) > 1:
        places = [f"`{path_text(each.path)}:{each.element.first_line}`" for each in matches]
        raise UsageError(f"{len(matches)} definitions of `{symbol}`: {_listed(places)}", hint=f"name one: {places[0]}")
    return matches[0]


def _is_named(
    version: Version, wanted: Sequence[str], fits: Callable[[str, Sequence[str], Sequence[str]], bool]
) -> bool:
    """Return whether an element has a name, with the classes around it or a package that fits its path."""
    parts = _JOINTS.split(version.element.symbol)
    return parts[-1] == wanted[-1] and (
        parts[-len(wanted) :] == list(wanted) or (len(wanted) > 1 and fits(path_text(version.path), parts, wanted))
    )


def _definitions_among(versions: list[Version]) -> list[Version]:
    """Return elements without blocks that extend another one and without constructors, if their types are there.

    `impl Stack` extends `struct Stack`, and `Gson.Gson` has the name of the class around it.
    """
    own = [version for version in versions if version.element.chunk_type != "impl"] or versions
    parts = [_JOINTS.split(version.element.symbol) for version in own]
    found = {(version.path, *names) for version, names in zip(own, parts, strict=True)}
    return [version for version, names in zip(own, parts, strict=True) if (version.path, *names[:-1]) not in found]


def _listed(texts: list[str]) -> str:
    shown = ", ".join(texts[:_MAX_LISTED])
    return shown if len(texts) <= _MAX_LISTED else f"{shown} and {len(texts) - _MAX_LISTED} more"
