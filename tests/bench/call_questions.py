"""Tokens until a question about calls is answered: `usages`, against a search for the name and reading around its hits.

`call_questions.json` has 60 questions about ten repositories: who calls a definition, which classes extend it, which
tests call it. Of all places that could be a call by their text, those are expected that mean the definition by the type
checkers (`definition_oracles`). Expected subclasses were found by the heads of classes, and read.
"""

import argparse
import json
import os
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.answering.searcher import Searcher, open_searcher
from gitmem.answering.usage_answer import UsageQuery, usages_of
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.git.objects import open_reader
from gitmem.mcp.tools.usage_output import render_usages
from gitmem.workspace import open_workspace
from tests.bench.commands import load_gitmem
from tests.bench.figures import Figure
from tests.bench.scoring import mean
from tests.bench.subjects import SubjectError, clone_subject, git, work_folder
from tests.bench.token_cost import Counter, load_counter

QUESTIONS: Final = Path(__file__).with_name("call_questions.json")
KINDS: Final = ("callers", "subclasses", "tests")
"""Kinds of questions, which are relations of `usages`."""

LIMITS: Final = (20, 50)
"""Places that an agent asks for: as many as by default, and then the most that the tool lists."""

AROUND: Final = 20
"""Lines that an agent reads before and behind a hit of a search for the name, to see what the place means."""


@dataclass(frozen=True, slots=True)
class Question:
    """Question about the definition at `path:line`, with the places of the answer."""

    repository: str
    commit: str
    kind: str
    definition: str
    name: str
    expected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens of an answer until it is complete, or of all of it; and the share of the expected places in it."""

    tokens: int
    recall: float
    others: int = 0
    """Listed places that are not expected."""


class Answered(NamedTuple):
    """Question with the costs of its answers: by the tool, by hits alone, by hits and the lines around them."""

    question: Question
    usages: Cost
    hits: Cost
    around: Cost


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the clones of the repositories."""
    parser.add_argument("--repositories", type=Path, required=True, help="folder of the clones: OWNER+NAME, or NAME")
    parser.add_argument("--questions", type=Path, default=QUESTIONS, help="questions in JSON")
    parser.add_argument("--details", action="store_true", help="print the tokens of each question")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index each repository at the commit of its questions, and answer them in both ways."""
    questions, count, gitmem = read_questions(options.questions), load_counter(), load_gitmem(options)
    costs: list[Answered] = []
    with work_folder(options) as work:
        for repository in dict.fromkeys(question.repository for question in questions):
            subject = clone_subject(find_clone(options.repositories, repository), work)
            own = [question for question in questions if question.repository == repository]
            git(subject.path, "checkout", "-q", own[0].commit)
            gitmem.index_report(subject.path)
            searcher = open_searcher(open_workspace(subject.path, os.environ), WORKING_TREE, ("code",), refresh=False)
            texts = dict(read_texts(subject.path))
            for question in own:
                hits = find_word(texts, question.name)
                answered = Answered(question, ask_usages(searcher, question, count), read_hits(question, hits, count),
                                    read_around(question, hits, texts, count))  # fmt: skip
                costs.append(answered)
                if options.details:
                    print(question.repository, question.kind, question.name, *costs[-1][1:])
    return [figure for kind in (*KINDS, "all") for figure in figures(kind, costs)]


def read_questions(path: Path) -> list[Question]:
    """Return the questions of a file."""
    values = json.loads(path.read_text())
    return [Question(**{**value, "expected": tuple(value["expected"])}) for value in values]


def find_clone(folder: Path, repository: str) -> Path:
    """Return the clone of a repository. Raises: SubjectError."""
    names = (f"{repository.replace('/', '+')}/repo", repository.replace("/", "+"), repository.rpartition("/")[2])
    for name in names:
        if (folder / name).is_dir():
            return folder / name
    raise SubjectError(f"no clone of {repository} in {folder}")


def ask_usages(searcher: Searcher, question: Question, count: Counter) -> Cost:
    """Return the cost of the tool's answer; a second call with more places, if the first one is cut."""
    read = 0
    with open_reader(searcher.tree.location, bulk=False, files=searcher.files) as reader:
        for limit in LIMITS:
            answer = usages_of(searcher, UsageQuery(question.definition, (question.kind,), 1, limit), reader)
            lines = render_usages(answer).splitlines()
            cost = until_complete(lines, question, count, lambda line: {":".join(line.split(":")[:2]).split(" ")[0]})
            read += cost.tokens
            if cost.recall == 1 or answer.relations[0].total <= limit:
                break
    listed = {f"{place.path}:{place.line}" for place in answer.relations[0].places}
    return Cost(read, cost.recall, len(listed.difference(question.expected)))


def read_hits(question: Question, hits: Sequence[tuple[str, int, str]], count: Counter) -> Cost:
    """Return the cost of the hits of a search for the name alone: the least that an agent must read."""
    lines = [f"{path}:{line}:{text}" for path, line, text in hits]
    return until_complete(lines, question, count, lambda line: {":".join(line.split(":")[:2])})


def read_around(
    question: Question, hits: Sequence[tuple[str, int, str]], texts: dict[str, list[str]], count: Counter
) -> Cost:
    """Return the cost of all hits of a search for the name, and of the lines around them until all places are read."""
    listing = sum(count(f"{path}:{line}:{text}\n") for path, line, text in hits)
    windows = list(windows_of(hits, texts))
    found = dict(windows)
    cost = until_complete([window for window, _ in windows], question, count, lambda window: found[window])
    return Cost(listing + cost.tokens, cost.recall)


def windows_of(hits: Sequence[tuple[str, int, str]], texts: dict[str, list[str]]) -> Iterator[tuple[str, set[str]]]:
    """Yield the texts that an agent reads, overlapping ones as one, with the hits that they show."""
    spans: list[tuple[str, int, int, set[str]]] = []
    for path, line, _ in hits:
        first, last = max(1, line - AROUND), min(len(texts[path]), line + AROUND)
        if spans and spans[-1][0] == path and first <= spans[-1][2] + 1:
            spans[-1] = (path, spans[-1][1], last, spans[-1][3] | {f"{path}:{line}"})
        else:
            spans.append((path, first, last, {f"{path}:{line}"}))
    for path, first, last, places in spans:
        yield f"{path}:{first}-{last}\n" + "\n".join(texts[path][first - 1 : last]), places


def until_complete(parts: Sequence[str], question: Question, count: Counter, places: Callable[[str], set[str]]) -> Cost:
    """Return the tokens of the first parts that show all expected places."""
    missing, tokens = set(question.expected), 0
    for part in parts:
        tokens += count(part + "\n")
        missing -= places(part)
        if not missing:
            break
    return Cost(tokens, 1 - len(missing) / len(question.expected))


def read_texts(root: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines of each text file that git tracks, as a search through the files reads them."""
    for name in git(root, "ls-files", "-z").split("\0"):
        path = root / name
        if name and path.is_file() and b"\0" not in (data := path.read_bytes())[:8000]:
            yield name, data.decode("utf-8", "replace").split("\n")


def find_word(texts: dict[str, list[str]], name: str) -> list[tuple[str, int, str]]:
    """Return the path, line and text of each line with a name as a word, by path."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    return [
        (path, number, line)
        for path, lines in sorted(texts.items())
        for number, line in enumerate(lines, 1)
        if word.search(line)
    ]


def figures(kind: str, costs: Sequence[Answered]) -> list[Figure]:
    """Return the medians and sums of one kind of questions, or of all."""
    own = [each for each in costs if kind in (each.question.kind, "all")]
    if not own:
        return []
    usages = [each.usages for each in own]
    complete = [each for each in own if each.usages.recall == 1]

    def median(name: str, tokens: Iterable[int]) -> Figure:
        return Figure(kind, f"{name}, median", statistics.median(tokens), "tokens")

    return [
        Figure(kind, "questions", len(own)),
        Figure(kind, "complete answers of usages", len(complete) / len(own)),
        Figure(kind, "expected places in answers of usages", mean([cost.recall for cost in usages])),
        Figure(kind, "other places in an answer of usages, mean", mean([float(cost.others) for cost in usages])),
        median("usages", (cost.tokens for cost in usages)),
        median("hits of a search for the name", (each.hits.tokens for each in own)),
        median("and the lines around them", (each.around.tokens for each in own)),
        Figure(kind, "lines around, relative to usages where complete",
               statistics.median(each.around.tokens / each.usages.tokens for each in complete), "x"),
    ]  # fmt: skip
