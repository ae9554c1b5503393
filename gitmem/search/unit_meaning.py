"""Rate the definitions among which a result is chosen, those of several rows of a file, by the meaning of a query.

A row is ranked as a whole, and its file with it. Which definition of the file the query means is a finer question:
methods that share a row share its vector, and the words of a file count for all of its rows alike. So the definitions
of the best rows of a shown file are compared by their own vectors and names. The blobs of the hits are read anyway.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from operator import mul
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.embedding.encoder import Encoder
from gitmem.named_tuple import NamedTuple
from gitmem.search.described_kind import TOPIC_TERMS, UNKNOWN, find_described_kind
from gitmem.search.hits import Hit
from gitmem.search.parsed_query import ParsedQuery
from gitmem.search.qualified_names import defines_own_name, qualified_names, telling_name
from gitmem.search.unit_rating import LOOSE, RatedUnit, order_units
from gitmem.search.unit_text import named_text, own_text
from gitmem.types import CHUNK_TYPES, ResultUnit
from gitmem.words import count_identifiers


class UnitWeight(NamedTuple):
    """What a feature of a definition counts for a question, and for a query that certainly asks for a change."""

    question: float
    request: float


WEIGHTS: Final[Mapping[str, UnitWeight]] = {
    "text": UnitWeight(1.0, 1.0),  # meaning of the definition's own text [cosine]
    "name": UnitWeight(0.44, 0.28),  # meaning of its name [cosine; 0 if that is the name of another definition]
    "words": UnitWeight(0.26, 0.56),  # words of its row [lexical score per idf of the query, 0 to 2.2]
    "class": UnitWeight(0.14, -0.29),  # a class, interface or trait [0 or 1]
    "struct": UnitWeight(0.029, -0.16),  # a struct or enumeration, whose methods may be elsewhere [0 or 1]
    "extension": UnitWeight(-0.2, -1.2),  # the members of a type that is defined elsewhere [0 or 1]
    "value": UnitWeight(-0.23, -0.17),  # a constant, field, property or alias [0 or 1]
    "loose": UnitWeight(-0.56, -0.88),  # the text between definitions [0 or 1]
    "destructor": UnitWeight(-0.64, -0.61),  # its words are the names of the members that it frees [0 or 1]
    "described": UnitWeight(0.11, 0.072),  # the kind of definition that the query describes [1, for the other kind -1]
    "size": UnitWeight(0.0, 0.084),  # bytes of the definition [natural logarithm]
    "brevity": UnitWeight(-0.1, 0.0),  # below 100 bytes [1 at none]
    "topic": UnitWeight(-0.13, 0.0),  # below 600 bytes, if the query has few terms [1 at none]
}
"""Fitted on sentences of removed documentation and on messages of commits by `tests/bench/fit_unit_weights.py`.

A question describes a definition or names its subject; a request names what is wrong or new in one, which is likelier a
function, and a long one. The last two are not fitted: sentences describe small definitions as often as large ones,
while a few words name a topic, which is rather the subject of a class or of the function that does the work than of a
helper with one of the words in its name.
"""

_KINDS: Final = {
    "class": frozenset({"class", "interface", "trait"}),
    "struct": frozenset({"struct", "enum"}),
    "extension": frozenset({"impl"}),
    "value": frozenset({"constant", "field", "property", "type"}),
    "loose": LOOSE,
}

_FUNCTIONS: Final = frozenset({"function", "method"})
_THINGS: Final = frozenset().union(*_KINDS.values()) - LOOSE
"""What a sentence about a function does not describe."""

_BRIEF_BYTES: Final = 100
_TOPIC_BYTES: Final = 600

_SENTENCE_TERMS: Final = 10
"""Terms from which a query names no topic but is a sentence, in full from `TOPIC_TERMS` on."""

Texts = Mapping[tuple[str, str], bytes]
"""Text of the source of each hit, empty if it cannot be read."""


class QueryMeaning(NamedTuple):
    """What a query means, for the comparison with single definitions.

    `encoder` embeds names and made `vector`. `is_comparable` says whether it made the vectors of the index as well.
    `idf` is that of the query's terms.
    """

    query: ParsedQuery
    idf: Mapping[str, float]
    vector: NDArray[np.float32]
    encoder: Encoder
    is_comparable: bool

    @property
    def request(self) -> float:
        """Return from 0 to 1 how surely the query asks for a change; a text of several parts is such a message."""
        return 1.0 if self.query.facets else self.query.request


class MeasuredUnit(NamedTuple):
    """A unit with its features, in the order of WEIGHTS."""

    unit: ResultUnit
    features: tuple[float, ...]


def rate_by_meaning(rows: Sequence[Hit], texts: Texts, meaning: QueryMeaning) -> list[list[RatedUnit]]:
    """Return the units of several rows with ratings that compare all of them; those of a row best first.

    A row that is one definition has one unit.
    """
    share = meaning.request
    weights = [(1.0 - share) * weight.question + share * weight.request for weight in WEIGHTS.values()]
    return [
        order_units([RatedUnit(one.unit, sum(map(mul, weights, one.features))) for one in units], meaning.query.terms)
        for units in measure_units(rows, texts, meaning)
    ]


def measure_units(rows: Sequence[Hit], texts: Texts, meaning: QueryMeaning) -> Iterator[list[MeasuredUnit]]:
    """Yield the units of each row with their features. Embedding a unit costs some 50 microseconds."""
    units_by_row = [row.units or (_whole(row),) for row in rows]
    cosines = _cosines(rows, units_by_row, texts, meaning)
    total = sum(meaning.idf.values()) or 1.0
    form = _find_form(meaning.query)
    for row, units in zip(rows, units_by_row, strict=True):
        words = row.scores["lexical"] / total
        yield [
            MeasuredUnit(unit, (own.text, own.name, words, *_shape_features(unit, form)))
            for unit, own in zip(units, cosines, strict=False)
        ]


class _Form(NamedTuple):
    """Kind of definition that a query describes (`described_kind`), and from 0 to 1 how surely it names a topic."""

    kind: int
    topic: float


def _find_form(query: ParsedQuery) -> _Form:
    if query.facets:
        return _Form(UNKNOWN, 0.0)
    kind = find_described_kind(query.text.text, query.terms)
    few = (_SENTENCE_TERMS - len(query.terms)) / (_SENTENCE_TERMS - TOPIC_TERMS)
    return _Form(kind, min(1.0, max(0.0, few)))


def _shape_features(unit: ResultUnit, form: _Form) -> tuple[float, ...]:
    """Return the features from kind and size of a definition."""
    size = unit.end - unit.start
    is_thing, is_function = unit.chunk_type in _THINGS, unit.chunk_type in _FUNCTIONS
    return (
        *(float(unit.chunk_type in types) for types in _KINDS.values()),
        float(".~" in unit.symbol),
        float(form.kind * (is_thing - is_function)),
        math.log(max(1, size)),
        max(0.0, 1 - size / _BRIEF_BYTES),
        form.topic * max(0.0, 1 - size / _TOPIC_BYTES),
    )


def _whole(row: Hit) -> ResultUnit:
    return ResultUnit(row.start, row.end, row.start_line, row.end_line, row.chunk_type, row.symbol)


class _Cosines(NamedTuple):
    """Cosines of the text and of the name of a unit with the query."""

    text: float
    name: float


def _cosines(
    rows: Sequence[Hit], units_by_row: Sequence[Sequence[ResultUnit]], texts: Texts, meaning: QueryMeaning
) -> Iterator[_Cosines]:
    """Yield the cosines of all units; for the text of rows with one unit the stored one, if it is comparable."""
    embedded = [len(units) > 1 or not meaning.is_comparable for units in units_by_row]
    names = [count_identifiers(_defined_name(unit)) for units in units_by_row for unit in units]
    bags = [
        named_text(unit.symbol, own_text(texts[row.source], unit, units))
        for row, units, is_embedded in zip(rows, units_by_row, embedded, strict=True)
        if is_embedded
        for unit in units
    ]
    # All at once, because each call has a cost of its own. einsum, because a unit must get the same bits whichever
    # others are compared with it.
    every = iter(np.einsum("ij,j->i", meaning.encoder.encode_names([*names, *bags]), meaning.vector).tolist())
    of_names = list(islice(every, len(names)))
    of_texts: list[float] = []
    for row, units, is_embedded in zip(rows, units_by_row, embedded, strict=True):
        of_texts += islice(every, len(units)) if is_embedded else [row.scores["semantic"]]
    return map(_Cosines, of_texts, of_names)


def _defined_name(unit: ResultUnit) -> str:
    """Return the name that a unit defines; "" for a constructor or an extension, which has that of another one."""
    parts = qualified_names(unit.symbol)[0]
    return telling_name(unit.symbol) if defines_own_name(parts, CHUNK_TYPES.index(unit.chunk_type)) else ""
