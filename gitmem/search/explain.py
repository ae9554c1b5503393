"""Explain the score of a hit: the contribution of each feature, their sum, and the damping of repeats. Pure."""

import math
from collections.abc import Mapping
from typing import Final

from gitmem.named_tuple import NamedTuple
from gitmem.search.calibration import ELSEWHERE, find_curve
from gitmem.search.rank import weights_for
from gitmem.types import PROSE_KINDS

LEGEND: Final = {
    "semantic": "similarity of the meaning of chunk and query, cosine",
    "lexical": "words of the query in the chunk, as a BM25F score",
    "fused": "semantic and lexical score together, in standard deviations above the mean",
    "lexical_gap": "words of the query in the chunk, in standard deviations below the best chunk of its file",
    "path_cosine": "similarity of the meaning of path and query, cosine",
    "definition": "1 if the chunk defines a name of the query",
    "definition_folded": "1 if it does when underscores are ignored",
    "symbol": "share of the query's words in the name of the symbol",
    "stem": "share of the query's words in the name of the file",
    "folder": "share of the query's words in the names of the folders",
    "named_file": "weight of the file as a place that the query names, such as a frame of a stack trace",
    "named_row": "the same for the function or line",
    "path": "1 if the path contains a path of the query",
    "file": "all chunks of the file together, as a share of the best file",
    "file_size": "size of the file: 0 at about 1,100 words, 1 at 22,000",
    "symbol_size": "size of the symbol: 0 at about 50 words, 1 at 400",
    "function": "1 for a function or method",
    "prose": "1 for text instead of code",
    "test": "1 for a test",
    "example": "1 for an example, demo or benchmark",
    "document": "1 for documentation or a change log",
    "auxiliary": "1 for vendored, generated or compatibility code, a migration or a translation",
    "conversation": "words and dates of the query in the conversation, as a share of the best one, above the average",
    "conversation_gap": "the same, and its nearest turns in meaning, as shares that they lack to the best conversation",
    "adjacent": "the turns of the conversation just before and after this one, in standard deviations above the mean",
    "spoken_name": "how much a definition whose name the query says in words lacks to the best other result",
    "spelling": "what a definition with the name that the query is lacks to the best other result",
    "quotation": "how much a chunk that has the query as it is written lacks to the best other result",
    "first_piece": "what the first piece of a definition that was cut lacks to its best piece",
    "row_choice": "what the shown definition lacks to the best chunk of its file",
    "elsewhere": "1 in another repository than the one of the current folder",
    "query": "how well the query is matched as a whole, the same for all results",
    "sum": "sum of value x weight = contribution; its logistic function is the score, from 0 to 1",
}
"""Meaning of each name in an explanation, in the order of `rank.WEIGHTS` and `rank.RECORD_WEIGHTS`."""


class Contribution(NamedTuple):
    """Value and weight of one feature of a hit."""

    name: str
    value: float
    weight: float

    @property
    def contribution(self) -> float:
        """Return the amount added to the sum: value times weight."""
        return self.value * self.weight


class Explanation(NamedTuple):
    """Decomposition of a score, the largest contribution first.

    `total` is the sum of all contributions, and `ranked` the score it gives before selection. `repeat_factor` is the
    factor that selection applied to it: less than 1 for a further chunk of a file. `currency` is the factor of a note
    that is outdated, or that replaces a better match.
    """

    parts: list[Contribution]
    total: float
    ranked: float
    repeat_factor: float
    currency: float = 1.0


def explain(scores: Mapping[str, float], score: float, chunk_type: str, mode: str) -> Explanation:
    """Decompose the score of a hit of some chunk type in a mode of search. `scores` are those of the hit.

    Weights are reported as they act on the score: in logits, calibration included.
    """
    slope = find_curve(mode, records=chunk_type in PROSE_KINDS).slope
    weights = {"semantic": 1.0} if mode == "semantic" else weights_for(chunk_type)
    parts = [Contribution(name, scores[name], slope * weight) for name, weight in weights.items() if name in scores]
    added = {
        "query": 1.0,
        "spoken_name": slope,
        "spelling": slope,
        "quotation": slope,
        "first_piece": slope,
        "row_choice": slope,
        "elsewhere": ELSEWHERE,
    }
    parts += [Contribution(name, scores[name], weight) for name, weight in added.items() if name in scores]
    parts.sort(key=lambda part: (-abs(part.contribution), part.name))
    total = sum(part.contribution for part in parts)
    ranked = 1.0 / (1.0 + math.exp(-total))
    currency = scores.get("currency", 1.0)
    return Explanation(parts, total, ranked, score / ranked / currency, currency)
