"""Quality of the results: NDCG@10 on queries with known targets.

`--queries` is a folder with `repos.json` (entries with a `name`) and `queries/<name>.json` (query, category,
targets); `--trees` holds a repository per name. The mean is over repositories, so a small one counts like a large one.
"""

import argparse
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.bench.commands import Gitmem, load_gitmem
from tests.bench.figures import Figure
from tests.bench.inprocess import open_answers
from tests.bench.processes import run
from tests.bench.scoring import DEPTH, Place, Score, Target, mean, parse_target, score
from tests.bench.subjects import SubjectError, clone_subject, work_folder

LIMIT: Final = 0.80


@dataclass(frozen=True, slots=True)
class BenchQuery:
    """Query with its targets."""

    repository: str
    text: str
    category: str
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class AnsweredQuery:
    """Query with its results and their score."""

    query: BenchQuery
    places: list[Place]
    score: Score


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for queries, repositories and the file of ranked results."""
    add_set_options(parser)
    parser.add_argument("--processes", action="store_true", help="run each query as a command, in its own process")
    parser.add_argument("--results", type=Path, metavar="FILE", help="write the ranked results as JSON")


def add_set_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for queries and repositories."""
    parser.add_argument("--queries", type=Path, required=True, help="folder with repos.json and queries/")
    parser.add_argument("--trees", type=Path, required=True, help="folder with a repository per name")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these repositories")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index every repository, run all its queries and score the results."""
    gitmem = load_gitmem(options)
    answers: list[AnsweredQuery] = []
    with work_folder(options) as work:
        for name in read_names(options.queries, options.only):
            subject = clone_subject(find_tree(options.trees, name), work)
            run(gitmem.index(subject.path))
            search = open_processes(gitmem, subject.path) if options.processes else open_answers(subject.path)
            answers += [run_query(query, search) for query in read_queries(options.queries, name)]
    if options.results:
        options.results.write_text(json.dumps(results_json(answers)), encoding="utf-8")
    return summarise(answers)


def read_names(folder: Path, only: list[str]) -> list[str]:
    """Return the names of all repositories, or of those selected by option."""
    names = [str(entry["name"]) for entry in json.loads((folder / "repos.json").read_text(encoding="utf-8"))]
    return [name for name in names if not only or name in only]


def find_tree(trees: Path, name: str) -> Path:
    """Return the path of a repository. Raises: SubjectError."""
    if not (trees / name).is_dir():
        raise SubjectError(f"there is no repository `{name}` in {trees}")
    return trees / name


def read_queries(folder: Path, name: str) -> list[BenchQuery]:
    """Read the queries about one repository."""
    entries: list[dict[str, Any]] = json.loads((folder / "queries" / f"{name}.json").read_text(encoding="utf-8"))
    return [
        BenchQuery(name, entry["query"], entry["category"], tuple(parse_target(value) for value in entry["targets"]))
        for entry in entries
    ]


def open_processes(gitmem: Gitmem, repository: Path) -> Callable[[str], list[Place]]:
    """Return a function that searches through the command line."""

    def search(text: str) -> list[Place]:
        output = run(gitmem.query(repository, text, "-n", str(DEPTH), "--json", "--no-refresh"))
        results = json.loads(output)["results"]
        return [Place(item["path"], item["start_line"], item["end_line"]) for item in results]

    return search


def run_query(query: BenchQuery, search: Callable[[str], list[Place]]) -> AnsweredQuery:
    """Run and score one query."""
    places = search(query.text)
    return AnsweredQuery(query, places, score(places, query.targets))


def results_json(answered: list[AnsweredQuery]) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Return ranked results by repository and query, for other scorers."""
    ranked: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for one in answered:
        places = [{"path": place.path, "start": place.start, "end": place.end} for place in one.places]
        ranked.setdefault(one.query.repository, {})[one.query.text] = places
    return ranked


def summarise(answered: list[AnsweredQuery]) -> list[Figure]:
    """Return NDCG@10 overall, by category and by repository, and recall over all queries."""
    categories = sorted({one.query.category for one in answered})
    return [
        *(Figure(name, "NDCG@10", mean(values)) for name, values in by_repository(answered).items()),
        *(Figure(name, "NDCG@10", ndcg(one for one in answered if one.query.category == name)) for name in categories),
        Figure("all", "queries", len(answered)),
        Figure("all", "recall@10", mean(one.score.recall for one in answered)),
        Figure("all", "NDCG@10", ndcg(answered), at_least=LIMIT),
    ]


def ndcg(answered: Iterable[AnsweredQuery]) -> float:
    """Return the mean over repositories of the mean over queries."""
    return mean(mean(values) for values in by_repository(answered).values())


def by_repository(answered: Iterable[AnsweredQuery]) -> dict[str, list[float]]:
    """Return the NDCG of every query, grouped."""
    groups: dict[str, list[float]] = {}
    for one in answered:
        groups.setdefault(one.query.repository, []).append(one.score.ndcg)
    return groups
