"""Read the lines of files of an open tree, with secrets as dots, for answers that show single lines."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from gitmem.chunking.blob_text import text_of
from gitmem.freshness.tree_selection import WORKTREE
from gitmem.git.object_reader import ObjectReader
from gitmem.git.path_encoding import path_text
from gitmem.git.working_files import read_unchanged
from gitmem.secrets.masking import mask_private_keys, mask_text

if TYPE_CHECKING:
    from gitmem.answering.searcher import Searcher


def read_source_lines(
    searcher: "Searcher", entries: Collection[int], blobs: ObjectReader, *, mask: bool
) -> tuple[dict[int, list[bytes]], list[str]]:
    """Return the lines of some files, and the paths of those whose content is not the indexed one any more."""
    view = searcher.view
    ids = {entry: view.oid(entry) for entry in sorted(entries)}
    data: dict[str, bytes] = {}
    if searcher.tree.source == WORKTREE:
        # Reading a file and comparing its hash is cheaper than asking git.
        data = read_unchanged(searcher.tree.location, {oid: view.path(entry) for entry, oid in ids.items()})
    missing = [oid for oid in dict.fromkeys(ids.values()) if oid not in data]
    data |= {oid: content or b"" for oid, content in blobs.read_many(missing)}
    lines: dict[int, list[bytes]] = {}
    for entry, oid in ids.items():
        text = text_of(data[oid], view.language(entry))
        lines[entry] = (mask_private_keys(text) if mask else text).split(b"\n")
    changed = [path_text(view.path(entry)) for entry, oid in ids.items() if not data[oid] and oid in searcher.files]
    return lines, changed


def line_at(lines: Sequence[bytes], number: int, *, mask: bool) -> str:
    """Return a line by its number without the blanks around it, with `mask` its secrets as dots."""
    line = lines[number - 1].decode("utf-8", "replace").strip() if number <= len(lines) else ""
    return mask_text(line) if mask else line
