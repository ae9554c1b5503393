"""Judged queries for tests: candidates with given scores, one of which is the answer."""

import numpy as np

from gitmem.search.hits import Spans
from gitmem.search.query_parser import parse_query
from gitmem.search.rank import Candidates
from gitmem.search.replay import JudgedRetrieval
from gitmem.search.retrieval import Retrieval
from gitmem.types import CHUNK_TYPES


def make_judged(cosines: list[float], words: list[float], right: int) -> JudgedRetrieval:
    """Return a query whose candidates, each in its own file, differ only in their two scores."""
    count = len(cosines)
    rows = np.arange(count)
    candidates = Candidates(
        row=rows,
        file=rows,
        paths=[f"lib/{number:02}.py" for number in range(count)],
        chunk_type=np.full(count, CHUNK_TYPES.index("function"), np.uint8),
        symbol=[""] * count,
        is_generated=np.zeros(count, bool),
        may_test=np.ones(count, bool),
        words=np.full(count, 50, np.float32),
        file_words=np.full(count, 1100, np.float32),
        dense=np.array(cosines, np.float32),
        lexical=np.array(words, np.float32),
        file_lexical=np.array(words, np.float32),
        file_coverage=np.zeros(count, np.float32),
        path_cosine=np.zeros(count, np.float32),
        fused_row=np.zeros(count, np.float32),
        fused=np.zeros(count, np.float32),
        named_file=np.zeros(count, np.float32),
        named_row=np.zeros(count, np.float32),
        conversation=np.zeros(count, np.float32),
        pool=np.ones(count, bool),
        inside=np.ones(count, bool),
        copy_of=np.arange(count),
    )
    spans = Spans(np.zeros(count, np.int64), np.full(count, 100), np.ones(count, np.int64))
    matched = [frozenset({0} if position == right else ()) for position in range(count)]
    return JudgedRetrieval(Retrieval(parse_query("keys"), candidates, spans, {"key": 1.0}), matched, 1, matched, 1)


def decided_by_words(count: int) -> list[JudgedRetrieval]:
    """Return queries whose answer has the best lexical score and a low cosine; the default weights miss it."""
    return [make_judged([0.9, 0.5, 0.4, 0.45, 0.2], [0.0, 0.0, 0.1, 0.0, 1.0], 4) for _ in range(count)]


def decided_by_meaning(count: int) -> list[JudgedRetrieval]:
    """Return queries whose answer has the best cosine and matches no word."""
    return [make_judged([0.9, 0.5, 0.4, 0.45, 0.2], [0.0, 0.0, 0.1, 0.0, 1.0], 0) for _ in range(count)]
