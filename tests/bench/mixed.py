"""One list over code and documents: what it costs against asking one kind alone, and whether scores mean what they say.

Each repository of the questions about code gets its own documentation as documents, and beside the questions about code
those that its headings ask. Repositories whose pages ask too little are left out. A score is the likelihood that a
result answers, whatever it is.
"""

import argparse
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.answering.search_query import Query, SearchFilters
from gitmem.answering.searcher import Searcher, open_searcher
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.git.object_reader import ObjectReader
from gitmem.git.objects import open_reader
from gitmem.memory.kinds import CODE
from gitmem.workspace import open_workspace
from tests.bench.calibration import ScoredResult, calibration
from tests.bench.commands import load_gitmem
from tests.bench.figures import Figure
from tests.bench.pages import list_pages, read_pages
from tests.bench.processes import run
from tests.bench.prose import ask_scored
from tests.bench.prose_corpus import Project, add_pages, iter_pages, questions_of
from tests.bench.prose_labels import choose, find_clone
from tests.bench.quality import Question, find_tree, read_questions
from tests.bench.scoring import DEPTH, mean, score
from tests.bench.subjects import clone_subject, work_folder

LEAST: Final = 5
"""Questions that the pages of a repository ask at least."""

ALL: Final = "all"
DOCUMENTS: Final = "documents"


class AnsweredQuery(NamedTuple):
    """A question of a kind, asked of that kind alone or of all: its NDCG@10 and what each result said of itself."""

    repository: str
    kind: str
    sources: str
    ndcg: float
    results: list[ScoredResult]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for queries about code, their repositories, and the clones with the documentation."""
    parser.add_argument("--questions", type=Path, required=True, help="folder with repos.json and queries/")
    parser.add_argument("--trees", type=Path, required=True, help="folder with a repository per name")
    parser.add_argument(
        "--repositories", type=Path, required=True, metavar="DIR", help="holds a clone OWNER+NAME/repo per project"
    )


def measure(options: argparse.Namespace) -> list[Figure]:
    """Run both kinds of queries in each repository, separately and together."""
    gitmem = load_gitmem(options)
    asked: list[AnsweredQuery] = []
    for project in read_documented(options.questions, options.repositories):
        name = project.name.partition(":")[0]
        with work_folder(options) as work:
            subject = clone_subject(find_tree(options.trees, name), work)
            run(gitmem.index(subject.path))
            clone = find_clone(options.repositories, project.name.partition(":")[2])
            pages = list(iter_pages(project, clone))
            add_pages(open_workspace(subject.path, os.environ), pages)
            asked += ask_both(subject.path, name, read_questions(options.questions, name), questions_of(project, pages))
    return summarise(asked)


def read_documented(questions: Path, clones: Path) -> Iterator[Project]:
    """The repositories whose pages ask enough; the name is that of the questions and, behind a colon, of the clone."""
    for entry in json.loads((questions / "repos.json").read_text(encoding="utf-8")):
        source, commit = entry["fetch"].removeprefix("github:"), entry["revision"]
        clone = find_clone(clones, source)
        if not clone.is_dir():
            continue
        labels = choose(read_pages(clone, commit, list_pages(clone, commit)))
        if len(labels) >= LEAST:
            yield Project(f"{entry['name']}:{source}", commit, "", tuple(labels))


def ask_both(
    repository: Path, name: str, code: Sequence[Question], prose: Sequence[Question]
) -> Iterator[AnsweredQuery]:
    """Run every query for its own kind and for all kinds."""
    workspace = open_workspace(repository, os.environ)
    kinds = {CODE: code, DOCUMENTS: prose}
    for sources in (CODE, DOCUMENTS, ALL):
        chosen = (CODE, DOCUMENTS) if sources == ALL else (sources,)
        query = Query("mixed", DEPTH, filters=SearchFilters(kinds=chosen))
        searcher = open_searcher(workspace, WORKING_TREE, chosen, refresh=False)
        reader = open_reader(searcher.tree.location, bulk=False)
        for kind, questions in kinds.items():
            if kind in chosen:
                for question in questions:
                    yield ask(searcher, query._replace(text=question.text), reader, name, kind, sources, question)


def ask(
    searcher: Searcher, query: Query, reader: ObjectReader, name: str, kind: str, sources: str, question: Question
) -> AnsweredQuery:
    """Run one query; only the first result of each file is judged."""
    found = ask_scored(searcher, query, reader)
    results, seen = [], set()
    for own, place, likely in found:
        if (own, place.path) not in seen:
            answers = own == kind and any(target.is_met_by(place) for target in question.targets)
            results.append(ScoredResult(own, likely, answers))
        seen.add((own, place.path))
    return AnsweredQuery(name, kind, sources, score([place for _, place, _ in found], question.targets).ndcg, results)


def summarise(asked: Sequence[AnsweredQuery]) -> list[Figure]:
    """NDCG@10 by kind of question and by what was asked, and the calibration of the scores by kind of result."""
    figures = [Figure("all", "repositories", len({one.repository for one in asked}))]
    for kind in (CODE, DOCUMENTS):
        figures.append(Figure(kind, "questions", sum(one.kind == kind and one.sources == kind for one in asked)))
        for sources in (kind, ALL):
            figures.append(Figure(kind, f"NDCG@10, {sources} asked", ndcg(asked, kind, sources)))
    for kind in (CODE, DOCUMENTS):
        for sources in (kind, ALL):
            told = [result for one in asked if one.sources == sources for result in one.results if result.kind == kind]
            figures += calibration(f"results of {kind}, {sources} asked", told)
    return figures


def ndcg(asked: Iterable[AnsweredQuery], kind: str, sources: str) -> float:
    """Return the mean over repositories of the mean over queries."""
    groups: dict[str, list[float]] = {}
    for one in asked:
        if (one.kind, one.sources) == (kind, sources):
            groups.setdefault(one.repository, []).append(one.ndcg)
    return mean(map(mean, groups.values()))
