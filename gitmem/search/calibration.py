"""Turn weighted sums into scores: the likelihood that a result is relevant.

Within a query the score rises with the sum, so it keeps the order. Between queries it depends on how well the query is
matched as a whole: a sum that is high among bad candidates means little. The evidence is measured on the search without
filters, so a filter changes no score.

The score is the logistic function of `slope * sum + weights * evidence + bias` (Platt 1999, with further inputs). The
parameters are fitted on queries with known answers and on queries about other repositories, see
`tests/bench/fit_calibration.py`.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.named_tuple import NamedTuple
from gitmem.search.lexical import max_score
from gitmem.search.parsed_query import ParsedQuery
from gitmem.search.rank import Candidates

BEST_FILES: Final = 10
"""Files whose sums are compared, and rows whose cosines are averaged."""

LONE_MARGIN: Final = 3.0
"""Margin and spread if there is one file only."""


POOR: Final = 0.4
"""Coverage and cosine below which a further loss counts more: few queries about the repository are below them."""


_ALL: Final = 0.999  # sums of 32-bit numbers


class Curve(NamedTuple):
    """Parameters of one kind of search: logits for each unit of the sum and of the evidence, and the bias."""

    slope: float
    bias: float
    evidence: Mapping[str, float]


CODE: Final = "code"
RECORDS: Final = "records"

INPUTS: Final[Mapping[str, str]] = {
    "files": "number of files in the tree, of records those that are compared; at most ten",
    "best": "the highest sum of the query",
    "margin": "by how much it exceeds that of the second file",
    "spread": "by how much it exceeds that of the tenth file",
    "known": "share of the query's terms that occur at all",
    "covered": "highest lexical score of a file, as a share of the highest possible one",
    "uncovered": "by how much that share is below 0.4",
    "together": "highest share of the query's terms that one file holds, by importance",
    "length": "logarithm of the number of terms",
    "symbol": "1 if the query is a symbol",
    "text": "1 if the query is a text of several lines",
    "cosine": "highest cosine",
    "cosines": "mean of the ten highest cosines",
    "unlike": "by how much the highest cosine is below 0.4",
}
"""Meaning of the evidence."""

CURVES: Final[Mapping[str, Mapping[str, Curve]]] = {
    CODE: {
        "hybrid": Curve(
            1.04,
            -6.466,
            {
                "best": -0.836, "margin": 0.267, "spread": 0.259, "known": 3.95, "covered": -1.12, "uncovered": -3.91,
                "together": 0.0724, "length": 0.362, "symbol": -0.48, "text": 1.73, "cosine": 0.129, "cosines": -0.869,
                "unlike": -9.94,
            },
        ),
        "lexical": Curve(
            1.22,
            -8.012,
            {
                "best": -0.832, "margin": 0.292, "spread": 0.24, "known": 5.0, "covered": -1.27, "uncovered": -5.59,
                "together": -0.0303, "length": 0.515, "symbol": -1.02, "text": 1.99,
            },
        ),
        "semantic": Curve(4.99, -4.669, {}),
    },
    RECORDS: {
        "hybrid": Curve(
            0.825,
            -9.798,
            {
                "best": -0.813, "margin": 0.186, "spread": 0.259, "known": 4.75, "covered": -0.461, "uncovered": -2.83,
                "together": 1.66, "length": 0.288, "cosine": 1.49, "cosines": 0.171, "unlike": -3.15,
            },
        ),
        "lexical": Curve(
            0.974,
            -9.895,
            {
                "best": -1.05, "margin": 0.258, "spread": 0.263, "known": 5.53, "covered": -0.815, "uncovered": -5.98,
                "together": 1.95, "length": 0.777,
            },
        ),
        "semantic": Curve(11.8, -7.697, {}),
    },
}  # fmt: skip
"""Fitted by `tests/bench/fit_calibration.py`; the sum of the mode `semantic` is the cosine."""

FLOOR: Final = 0.07
"""Score that the best candidate of a query should have. A query that remains below it is refused, see `makes_sense`."""


ELSEWHERE: Final = -4.0
"""Logits of a result in another repository than the one that the user works in: most queries are about the latter."""


def find_curve(mode: str, *, records: bool) -> Curve:
    """Return the parameters for a mode of search in files or in records."""
    return CURVES[RECORDS if records else CODE][mode]


def measure_evidence(
    query: ParsedQuery, candidates: Candidates, idf: Mapping[str, float], sums: NDArray[np.float64], files: int = 0
) -> dict[str, float]:
    """Measure how well the candidates without filters match a query as a whole. `files` are those of the tree."""
    pool = candidates.pool
    best = np.full(len(candidates.paths), -np.inf)
    np.maximum.at(best, candidates.file[pool], sums[pool])
    best = -np.sort(-best[np.isfinite(best)])[:BEST_FILES]
    cosines = np.sort(candidates.dense[pool])[-BEST_FILES:]
    highest = max_score(idf)
    covered = float(candidates.file_lexical[pool].max()) / highest if highest else 0.0
    return {
        # Nonsense has few candidates, because few files have a word of it, so candidates do not show a small tree.
        # Any note may be the answer, however few of its words it has, so of records the candidates count.
        "files": float(len(best) if candidates.are_records else min(BEST_FILES, max(files, len(best)))),
        "best": float(best[0]),
        "margin": float(best[0] - best[1]) if len(best) > 1 else LONE_MARGIN,
        "spread": float(best[0] - best[-1]) if len(best) > 1 else LONE_MARGIN,
        "known": sum(idf.get(term, 0.0) > 0 for term in query.terms) / max(len(query.terms), 1),
        "covered": covered,
        "uncovered": max(0.0, POOR - covered),
        "together": float(candidates.file_coverage[pool].max()),
        "cosine": float(cosines[-1]),
        "cosines": float(cosines.mean()),
        "unlike": max(0.0, POOR - float(cosines[-1])),
        "length": float(np.log1p(len(query.terms))),
        "symbol": float(query.coded),
        "text": float(bool(query.facets)),
    }


def weigh_evidence(curve: Curve, evidence: Mapping[str, float]) -> float:
    """Return what the evidence adds to the logits of all results of a query, bias included."""
    return curve.bias + sum(weight * evidence[name] for name, weight in curve.evidence.items())


def calibrate(curve: Curve, sums: NDArray[np.float64], evidence: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores from sums and the weighed evidence of their query, or of each candidate."""
    scores: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-(curve.slope * sums + evidence)))
    return scores


def makes_sense(best: float, evidence: Mapping[str, float]) -> bool:
    """Return whether a query makes sense in a tree: its best score reaches FLOOR, or one file holds all its words.

    In a tree of fewer files than the evidence compares, one known word is enough: standardised sums tell little there.
    Filters have no part in it. The mode `semantic` measures no evidence and refuses nothing: a cosine alone does not
    separate nonsense from a query in other words.
    """
    if evidence.get("text"):
        return True  # issues and logs have many words that are nowhere, and are about this repository
    if evidence.get("files", BEST_FILES) < BEST_FILES and evidence["known"] > 0:
        return True
    return best >= FLOOR or evidence.get("together", 1.0) >= _ALL
