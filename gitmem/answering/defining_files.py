"""Find the files of a commit that define a symbol, from the index."""

from typing import TYPE_CHECKING

from gitmem.answering.answer import with_tree
from gitmem.errors import DamagedFile, NewerFormat, NoIndex, UnsafeIndex
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.git.object_reader import ObjectReader
from gitmem.git.path_encoding import path_bytes
from gitmem.memory.kinds import CODE
from gitmem.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.answering.searcher import Searcher


def find_defining_files(workspace: Workspace, commit: str, symbol: str) -> list[bytes] | None:
    """Return the paths of the files that define a symbol, or None unless the whole commit is indexed.

    Indexes nothing, because git finds them as well, only more slowly.
    """

    def find(searcher: "Searcher", _: ObjectReader) -> list[bytes] | None:
        from gitmem.references.named_definitions import find_definitions, read_name

        if searcher.stale or searcher.snapshot.lost:
            return None
        names = searcher.names
        qualifiers, name = read_name(names, symbol)
        definitions = find_definitions(names, name, qualifiers)
        return list(dict.fromkeys(path_bytes(names.file(each.entry).path) for each in definitions))

    try:
        return with_tree(workspace, TreeSelection(rev=commit), (CODE,), find, refresh=False)[0]
    except (NoIndex, UnsafeIndex, NewerFormat, DamagedFile):
        return None
