"""Rank candidates: features from symbol, path and file are combined with the two retrieval scores.

Every feature is one number per candidate, mostly between 0 and 1. Their weighted sum orders the candidates of a query;
`calibration` turns it into a likelihood. Records have their own weights, because they have no place in a tree and their
passages define nothing.

Features that compare candidates compare them with the *pool*, the candidates of the search without filters. So a filter
removes results and changes no sum.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.named_tuple import NamedTuple
from gitmem.search.adjacent_turns import TURN_KIND, score_adjacent_turns
from gitmem.search.best_sums import sum_best
from gitmem.search.defined_names import definition_features
from gitmem.search.fuse import standardise_lexical
from gitmem.search.lexical import max_score
from gitmem.search.name_coverage import NameCoverage
from gitmem.search.parsed_query import ParsedQuery
from gitmem.search.path_roles import ROLES, path_names
from gitmem.search.qualified_names import telling_name
from gitmem.search.role_strengths import find_descriptions, weigh_roles
from gitmem.search.row_roles import find_roles
from gitmem.search.whole_conversations import measure_gaps
from gitmem.types import CHUNK_TYPES, PROSE_KINDS

# The unit of each feature is in brackets. "Coverage" is the agreement of a name with the query (`name_coverage`). The
# weights of `lexical_gap`, `path` and the named places are not fitted: the fitting queries, which are short and
# answered by whole files, do not bear on them.
WEIGHTS: Final[Mapping[str, float]] = {
    "fused": 1.0,  # meaning of the chunk and words of its file, fused [standard deviations]
    "lexical_gap": -0.1,  # words of the chunk, compared with the best chunk of its file [standard deviations below]
    "path_cosine": 4.2,  # meaning of the path's words [cosine; 0 for files that are not among the most promising]
    "definition": 1.0,  # the chunk defines a name of the query, ignoring case [0 or 1]
    "definition_folded": 0.8,  # the same, ignoring underscores too; too rare for a fit, 0.8 of the exact one [0 or 1]
    "symbol": 2.5,  # words of the symbol's own name [coverage, 0 to 1]
    "stem": 3.8,  # words of the file's name [coverage, 0 to 1]
    "folder": 2.4,  # words of the folders' names [coverage, 0 to 1]
    "named_file": 2.5,  # the query names the file, in a stack trace for example [weight of the place, 0 to 1]
    "named_row": 1.0,  # the query names a line or the function of the chunk [the same]
    "path": 2.5,  # the path contains a path fragment of the query [0 or 1]
    "file": 1.5,  # fused scores of all chunks of the file [share of the best file's sum, 0 to 1]
    "file_size": 1.2,  # words of the file [log scale: 0 at about 1,100 words, 1 at 22,000]
    "symbol_size": 0.97,  # words of the chunk, if the query is a symbol [log scale: 0 at about 50 words, 1 at 400]
    "function": 0.39,  # the chunk is a function or method [0 or 1]
    "prose": -2.4,  # the chunk is text instead of code [0 or 1, less in a repository of documents]
    "test": -3.3,  # role of the row, less if the query mentions it [0 to 1, or `ASKED_STRENGTH`], here and below
    "example": -3.6,  # examples, demos, benchmarks
    "document": -2.8,  # documentation, change logs
    "auxiliary": -3.7,  # vendored, generated and compatibility code, migrations, translations
}
"""Logits that one unit of each feature adds to a score. Fitted on public retrieval queries by
`tests/bench/fit_code_weights.py`."""

RECORD_WEIGHTS: Final[Mapping[str, float]] = {
    "fused": 2.4,
    "lexical_gap": -0.66,
    "file": 1.7,
    "conversation": 6.0,  # words and dates in the whole conversation of a turn [share of the best one, above the mean]
    "conversation_gap": -3.0,  # the same and the nearest turns, below those of the best one [shares, 0 to 2]
    "adjacent": 1.4,  # fused scores of the turns beside a turn [standard deviations above the mean]
}
"""The same for records: fitted on headings of public documentation by `tests/bench/fit_document_weights.py`.

The weights of `conversation`, its gap and `adjacent` are chosen on the development half of
`tests/bench/conversation_quality.py`. More of `adjacent` finds a little more there, and ranks turns above better notes.
So would more of `conversation`; the gap lowers the turns of other conversations instead.
"""

CHUNK_DECAY: Final = 0.97
COUNTED_CHUNKS: Final = 8
"""Best chunks of a file that count for it, and the factor by which each counts less than the one before."""

TEXT_SHARE: Final = 0.5
"""Factor on the features of names and sizes for a long text, in which far more words may match a name by chance.

Issue localisation (`tests/bench/issues.py`) is best from 0.35 to 0.65.
"""

REQUEST_SHARE: Final = 0.8
"""Share of the differences between path cosines that a query loses if it certainly asks for a change.

Subjects of commits (`tests/bench/change_requests.py`) are best from 0.7 to 0.8.
"""

_MARGIN: Final = 1e-3
"""Logits by which a lifted candidate exceeds the others."""

_OF_NAMES: Final = ("symbol", "stem", "folder", "path_cosine", "file", "file_size")

_OF_SUBJECTS: Final = ("symbol", "stem", "folder", "path_cosine")
"""Features that a test or an example has for the names of the code that it is about."""

_RARE: Final = frozenset(
    ("definition", "definition_folded", "function", "prose", "named_file", "named_row", "path", "conversation",
     "conversation_gap", "adjacent", *ROLES)
)  # fmt: skip
"""Features that only some candidates have: an explanation leaves them out if they are 0."""


def _chunk_type_mask(names: str) -> NDArray[np.float64]:
    """Return 1 for the chunk types in `names`, 0 for the others, in the order of CHUNK_TYPES."""
    return np.array([float(chunk_type in names.split()) for chunk_type in CHUNK_TYPES])


_IS_FUNCTION: Final = _chunk_type_mask("function method")
IS_PROSE: Final = _chunk_type_mask(" ".join(("section", "text", *PROSE_KINDS)))
_CAN_DEFINE: Final = IS_PROSE == 0
_IS_RECORD: Final = _chunk_type_mask(" ".join(PROSE_KINDS)) > 0


class Candidates(NamedTuple):
    """Rows that may become hits, column by column, with the data that ranking needs.

    - `file` indexes `paths`, which names each file once; `chunk_type` indexes CHUNK_TYPES.
    - `is_generated` marks rows of files that a program wrote, as their first lines say, `may_test` those that may
      contain tests.
    - `words` and `file_words`: lengths of the row's text and of its file.
    - `dense`: the cosine of row and query; `path_cosine`: that of the path's words and the query.
    - `lexical` and `file_lexical`: lexical scores of the row and of its file.
    - `file_coverage`: share of the query's terms that the file holds, by importance.
    - `fused_row` and `fused`: the cosine fused with the row's lexical score, and with its file's.
    - `pool` marks the candidates of the search without filters, `inside` those that pass the filters.
    - `copy_of` is the position of the candidate that this one copies (`copies`), its own if there is none.
    """

    row: NDArray[np.int64]
    file: NDArray[np.int64]
    paths: list[str]
    chunk_type: NDArray[np.uint8]
    symbol: list[str]
    is_generated: NDArray[np.bool_]
    may_test: NDArray[np.bool_]
    words: NDArray[np.float32]
    file_words: NDArray[np.float32]
    dense: NDArray[np.float32]
    lexical: NDArray[np.float32]
    file_lexical: NDArray[np.float32]
    file_coverage: NDArray[np.float32]
    path_cosine: NDArray[np.float32]
    fused_row: NDArray[np.float32]
    fused: NDArray[np.float32]
    named_file: NDArray[np.float32]
    named_row: NDArray[np.float32]
    conversation: NDArray[np.float32]
    pool: NDArray[np.bool_]
    inside: NDArray[np.bool_]
    copy_of: NDArray[np.int64]

    def path_of(self, position: int) -> str:
        """Return the path of a candidate."""
        return self.paths[int(self.file[position])]

    @property
    def are_records(self) -> bool:
        """Return whether the candidates are records or commit messages: they and files are searched apart."""
        return bool(_IS_RECORD[self.chunk_type].any())


NO_SHARES: Final[Mapping[str, float]] = {}

Features = Mapping[str, NDArray[np.float64]]
"""One column for each name of WEIGHTS."""


def compute_features(
    query: ParsedQuery,
    candidates: Candidates,
    idf: Mapping[str, float],
    shares: Mapping[str, float] = NO_SHARES,
) -> Features:
    """Compute the features of all candidates. `shares` is the share of each path role in the searched files."""
    coverage = NameCoverage(query, idf)
    strengths = weigh_roles(query.text.text, query.terms, idf, shares)
    by_file = _path_features(query, candidates.paths, coverage)
    roles = find_roles(
        candidates.paths, candidates.file, candidates.symbol, candidates.is_generated, candidates.may_test
    )
    features = {
        "fused": candidates.fused.astype(np.float64),
        "lexical_gap": _lexical_gap(candidates, max_score(idf)),
        "path_cosine": _path_cosines(query, candidates),
        "named_file": candidates.named_file.astype(np.float64),
        "named_row": candidates.named_row.astype(np.float64),
        "file": _file_coherence(candidates),
        "conversation": _conversation(candidates),
        "conversation_gap": _conversation_gap(query, candidates),
        "adjacent": score_adjacent_turns(
            candidates.paths, candidates.file, candidates.chunk_type, candidates.fused, candidates.pool
        ),
        **_shape_features(query, candidates, strengths["document"]),
        **definition_features(query, candidates.symbol, candidates.path_of, candidates.chunk_type, _CAN_DEFINE, idf),
        "symbol": coverage.of(list(map(telling_name, candidates.symbol))),
        **{name: values[candidates.file] for name, values in by_file.items()},
        **{role: (roles == code) * strengths[role] for code, role in enumerate(ROLES)},
    }
    about_others = find_descriptions(features, IS_PROSE[candidates.chunk_type], shares)
    features |= {name: (1.0 - about_others) * features[name] for name in _OF_SUBJECTS}
    if query.facets:
        features |= {name: TEXT_SHARE * features[name] for name in _OF_NAMES}
    return features


def combine_features(features: Features, weights: Mapping[str, float] = WEIGHTS) -> NDArray[np.float64]:
    """Return the weighted sums of the candidates."""
    return sum((weight * features[name] for name, weight in weights.items()), start=np.float64(0.0) * features["fused"])


def are_plain(features: Features) -> NDArray[np.bool_]:
    """Return which candidates are neither tests nor examples nor the like."""
    plain: NDArray[np.bool_] = np.logical_and.reduce([features[role] == 0 for role in ROLES])
    return plain


def lift_above(
    lifted: NDArray[np.bool_], own: NDArray[np.bool_], others: NDArray[np.bool_], sums: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Return what puts the best of `own` just above the best of `others`, for all `lifted` alike, [candidates].

    None if either is empty, or if it is above already.
    """
    if not own.any() or not others.any():
        return None
    missing = float(sums[others].max() - sums[own].max())
    return np.where(lifted, missing + _MARGIN, 0.0) if missing > 0 else None


def weights_for(chunk_type: str) -> Mapping[str, float]:
    """Return the weights for candidates of a chunk type."""
    return RECORD_WEIGHTS if chunk_type in PROSE_KINDS else WEIGHTS


def features_of(features: Features, position: int, chunk_type: str) -> dict[str, float]:
    """Return the features of one candidate that count for its chunk type, without rare ones that are 0."""
    values = {name: float(features[name][position]) for name in weights_for(chunk_type)}
    return {name: value for name, value in values.items() if value or name not in _RARE}


def _lexical_gap(candidates: Candidates, max_lexical: float) -> NDArray[np.float64]:
    """Return how far each lexical score is below the best of its file, in standard deviations over all candidates."""
    # `fused` contains the file's lexical score, which all its chunks share. This feature tells them apart.
    pool = candidates.pool
    scores = standardise_lexical(candidates.lexical, max_lexical, pool).astype(np.float64)
    best = np.full(len(candidates.paths), -np.inf)
    np.maximum.at(best, candidates.file[pool], scores[pool])
    gap: NDArray[np.float64] = np.maximum(best[candidates.file] - scores, 0.0)
    return gap


def _conversation(candidates: Candidates) -> NDArray[np.float64]:
    """Return the scores of the conversations as shares of the best one, above the mean of all turns."""
    scores = candidates.conversation.astype(np.float64)
    counted = scores[candidates.pool & (candidates.chunk_type == TURN_KIND)]
    best = counted.max(initial=0.0)
    if not best:
        return np.zeros(len(scores))
    return np.where(candidates.chunk_type == TURN_KIND, (scores - counted.mean()) / best, 0.0)


def _conversation_gap(query: ParsedQuery, candidates: Candidates) -> NDArray[np.float64]:
    """Return how far the conversations are below the best one; for a symbol their meaning does not count."""
    cosines = np.zeros_like(candidates.dense) if query.coded else candidates.dense
    return measure_gaps(
        candidates.paths, candidates.file, candidates.chunk_type, candidates.conversation, cosines, candidates.pool
    )


def _path_cosines(query: ParsedQuery, candidates: Candidates) -> NDArray[np.float64]:
    """Return the meaning of the paths; nearly the same for all if the query asks for a change."""
    # A question names what a file is about, and its path does too. A change names what is wrong or new, mostly a detail
    # of the file: there the path misleads. The cosines approach the highest one instead of zero, because a score is a
    # likelihood by the sum of the features, and the weights of that are fitted on questions.
    cosines = candidates.path_cosine.astype(np.float64)
    lost = REQUEST_SHARE * query.request
    return cosines + lost * (cosines[candidates.pool].max(initial=0.0) - cosines) if lost else cosines


def _file_coherence(candidates: Candidates) -> NDArray[np.float64]:
    """Return for each candidate how much of its file matches: the sum of its best chunks, relative to the best file."""
    # A file that is about the query matches in many chunks, one that mentions it in a single one. Negative fused
    # scores (below average) count as nothing, and only the best chunks count, so a long file gains little by length.
    every = np.maximum(candidates.fused_row, 0.0).astype(np.float64)
    scores, own = every[candidates.pool], candidates.file[candidates.pool]
    totals = sum_best(scores, own, len(candidates.paths), COUNTED_CHUNKS, CHUNK_DECAY)
    # A file outside the pool has nothing that matches well; each of its chunks counts for itself.
    sums = np.where(np.bincount(own, minlength=len(totals))[candidates.file], totals[candidates.file], every)
    coherence: NDArray[np.float64] = sums / (totals.max(initial=0.0) or 1.0)
    return coherence


def _shape_features(
    query: ParsedQuery, candidates: Candidates, prose_strength: float
) -> dict[str, NDArray[np.float64]]:
    """Return the sizes on a log scale, and whether a chunk is a function or prose."""
    return {
        # A chunk's own size counts only if the query is a symbol: there it distinguishes a definition from an alias or
        # a re-export. For other queries it says nothing.
        "symbol_size": (np.log1p(candidates.words.astype(np.float64)) - 4) / 2 * query.coded,
        "file_size": (np.log1p(candidates.file_words.astype(np.float64)) - 7) / 3,
        "function": _IS_FUNCTION[candidates.chunk_type],
        "prose": IS_PROSE[candidates.chunk_type] * prose_strength,
    }


def _path_features(query: ParsedQuery, paths: Sequence[str], coverage: NameCoverage) -> dict[str, NDArray[np.float64]]:
    """Return the features of the paths, one value per path."""
    names = [path_names(path) for path in paths]
    return {
        "stem": coverage.of([name.stem for name in names]),
        "folder": coverage.of([name.folder for name in names]),
        "path": np.array([float(any(part in path.lower() for part in query.paths)) for path in paths])
        if query.paths
        else np.zeros(len(paths)),
    }
