"""Quality of the results: NDCG@10 on queries with known targets.

`--questions` is a folder with `repos.json` (entries with a `name`) and `queries/<name>.json` (query, category,
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

BAR: Final = 0.80


@dataclass(frozen=True, slots=True)
class Question:
    """Query with its targets."""

    repository: str
    text: str
    category: str
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class AnsweredQuery:
    """Query with its results and their score."""

    question: Question
    places: list[Place]
    score: Score


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for queries, repositories and the file of ranked results."""
    add_set_options(parser)
    parser.add_argument("--processes", action="store_true", help="ask through the command line, a process a question")
    parser.add_argument("--results", type=Path, metavar="FILE", help="write the ranked results as JSON")


def add_set_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for queries and repositories."""
    parser.add_argument("--questions", type=Path, required=True, help="folder with repos.json and queries/")
    parser.add_argument("--trees", type=Path, required=True, help="folder with a repository per name")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these repositories")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index every repository, run all its queries and score the results."""
    gitmem = load_gitmem(options)
    answers: list[AnsweredQuery] = []
    with work_folder(options) as work:
        for name in read_names(options.questions, options.only):
            subject = clone_subject(find_tree(options.trees, name), work)
            run(gitmem.index(subject.path))
            ask = open_processes(gitmem, subject.path) if options.processes else open_answers(subject.path)
            answers += [ask_one(question, ask) for question in read_questions(options.questions, name)]
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


def read_questions(folder: Path, name: str) -> list[Question]:
    """Read the queries about one repository."""
    entries: list[dict[str, Any]] = json.loads((folder / "queries" / f"{name}.json").read_text(encoding="utf-8"))
    return [
        Question(name, entry["query"], entry["category"], tuple(parse_target(value) for value in entry["targets"]))
        for entry in entries
    ]


def open_processes(gitmem: Gitmem, repository: Path) -> Callable[[str], list[Place]]:
    """Return a function that searches through the command line."""

    def ask(text: str) -> list[Place]:
        output = run(gitmem.query(repository, text, "-n", str(DEPTH), "--json", "--no-refresh"))
        results = json.loads(output)["results"]
        return [Place(item["path"], item["start_line"], item["end_line"]) for item in results]

    return ask


def ask_one(question: Question, ask: Callable[[str], list[Place]]) -> AnsweredQuery:
    """Run and score one query."""
    places = ask(question.text)
    return AnsweredQuery(question, places, score(places, question.targets))


def results_json(asked: list[AnsweredQuery]) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Return ranked results by repository and query, for other scorers."""
    ranked: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for one in asked:
        places = [{"path": place.path, "start": place.start, "end": place.end} for place in one.places]
        ranked.setdefault(one.question.repository, {})[one.question.text] = places
    return ranked


def summarise(asked: list[AnsweredQuery]) -> list[Figure]:
    """Return NDCG@10 overall, by category and by repository, and recall over all queries."""
    categories = sorted({one.question.category for one in asked})
    return [
        *(Figure(name, "NDCG@10", mean(values)) for name, values in by_repository(asked).items()),
        *(Figure(name, "NDCG@10", ndcg(one for one in asked if one.question.category == name)) for name in categories),
        Figure("all", "questions", len(asked)),
        Figure("all", "recall@10", mean(one.score.recall for one in asked)),
        Figure("all", "NDCG@10", ndcg(asked), at_least=BAR),
    ]


def ndcg(asked: Iterable[AnsweredQuery]) -> float:
    """Return the mean over repositories of the mean over queries."""
    return mean(mean(values) for values in by_repository(asked).values())


def by_repository(asked: Iterable[AnsweredQuery]) -> dict[str, list[float]]:
    """Return the NDCG of every query, grouped."""
    groups: dict[str, list[float]] = {}
    for one in asked:
        groups.setdefault(one.question.repository, []).append(one.score.ndcg)
    return groups
