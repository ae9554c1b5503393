"""Retrieval by words equals a plain BM25F, and depends on the tree that is asked and on nothing else."""

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.paths import IndexPaths
from gitmem.search.lexical import FILE_WEIGHTS, K1, ROW_WEIGHTS, FieldWeights, search_lexical
from gitmem.search.scope import Filters, Scope
from gitmem.store.manifest import Manifest
from gitmem.store.segment import write_segment
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import ViewEntry, load_view
from tests.store.sample_rows import SampleBlob, SampleChunk, oid_of, rows_of

WORDS = ("sign", "cooki", "rout", "match", "tabl")


class MadeRow(NamedTuple):
    """Words of a chunk's text and of its symbol."""

    text: list[str]
    symbol: list[str]


class MadeFile(NamedTuple):
    """A file in a folder of one word, with its chunks; `inside` tells whether the view has it."""

    folder: str
    stem: str
    rows: list[MadeRow]
    inside: bool


class Document(NamedTuple):
    """What is scored, as words by field."""

    text: list[str]
    symbol: list[str]
    stem: str
    folder: str


word = st.sampled_from(WORDS)
rows = st.builds(MadeRow, st.lists(word, max_size=9), st.lists(word, max_size=2))
files = st.builds(MadeFile, word, word, st.lists(rows, min_size=1, max_size=4), st.booleans())


def made_scope(tmp_path: Path, made: list[MadeFile], parts: int) -> Scope:
    """The files shared out among segments."""
    paths = IndexPaths(tmp_path)
    paths.segments.mkdir(exist_ok=True)
    blobs = [SampleBlob(oid_of(str(n)), "go", "go", 0, list(map(made_chunk, file.rows))) for n, file in enumerate(made)]
    entries = {
        write_segment(paths.segments, rows_of(blobs[part::parts])) for part in range(parts) if blobs[part::parts]
    }
    held = [
        ViewEntry(b"%s/%s_%03d.go" % (file.folder.encode(), file.stem.encode(), n), oid_of(str(n)), "go", 0)
        for n, file in enumerate(made)
        if file.inside
    ]
    view = load_view(Path("view"), "t", sorted(held))
    return Scope(Snapshot(paths, Manifest("1", segments=tuple(sorted(entries)))), view, Filters())


def made_chunk(row: MadeRow) -> SampleChunk:
    text, symbol = ({word.encode(): times for word, times in Counter(words).items()} for words in row)
    return SampleChunk(0, 1, b"", text, symbol)


def reference(
    documents: Sequence[Document], terms: list[str], weights: FieldWeights, shorten_symbols: bool
) -> list[float]:
    """BM25F as in the textbook."""
    mean = sum(len(document.text) for document in documents) / len(documents) or 1e-9

    def weighed(document: Document, term: str) -> tuple[float, float]:
        short = 1 - weights.b + weights.b * len(document.text) / mean
        text = weights.text * document.text.count(term) / short
        symbol = weights.symbol * document.symbol.count(term) / (short if shorten_symbols else 1)
        return text + symbol, weights.stem * (document.stem == term) + weights.folder * (document.folder == term)

    scores = [0.0] * len(documents)
    for term in terms:
        found = [weighed(document, term) for document in documents]
        holding = sum(own > 0 for own, _ in found) or sum(path > 0 for _, path in found)
        idf = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
        for place, (own, path) in enumerate(found):
            scores[place] += idf * (own + path) * (K1 + 1) / (own + path + K1)
    return scores


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    made=st.lists(files, min_size=1, max_size=8),
    terms=st.lists(st.sampled_from((*WORDS, "absent")), min_size=1, max_size=4, unique=True),
    parts=st.integers(1, 3),
)
def test_scores_are_those_of_a_plain_bm25f_over_the_tree(
    tmp_path: Path, made: list[MadeFile], terms: list[str], parts: int
) -> None:
    made[0] = made[0]._replace(inside=True)
    scope = made_scope(tmp_path, made, parts)
    found = search_lexical(scope, terms)
    inside = [file for file in made if file.inside]
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
    told = [float(score) for score, entry in zip(found.rows, scope.entry_of, strict=True) if entry >= 0]
    expected = reference(by_row, terms, ROW_WEIGHTS, shorten_symbols=False)
    assert sorted(told) == pytest.approx(sorted(expected), rel=1e-4, abs=1e-5)
    assert sorted(found.files.tolist()) == pytest.approx(
        sorted(reference(by_file, terms, FILE_WEIGHTS, shorten_symbols=True)), rel=1e-4, abs=1e-5
    )
    assert not found.rows[~scope.mask].any()


def test_each_row_and_file_gets_its_own_score(tmp_path: Path) -> None:
    made = [
        MadeFile("lib", "keys", [MadeRow(["sign"], []), MadeRow(["rout"], ["rout"])], True),
        MadeFile("lib", "table", [MadeRow(["match"], [])], True),
    ]
    scope = made_scope(tmp_path, made, 1)
    found = search_lexical(scope, ["rout"])
    named = [
        (scope.view.path(int(entry)), bool(score)) for entry, score in zip(scope.entry_of, found.rows, strict=True)
    ]
    assert sorted(named) == [(b"lib/keys_000.go", False), (b"lib/keys_000.go", True), (b"lib/table_001.go", False)]
    assert found.files.astype(bool).tolist() == [True, False]


def test_a_term_that_stands_nowhere_is_worth_nothing(tmp_path: Path) -> None:
    scope = made_scope(tmp_path, [MadeFile("lib", "keys", [MadeRow(["sign"], [])], True)], 1)
    found = search_lexical(scope, ["absent"])
    assert found.idf == {"absent": 0.0}
    assert not found.rows.any()
    assert search_lexical(scope, []).idf == {}
