"""Choose the results of a search for similar code: definitions that share a row of the index have one vector for all.

That vector is the mean of theirs and resembles none of them well, so each is embedded here by its own lines. It costs
some 50 microseconds, and only rows with several units need it.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

import numpy as np

from gitmem.arrays import NDArray
from gitmem.embedding.encoder import Encoder
from gitmem.locations import LineRange
from gitmem.named_tuple import NamedTuple
from gitmem.search.hits import Hit, show_whole
from gitmem.search.select import Scored, select
from gitmem.search.unit_text import named_text, own_text
from gitmem.types import ResultUnit
from gitmem.words import Text


class Original(NamedTuple):
    """The code that others are compared with: its blob, its lines there, and its vector.

    The encoder of the names made the vector. `is_comparable` says whether the vectors of the index are by this encoder.
    """

    blob: str
    lines: LineRange
    vector: NDArray[np.float32]
    is_comparable: bool


def choose_similar(
    hits: Sequence[Hit],
    texts: Mapping[tuple[str, str], bytes],
    names: Encoder,
    original: Original,
    limit: int,
) -> list[Hit]:
    """Return at most `limit` hits, best first, in which each unit of a row is a result of its own.

    `texts` has the text of the source of each hit with units.
    """
    units_by_hit = [_other_units(hit, original) for hit in hits]
    # All at once, because each call has a cost of its own.
    vectors = names.encode_names(
        [_unit_text(hit, unit, texts) for hit, units in zip(hits, units_by_hit, strict=True) for unit in units]
    )
    results: list[Hit] = []
    for hit, units, end in zip(hits, units_by_hit, accumulate(map(len, units_by_hit)), strict=True):
        results += _divide(hit, units, vectors[end - len(units) : end], original) if hit.units else [show_whole(hit)]
    scored = [
        Scored(place, hit.path, hit.start, hit.end, hit.start_line, hit.score) for place, hit in enumerate(results)
    ]
    # Similar code is often in the same file, and cosines say how similar it is: nothing is damped.
    return [results[place] for place, _ in select(scored, limit, decay=1.0)]


def embed_original(
    names: Encoder, symbol: str, lines: LineRange, data: bytes, units: Sequence[ResultUnit]
) -> NDArray[np.float32]:
    """Return the vector of a definition, by its symbol and its text like the vectors of the index.

    It is one of the `units` of a row, or has the row to itself.
    """
    own = [own_text(data, unit, units) for unit in units if lines.first <= unit.start_line <= lines.last]
    if not own:
        own = [b"\n".join(data.split(b"\n")[lines.first - 1 : lines.last])]
    vector: NDArray[np.float32] = names.encode_names([named_text(symbol, b"\n".join(own))])[0]
    return vector


def _other_units(hit: Hit, original: Original) -> list[ResultUnit]:
    """Return the units that share the row of a hit, without those of the original itself."""
    return [unit for unit in hit.units if hit.blob != original.blob or not _share_lines(unit, original.lines)]


def _unit_text(hit: Hit, unit: ResultUnit, texts: Mapping[tuple[str, str], bytes]) -> Text:
    return named_text(unit.symbol, own_text(texts[hit.source], unit, hit.units))


def _divide(hit: Hit, units: Sequence[ResultUnit], vectors: NDArray[np.float32], original: Original) -> Iterator[Hit]:
    """Yield some units of a hit with their own scores, given their vectors."""
    if not units:
        return
    # einsum, because a unit must get the same bits whichever others share its row.
    cosines = np.einsum("ij,j->i", vectors, original.vector)
    if original.is_comparable or len(units) < len(hit.units):
        scores = np.clip(cosines, 0.0, 1.0)
    else:  # cosines of another model than that of the index order the units of a row, but not the rows
        scores = hit.score * (1 - 1e-6 * _ranks(cosines))
    for unit, score in zip(units, scores.tolist(), strict=True):
        if score > 0:
            yield hit._replace(**unit._asdict(), units=(), score=score, scores={**hit.scores, "semantic": score})


def _ranks(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the rank of each value from 0, the highest first."""
    return np.argsort(np.argsort(-values, kind="stable"), kind="stable").astype(np.float64)


def _share_lines(unit: ResultUnit, lines: LineRange) -> bool:
    return unit.start_line <= lines.last and lines.first <= unit.end_line
