"""Retrieval by words equals a plain BM25F, and depends only on the tree that is searched."""

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.paths import IndexPaths
from gitmem.search.lexical import FILE_WEIGHTS, K1, ROW_WEIGHTS, FieldWeights, LexicalQuery, inverse_document_frequency
from gitmem.search.scope import Filters, Scope
from gitmem.store.manifest import Manifest
from gitmem.store.segment_writer import write_segment
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import ViewEntry, load_view
from tests.store.sample_rows import SampleBlob, SampleChunk, oid_of, rows_of

WORDS = ("sign", "cooki", "rout", "match", "tabl")


class RowWords(NamedTuple):
    """Words of a chunk's text and of its symbol."""

    text: list[str]
    symbol: list[str]


class FileWords(NamedTuple):
    """A file with its chunks, in a folder of one word; `inside` is whether the view contains it."""

    folder: str
    stem: str
    rows: list[RowWords]
    inside: bool


class Document(NamedTuple):
    """Words of a scored document by field."""

    text: list[str]
    symbol: list[str]
    stem: str
    folder: str


word = st.sampled_from(WORDS)
rows = st.builds(RowWords, st.lists(word, max_size=9), st.lists(word, max_size=2))
files = st.builds(FileWords, word, word, st.lists(rows, min_size=1, max_size=4), st.booleans())


def make_scope(tmp_path: Path, corpus: list[FileWords], parts: int) -> Scope:
    """Return the scope of some files, distributed over segments."""
    paths = IndexPaths(tmp_path)
    paths.segments.mkdir(parents=True, exist_ok=True)
    blobs = [
        SampleBlob(oid_of(str(n)), "go", "go", 0, list(map(make_chunk, file.rows))) for n, file in enumerate(corpus)
    ]
    entries = {
        write_segment(paths.segments, rows_of(blobs[part::parts])) for part in range(parts) if blobs[part::parts]
    }
    entries_inside = [
        ViewEntry(b"%s/%s_%03d.go" % (file.folder.encode(), file.stem.encode(), n), oid_of(str(n)), "go", 0)
        for n, file in enumerate(corpus)
        if file.inside
    ]
    view = load_view(Path("view"), "t", sorted(entries_inside))
    return Scope(Snapshot(paths, Manifest("1", segments=tuple(sorted(entries)))), view, Filters())


def make_chunk(row: RowWords) -> SampleChunk:
    text, symbol = ({word.encode(): times for word, times in Counter(words).items()} for words in row)
    return SampleChunk(0, 1, b"", text, symbol)


def reference(
    documents: Sequence[Document], terms: list[str], weights: FieldWeights, normalise_symbols: bool
) -> list[float]:
    """Return BM25F scores computed as in the textbook."""
    mean = sum(len(document.text) for document in documents) / len(documents) or 1e-9

    def weighted(document: Document, term: str) -> tuple[float, float]:
        norm = 1 - weights.b + weights.b * len(document.text) / mean
        text = weights.text * document.text.count(term) / norm
        symbol = weights.symbol * document.symbol.count(term) / (norm if normalise_symbols else 1)
        return text + symbol, weights.stem * (document.stem == term) + weights.folder * (document.folder == term)

    totals = [0.0] * len(documents)
    for term in terms:
        frequencies = [weighted(document, term) for document in documents]
        holding = sum(own > 0 for own, _ in frequencies) or sum(path > 0 for _, path in frequencies)
        idf = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
        for number, (own, path) in enumerate(frequencies):
            totals[number] += idf * (own + path) * (K1 + 1) / (own + path + K1)
    return totals


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    corpus=st.lists(files, min_size=1, max_size=8),
    terms=st.lists(st.sampled_from((*WORDS, "absent")), min_size=1, max_size=4, unique=True),
    parts=st.integers(1, 3),
)
def test_scores_equal_a_plain_bm25f_over_the_tree(
    tmp_path: Path, corpus: list[FileWords], terms: list[str], parts: int
) -> None:
    corpus[0] = corpus[0]._replace(inside=True)
    scope = make_scope(tmp_path, corpus, parts)
    query = LexicalQuery(scope, terms)
    inside = [file for file in corpus if file.inside]
    by_row = [Document(*row, file.stem, file.folder) for file in inside for row in file.rows]
    by_file = [
        Document(
            [word for row in file.rows for word in row.text],
            [word for row in file.rows for word in row.symbol],
            file.stem,
            file.folder,
        )
        for file in inside
    ]
    scores = query.score_rows(np.flatnonzero(scope.mask)).tolist()
    expected = reference(by_row, terms, ROW_WEIGHTS, normalise_symbols=False)
    assert sorted(scores) == pytest.approx(sorted(expected), rel=1e-4, abs=1e-5)
    assert sorted(query.match_files(np.flatnonzero(scope.has_rows)).scores.tolist()) == pytest.approx(
        sorted(reference(by_file, terms, FILE_WEIGHTS, normalise_symbols=True)), rel=1e-4, abs=1e-5
    )


def test_each_row_and_file_gets_its_own_score(tmp_path: Path) -> None:
    corpus = [
        FileWords("lib", "keys", [RowWords(["sign"], []), RowWords(["rout"], ["rout"])], True),
        FileWords("lib", "table", [RowWords(["match"], [])], True),
    ]
    scope = make_scope(tmp_path, corpus, 1)
    query = LexicalQuery(scope, ["rout"])
    scores = query.score_rows(np.arange(3))
    matches = [(scope.view.path(int(entry)), bool(score)) for entry, score in zip(scope.entry_of, scores, strict=True)]
    assert sorted(matches) == [(b"lib/keys_000.go", False), (b"lib/keys_000.go", True), (b"lib/table_001.go", False)]
    assert query.match_files(np.arange(2)).scores.astype(bool).tolist() == [True, False]


def test_a_file_is_scored_with_all_its_rows_whatever_the_filters(tmp_path: Path) -> None:
    first, second = RowWords(["sign"], []), RowWords(["sign", "sign", "rout"], ["sign"])
    whole = make_scope(tmp_path, [FileWords("lib", "keys", [first, second], True)], 1)
    partial = Scope(whole.snapshot, whole.view, Filters(), whole=whole)
    partial.restrict(np.array([True, False]))
    queries = [LexicalQuery(scope, ["sign", "key"]) for scope in (partial, whole)]
    matches = [query.match_files(np.array([0]), ["sign"]) for query in queries]
    assert queries[0].idf == queries[1].idf
    assert queries[0].score_rows(np.array([0])) == queries[1].score_rows(np.array([0]))
    assert matches[0].scores == matches[1].scores > 0
    assert matches[0].coverages == matches[1].coverages == 1


def test_a_term_without_occurrence_scores_nothing(tmp_path: Path) -> None:
    scope = make_scope(tmp_path, [FileWords("lib", "keys", [RowWords(["sign"], [])], True)], 1)
    query = LexicalQuery(scope, ["absent"])
    assert query.idf == {"absent": 0.0}
    assert not query.score_rows(np.arange(1)).any()
    assert LexicalQuery(scope, []).idf == {}


@pytest.mark.parametrize(("total", "holding"), [(2, 3), (1, 40), (0, 1), (2, 2)])
def test_a_term_is_never_worth_less_than_nothing(total: int, holding: int) -> None:
    # A server rounds the rows that hold a term.
    assert inverse_document_frequency(total, holding) > 0
