"""Questions with known answers, made by hand: what was retrieved, and which candidate is right."""

import numpy as np

from gitmem.search.engine import Retrieval
from gitmem.search.hits import Spans
from gitmem.search.query_parser import parse_query
from gitmem.search.rank import Candidates
from gitmem.search.replay import JudgedRetrieval
from gitmem.types import CHUNK_TYPES


def made_trial(cosines: list[float], words: list[float], right: int) -> JudgedRetrieval:
    """A question whose candidates, each in a file of its own, differ in nothing but their two scores."""
    count = len(cosines)
    rows = np.arange(count)
    found = Candidates(
        row=rows,
        file=rows,
        paths=[f"lib/{number:02}.py" for number in range(count)],
        chunk_type=np.full(count, CHUNK_TYPES.index("function"), np.uint8),
        symbol=[""] * count,
        words=np.full(count, 50, np.float32),
        file_words=np.full(count, 1100, np.float32),
        dense=np.array(cosines, np.float32),
        lexical=np.array(words, np.float32),
        file_lexical=np.array(words, np.float32),
        path_cosine=np.zeros(count, np.float32),
        fused_row=np.zeros(count, np.float32),
        fused=np.zeros(count, np.float32),
    )
    spans = Spans(np.zeros(count, np.int64), np.full(count, 100), np.ones(count, np.int64))
    met = [frozenset({0} if place == right else ()) for place in range(count)]
    return JudgedRetrieval(Retrieval(parse_query("keys"), found, spans, {"key": 1.0}), met, 1)


def told_by_words(count: int) -> list[JudgedRetrieval]:
    """Questions whose answer has the most words and an unlikely meaning, with every default answered wrongly."""
    return [made_trial([0.9, 0.5, 0.4, 0.45, 0.2], [0.0, 0.0, 0.1, 0.0, 1.0], 4) for _ in range(count)]


def told_by_meaning(count: int) -> list[JudgedRetrieval]:
    """Questions whose answer is nearest in meaning and has no word of them."""
    return [made_trial([0.9, 0.5, 0.4, 0.45, 0.2], [0.0, 0.0, 0.1, 0.0, 1.0], 0) for _ in range(count)]
