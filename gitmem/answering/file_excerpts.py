"""Read the text of a location in a tree: a whole file, lines of it, a symbol, or a chunk of a blob."""

from typing import Final

from gitmem.answering.answer_json import json_path
from gitmem.answering.excerpts import Excerpt, hash_content
from gitmem.answering.location_lookup import IndexedTree, find_location
from gitmem.answering.missing_content import missing_content
from gitmem.chunking.blob_text import text_of
from gitmem.display import count, visible
from gitmem.errors import UsageError
from gitmem.git.object_reader import ObjectReader
from gitmem.git.path_encoding import path_text
from gitmem.locations import MAX_LINE, LineRange, Location, format_location
from gitmem.memory.kinds import CODE
from gitmem.named_tuple import NamedTuple
from gitmem.search.snippet import OMITTED, join_lines, lines_of
from gitmem.secrets.masking import mask_secrets
from gitmem.words import decode

_BINARY_BYTES: Final = 8000
"""A NUL byte among so many first bytes makes a file binary, as in git."""


def read_file_excerpt(tree: IndexedTree, reader: ObjectReader, text: str, folder: str = "") -> Excerpt:
    """Read the text of a location; lines beyond the end of the file are left out.

    Its path is relative to the root, or else to `folder`.

    Raises: UsageError if the location does not exist, or its file is binary or unreadable.
    """
    location = find_location(tree, text, folder)
    path, oid = path_text(tree.view.path(location.entry)), tree.view.oid(location.entry)
    data = reader.read(oid)
    if data is None:
        raise missing_content(tree.view, location.entry)
    file = FileBlob(path, oid, tree.view.language(location.entry), data)
    return cut_excerpt(file, location.lines, location.symbol)


class FileBlob(NamedTuple):
    """File with the bytes of its blob."""

    path: str
    oid: str
    language: str
    data: bytes


def cut_excerpt(file: FileBlob, span: LineRange | None, symbol: str = "") -> Excerpt:
    """Return some lines of a file, None for all, without secrets; lines beyond its end are left out.

    Raises: UsageError if the file is binary, or the first line does not exist.
    """
    path = file.path
    if b"\0" in file.data[:_BINARY_BYTES]:
        raise UsageError(f"`{path}` is binary")
    data = mask_secrets(text_of(file.data, file.language))
    first, last = span or LineRange(1, MAX_LINE)
    lines = lines_of(data.removesuffix(b"\n"), first, last)
    if not lines:
        raise UsageError(f"`{path}` has {count(len(data.splitlines()), 'line')}, line {first} does not exist")
    last = first + len(lines) - 1
    # A notebook has lines outside of its cells, of which gaps are shown.
    hidden = OMITTED in lines
    content = join_lines(lines) if hidden else decode(b"\n".join(data.split(b"\n", last)[first - 1 : last]))
    fields = {
        "id": json_path(format_location(Location(path, LineRange(first, last)))),
        "kind": CODE,
        "path": json_path(path),
        "start_line": first,
        "end_line": last,
        "symbol": symbol,
        "language": file.language,
        "blob": file.oid,
        "file_size_bytes": len(file.data),
        "content_hash": hash_content(content),
    }
    heading = f"{visible(path)}:{first}-{last} {visible(symbol)}".rstrip()
    return Excerpt(heading, lines, first, content, fields, name="" if hidden else json_path(path))
