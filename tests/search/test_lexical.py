"""Retrieval by words equals a plain BM25, and depends on the tree that is asked and on nothing else."""

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.paths import IndexPaths
from gitmem.search.lexical import K1, B, search_lexical
from gitmem.search.scope import Filters, Scope
from gitmem.store.manifest import Manifest
from gitmem.store.segment import write_segment
from gitmem.store.snapshot import Snapshot
from gitmem.store.view import ViewEntry, load_view
from tests.store.made import MadeBlob, MadeChunk, oid_of, rows_of

WORDS = ("sign", "cooki", "rout", "match", "tabl")
corpora = st.lists(st.lists(st.sampled_from(WORDS), max_size=12), min_size=1, max_size=14)


def made_scope(tmp_path: Path, corpus: list[list[str]], parts: int, inside: list[bool]) -> Scope:
    """One chunk a file, files shared out among segments; only the files marked `inside` are in the view."""
    paths = IndexPaths(tmp_path)
    paths.segments.mkdir(exist_ok=True)
    blobs = [
        MadeBlob(
            oid_of(str(n)),
            "go",
            "go",
            0,
            [MadeChunk(n, 1, b"", {w.encode(): c for w, c in Counter(words).items()}, {})],
        )
        for n, words in enumerate(corpus)
    ]
    entries = {
        write_segment(paths.segments, rows_of(blobs[part::parts])) for part in range(parts) if blobs[part::parts]
    }
    held = [ViewEntry(b"%03d" % n, oid_of(str(n)), "go", 0) for n in range(len(corpus)) if inside[n]]
    view = load_view(Path("view"), "t", held)
    return Scope(Snapshot(paths, Manifest("1", segments=tuple(sorted(entries)))), view, Filters())


def reference(corpus: list[list[str]], terms: list[str]) -> list[float]:
    """BM25 as in the textbook."""
    mean = sum(map(len, corpus)) / len(corpus) or 1e-9
    scores = []
    for words in corpus:
        score = 0.0
        for term in terms:
            holding = sum(term in other for other in corpus)
            idf = math.log(1 + (len(corpus) - holding + 0.5) / (holding + 0.5))
            times = words.count(term)
            score += idf * times * (K1 + 1) / (times + K1 * (1 - B + B * len(words) / mean)) if times else 0.0
        scores.append(score)
    return scores


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    corpus=corpora,
    terms=st.lists(st.sampled_from((*WORDS, "absent")), min_size=1, max_size=4, unique=True),
    parts=st.integers(1, 3),
    data=st.data(),
)
def test_scores_are_those_of_a_plain_bm25_over_the_tree(
    tmp_path: Path, corpus: list[list[str]], terms: list[str], parts: int, data: st.DataObject
) -> None:
    inside = data.draw(st.lists(st.booleans(), min_size=len(corpus), max_size=len(corpus)))
    inside[0] = True
    scope = made_scope(tmp_path, corpus, parts, inside)
    scores = search_lexical(scope, terms).scores
    told = {
        scope.view.path(int(entry)): float(score)
        for entry, score in zip(scope.entry_of, scores, strict=True)
        if entry >= 0
    }
    held = [words for words, wanted in zip(corpus, inside, strict=True) if wanted]
    paths = [b"%03d" % n for n in range(len(corpus)) if inside[n]]
    assert told == pytest.approx(dict(zip(paths, reference(held, terms), strict=True)), rel=1e-4, abs=1e-5)
    assert not scores[~scope.mask].any()


def test_coverage_names_the_terms_each_row_holds(tmp_path: Path) -> None:
    scope = made_scope(tmp_path, [["sign", "cooki"], ["rout"], []], 1, [True] * 3)
    found = search_lexical(scope, ["sign", "rout", "absent"])
    assert found.coverage(np.arange(3)).tolist() == [[True, False, False], [False, True, False], [False, False, False]]
    assert found.idf["absent"] == 0.0
    assert search_lexical(scope, []).scores.tolist() == [0.0, 0.0, 0.0]
