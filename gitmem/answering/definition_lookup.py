"""Find the file or the definitions that a location in an open tree means, for questions about usages."""

from typing import TYPE_CHECKING, Final

from gitmem.answering.source_lines import read_source_lines
from gitmem.errors import UsageError
from gitmem.git.object_reader import ObjectReader
from gitmem.git.path_encoding import path_text
from gitmem.locations import Location, parse_location

# numpy and the search are loaded while `git status` runs.
if TYPE_CHECKING:
    from gitmem.answering.searcher import Searcher
    from gitmem.references.file_names import Definition

_MAX_NAMED: Final = 6


def whole_file(searcher: "Searcher", text: str, folder: str) -> int | None:
    """Return the file of a tree whose path a text is, None if it is none or a component."""
    from gitmem.answering.location_lookup import find_location, has_path
    from gitmem.references.named_definitions import component_at

    tree = searcher.indexed_tree
    if not has_path(tree, text, folder):
        return None
    entry = find_location(tree, text, folder).entry
    is_component = searcher.names.has_names(entry) and component_at(searcher.names, entry) is not None
    return None if is_component else entry


def definitions_at_location(
    searcher: "Searcher", text: str, folder: str, blobs: ObjectReader
) -> "list[Definition] | None":
    """Return the definitions of the name that a location in a tree means; None if the text is a name.

    A line means the definition on it or around it. One that only declares or imports a name means the
    definitions of that name, and so does a column. Raises UsageError.
    """
    from gitmem.answering.location_lookup import find_location, has_path
    from gitmem.references.meant_definitions import meant_at
    from gitmem.references.named_definitions import component_at, definition_at

    tree = searcher.indexed_tree
    location = parse_location(text, lambda path: has_path(tree, path, folder))
    if location == Location(location.path) and not has_path(tree, location.path, folder):
        return None
    if location.symbol and not has_path(tree, location.path, folder):
        return None  # `Type#member`
    place = find_location(tree, text, folder)
    path = path_text(tree.view.path(place.entry))
    names = searcher.names
    if not names.has_names(place.entry):
        raise UsageError(f"no names are known in `{path}`", hint="it is not indexed yet, or not code")
    if place.lines is None:
        component = component_at(names, place.entry)
        if component is not None:
            return [component]
        raise UsageError(f"`{path}` is a whole file", hint=f"add a line or a symbol, for example `{path}:1`")
    if location.column is not None:
        # Names are recorded by line, so the text says which of them stands at the column.
        word = _word_of(searcher, place.entry, place.lines.first, location.column, blobs)
        by_name = meant_at(names, place.entry, *place.lines, word) if word else {}
        if not by_name:
            hint = f"gitmem usages {word}" if word else "name a column of a name"
            raise UsageError(f"no definition of the name at `{text}`", hint=hint)
        return by_name[word]
    definition = definition_at(names, place.entry, *place.lines, place.symbol)
    if definition is not None:
        return [definition]
    by_name = meant_at(names, place.entry, *place.lines)
    if not by_name:
        raise UsageError(f"no definition at or around `{text}`", hint="name a line of a function, class or constant")
    if len(by_name) > 1:
        some = ", ".join(f"`{name}`" for name in list(by_name)[:_MAX_NAMED])
        raise UsageError(
            f"`{text}` has several names",
            hint=f"add a column, `{path}:{place.lines.first}:1`, or ask for a name: {some}",
        )
    return next(iter(by_name.values()))


def _word_of(searcher: "Searcher", entry: int, line: int, column: int, blobs: ObjectReader) -> str:
    """Return the name or word at a column of a line, "" if there is none."""
    from gitmem.references.meant_definitions import name_at

    lines, _ = read_source_lines(searcher, [entry], blobs, mask=False)
    text = lines[entry][line - 1] if line <= len(lines[entry]) else b""
    return name_at(searcher.names, entry, line, text.decode("utf-8", "replace"), column)
