"""Search for code like that at a location: the nearest rows by stored vectors, then the units in them by their own."""

from collections.abc import Sequence

import numpy as np

from gitmem.answering.location_lookup import IndexedTree, find_location, get_chunk
from gitmem.answering.search_query import SimilarQuery
from gitmem.chunking.blob_text import text_of
from gitmem.embedding.encoder import Encoder
from gitmem.git.object_reader import ObjectReader
from gitmem.search.candidate_rows import CANDIDATE_LIMIT
from gitmem.search.hits import Hit
from gitmem.search.scope import Scope
from gitmem.search.similar_rows import search_similar
from gitmem.search.similar_units import Original, choose_similar, embed_original
from gitmem.store.open_segments import OpenSegments
from gitmem.types import ResultUnit


def find_similar(
    tree: IndexedTree, scope: Scope, encoder: Encoder, reader: ObjectReader, query: SimilarQuery, limit: int
) -> list[Hit]:
    """Return at most `limit` hits of code like that at a location, best first.

    Raises: UsageError if the location does not exist.
    """
    chunk = get_chunk(tree, reader, query.text, query.folder)
    units = _units_of(scope.snapshot, chunk.row)
    stored = scope.snapshot.unit_vectors(np.array([chunk.row]))[0]
    # The model of a provider would have to be asked for vectors of units. The bundled one compares them instead.
    names, is_comparable = encoder.names, encoder.names is encoder
    original = Original("", chunk.lines, stored, is_comparable)
    if units or not is_comparable:
        entry = find_location(tree, query.text, query.folder).entry
        oid = tree.view.oid(entry)
        data = text_of(reader.read(oid) or b"", tree.view.language(entry))
        vector = embed_original(names, chunk.symbol, chunk.lines, data, units)
        original = original._replace(blob=oid, vector=vector)
    compared = original.vector if is_comparable else stored
    nearest = search_similar(scope, chunk.row, CANDIDATE_LIMIT, compared if units else None)
    return choose_similar(nearest, _read_texts(nearest, reader), names, original, limit)


def _units_of(snapshot: OpenSegments, row: int) -> tuple[ResultUnit, ...]:
    rows = np.array([row])
    columns = snapshot.gather(("start", "line"), rows)
    return snapshot.units(rows, columns["start"], columns["line"])[0]


def _read_texts(hits: Sequence[Hit], reader: ObjectReader) -> dict[tuple[str, str], bytes]:
    """Read the text of the source of each hit with units, each blob once."""
    shared = [hit for hit in hits if hit.units]
    data = dict(reader.read_many(dict.fromkeys(hit.blob for hit in shared)))
    return {hit.source: text_of(data[hit.blob] or b"", hit.language) for hit in shared}
