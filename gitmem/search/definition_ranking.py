"""Search rows that are versions of definitions: each row counts for itself, and the best one for its definition.

A file of the index of the past holds only what was new in one version of a file, so the rest of it says nothing about a
definition: neither its length nor other matches. The name says more than the path, because the query is about one
definition. Versions of a definition differ little, so candidates are many.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.embedding.encoder import Encoder
from gitmem.named_tuple import NamedTuple
from gitmem.search.calibration import FLOOR
from gitmem.search.engine import (
    DEFAULT_OPTIONS,
    Rejected,
    SearchOptions,
    SearchResult,
    fuse_candidates,
    rank_candidates,
)
from gitmem.search.fuse import FusionWeights
from gitmem.search.hits import load_hits
from gitmem.search.parsed_query import ParsedQuery
from gitmem.search.qualified_names import own_name
from gitmem.search.rank import WEIGHTS, Candidates, Features, combine_features, compute_features
from gitmem.search.retrieval import Retrieval, retrieve
from gitmem.search.scope import Scope
from gitmem.search.select import Scored, collapse
from gitmem.search.stop_words import STOP_WORDS
from gitmem.words import compound_of, find_identifiers, split_identifier, stem

DEFINITION_FUSION: Final = FusionWeights(semantic=0.45, lexical=1.4)
"""Weights of meaning and of words in `fused`: a definition is asked for by its own words."""

DEFINITION_WEIGHTS: Final[Mapping[str, float]] = {
    "fused": 1.0,  # meaning and words of the version [standard deviations]
    "name": 2.6,  # words of the definition's own name [coverage, 0 to 1]
    "same_name": 5.0,  # the query is the name in words [0 or 1]
    "path_cosine": 2.0,
    "folder": 0.5,
    "function": 1.0,
    "versions": 0.65,  # versions of the definition [natural logarithm]
    "named_file": WEIGHTS["named_file"],
    "named_row": WEIGHTS["named_row"],
    "path": WEIGHTS["path"],
    **{role: WEIGHTS[role] for role in ("prose", "test", "example", "document", "auxiliary")},
}
"""Logits of each feature, see `rank.WEIGHTS`. Those with a comment, `path_cosine` and the fusion are fitted by
`tests/bench/fit_past_weights.py`, `folder` and `function` chosen, and the others are those of files."""

CANDIDATES: Final = 600
"""Rows of each retrieval: a dozen versions of fifty definitions."""

JOINED_WORDS: Final = range(2, 9)
"""Numbers of words of a query that may be a name: they are looked up as one identifier, too."""

STOP_WEIGHT: Final = 0.3
"""Weight of a stop word in a name: the `get` of `get_user` says less than the `user`."""

TYPICAL_WORDS: Final = 1100.0
"""Length of every row's file: the size at which the length of a file counts neither for nor against it."""

_LOGITS_OF_COSINE: Final = 5.0
"""Slope of the curve by which a cosine becomes a likelihood in a search by meaning, see `calibration`."""


class Definitions(NamedTuple):
    """Definition that each row of a scope is a version of, and the number of its versions, [rows] each."""

    group: NDArray[np.int64]
    versions: NDArray[np.int64]


def search_definitions(
    scope: Scope,
    query: ParsedQuery,
    encoder: Encoder,
    definitions: Definitions,
    path_of: Callable[[str], str],
    *,
    limit: int,
    options: SearchOptions = DEFAULT_OPTIONS,
    min_score: float | None = None,
) -> tuple[SearchResult, list[int]]:
    """Return the best version of each of the best definitions, and their rows.

    `path_of` returns the path of a version in its tree. The best result has the score that it would have in a search
    of files, and the ratio of two scores is that of their likelihoods. Without `min_score` the answer is empty if the
    query makes no sense.
    """
    if not scope.row_count:
        return SearchResult(query.terms, []), []
    retrieved, versions = retrieve_versions(scope, query, encoder, path_of, options.mode)
    candidates = retrieved.candidates
    ordinary = rank_candidates(retrieved, limit=1, fusion=options.fusion)
    sums = _sum_features(retrieved, definitions, options)
    best = _select(candidates, versions, definitions.group, sums, limit)
    top = max((score for _, score in ordinary.selected), default=0.0)
    scored = [(place, top * math.exp(sums[place] - sums[best[0]])) for place in best]
    least = min_score if min_score is not None else 0.0 if ordinary.makes_sense else math.inf
    passing = [one for one in scored if one[1] >= least]
    rejected = [score for _, score in scored[len(passing) :]]
    result = SearchResult(
        query.terms,
        load_hits(scope, candidates, passing, {}),
        rejected=Rejected(len(rejected), rejected[0], FLOOR if min_score is None else min_score) if rejected else None,
    )
    return result, [int(candidates.row[place]) for place, _ in passing]


def retrieve_versions(
    scope: Scope, query: ParsedQuery, encoder: Encoder, path_of: Callable[[str], str], mode: str
) -> tuple[Retrieval, list[Scored]]:
    """Return the candidates as if each were alone in a file, and their places in versions of files."""
    query = _with_joined_name(query)
    retrieved = retrieve(scope, query, encoder, mode=mode, nearest=CANDIDATES, limit=CANDIDATES)
    return retrieved._replace(candidates=_apart(retrieved.candidates, path_of)), _list_versions(retrieved)


def compute_definition_features(
    retrieved: Retrieval, definitions: Definitions, fusion: str, weights: FusionWeights = DEFINITION_FUSION
) -> Features:
    """Compute the features of candidates that are alone in their files."""
    candidates, query = fuse_candidates(retrieved, fusion, weights), retrieved.query
    features = compute_features(query, candidates, retrieved.idf, retrieved.role_shares)
    versions = np.log(np.maximum(definitions.versions[candidates.row], 1))
    return {**features, **_compare_names(query, candidates.symbol), "versions": versions}


def _with_joined_name(query: ParsedQuery) -> ParsedQuery:
    """Return a query that also looks up its words as one identifier: stop words are parts of names, too."""
    parts = [part.lower() for word in find_identifiers(query.text.text) for part in split_identifier(word)]
    joined = compound_of(parts) if len(parts) in JOINED_WORDS else ""
    if query.texts or not joined or joined in (*query.terms, *query.compounds):
        return query
    return query._replace(compounds=(*query.compounds, joined))


def _apart(candidates: Candidates, path_of: Callable[[str], str]) -> Candidates:
    """Return the candidates as if each were alone in its file, and a copy of none."""
    size = len(candidates.row)
    return candidates._replace(
        file=np.arange(size),
        paths=[path_of(candidates.paths[file]) for file in candidates.file.tolist()],
        file_lexical=candidates.lexical,
        file_words=np.full(size, TYPICAL_WORDS, np.float32),
        copy_of=np.arange(size),
    )


def _sum_features(retrieved: Retrieval, definitions: Definitions, options: SearchOptions) -> NDArray[np.float64]:
    """Return the weighted sums of the candidates; by meaning alone their cosines, on the same scale."""
    if options.mode == "semantic":
        return _LOGITS_OF_COSINE * retrieved.candidates.dense.astype(np.float64)
    if not len(retrieved.candidates.row):
        return np.zeros(0)
    return combine_features(compute_definition_features(retrieved, definitions, options.fusion), DEFINITION_WEIGHTS)


def _select(
    candidates: Candidates, versions: Sequence[Scored], group: NDArray[np.int64], sums: NDArray[np.float64], limit: int
) -> list[int]:
    """Return the position of the best version of each of the best definitions that pass the filters, best first.

    A method and its class that are new in the same version of a file are one result, unless the class is long.
    """
    inside = np.flatnonzero(candidates.inside)
    order = inside[np.lexsort((candidates.row[inside], -sums[inside]))]
    chosen: dict[int, int] = {}
    by_path: dict[str, list[Scored]] = {}
    for place, definition in zip(order.tolist(), group[candidates.row[order]].tolist(), strict=True):
        others = by_path.setdefault(versions[place].path, [])
        if definition in chosen or any(collapse(versions[place], other) for other in others):
            continue
        chosen[definition] = place
        others.append(versions[place])
        if len(chosen) == limit:
            break
    return list(chosen.values())


def _list_versions(retrieved: Retrieval) -> list[Scored]:
    """Return the candidates with their places in versions of files."""
    candidates, spans = retrieved.candidates, retrieved.spans
    paths = [candidates.paths[file] for file in candidates.file.tolist()]
    columns = zip(paths, spans.start.tolist(), spans.end.tolist(), spans.line.tolist(), strict=True)
    return [Scored(place, path, start, end, line, 0.0) for place, (path, start, end, line) in enumerate(columns)]


def _compare_names(query: ParsedQuery, symbols: Sequence[str]) -> Features:
    """Return how well each own name covers the query and the query the name, and whether they are the same words."""
    words = _name_words(query.text.text)
    matches = {symbol: _compare_name(_name_words(own_name(symbol)), words) for symbol in set(symbols)}
    columns = np.array([matches[symbol] for symbol in symbols]).reshape(len(symbols), 2)
    return {"name": columns[:, 0], "same_name": columns[:, 1]}


def _compare_name(name: Sequence[str], query: Sequence[str]) -> tuple[float, float]:
    shared = _weigh(set(name) & set(query))
    if not shared:
        return 0.0, 0.0
    # Geometric mean of precision and recall, as in `rank`; but here stop words count a little.
    return math.sqrt(shared / _weigh(set(name)) * shared / _weigh(set(query))), float(name == query)


def _weigh(words: set[str]) -> float:
    return sum(STOP_WEIGHT if word in STOP_WORDS else 1.0 for word in words)


def _name_words(text: str) -> list[str]:
    """Return the stemmed words of a name or a query, in order."""
    return [stem(part.lower()) for word in find_identifiers(text) for part in split_identifier(word)]
