"""Chunk one file of a tree without its index, as an index run would: for a tree that is not indexed yet."""

from typing import Final

import numpy as np

from gitmem.answering.missing_content import missing_content
from gitmem.answering.symbol_lookup import SymbolChunk, split_units
from gitmem.chunking.blob_text import fit_blob, read_limit
from gitmem.errors import UsageError
from gitmem.git.object_reader import ObjectReader
from gitmem.git.path_encoding import path_text
from gitmem.indexing.fingerprint import chunk_bounds
from gitmem.indexing.pool import Pool
from gitmem.indexing.worker_protocol import BlobContent
from gitmem.locations import LineRange
from gitmem.settings import Settings
from gitmem.store.labels import label_symbol, unpack_units
from gitmem.store.view_file import View

_NO_ROW: Final = -1


def chunk_file(view: View, entry: int, reader: ObjectReader, settings: Settings) -> list[SymbolChunk]:
    """Return the chunks of the file of an entry, in order of start. They are those of an index, but have no rows.

    Raises: UsageError if an index would hold none, WorkersFailed.
    """
    path, oid = path_text(view.path(entry)), view.oid(entry)
    language = view.language(entry)
    (size,) = reader.sizes([oid])
    if size is not None and size > read_limit(language, settings.max_file_bytes):
        raise UsageError(f"`{path}` is not indexed: large")
    content = reader.read(oid)
    if content is None:
        raise missing_content(view, entry)
    content = fit_blob(content, language, settings.max_file_bytes)
    if content is None:
        raise UsageError(f"`{path}` is not indexed: large")
    # In a worker process, because parsers may crash or hang. A server keeps it for the next change.
    with Pool(1, bounds=chunk_bounds(settings)) as pool:
        ((rows,),) = pool.run([[BlobContent(language, content)]])
    if not rows.labels:
        raise UsageError(f"`{path}` is not indexed: {rows.blobs[0].outcome}")
    first, lines = (np.frombuffer(rows.columns[name], "<u4").tolist() for name in ("line", "lines"))
    return [
        chunk
        for line, count, label in zip(first, lines, rows.labels, strict=True)
        for chunk in split_units(
            SymbolChunk(_NO_ROW, LineRange(line, line + count - 1), label_symbol(label)), unpack_units(label, 0, line)
        )
    ]
