"""Scores of repositories searched together that count judged answers of other repositories.

The judgements are those of `blind_pairs`, in `judged_elsewhere.json`: 2 for a right answer to the query as written, 1
for a related result, 0 for an irrelevant one. They say how much of the loss comes from irrelevant results.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.bench.blind_pairs import Ranking, Result
from tests.bench.figures import Figure
from tests.bench.quality import BenchQuery
from tests.bench.scoring import DEPTH, Place, Target, mean, score

LABELS: Final = Path(__file__).with_name("judged_elsewhere.json")

RIGHT: Final = 2
RELATED: Final = 1
IRRELEVANT: Final = 0


class Label(NamedTuple):
    """Judgement of a result; `reason` is that of the pair."""

    reason: str
    repository: str
    place: Place
    relevance: int


Labels = Mapping[tuple[str, str], Sequence[Label]]
"""Judgements by repository and text of the query."""


def join_judgements(folder: Path, target: Path = LABELS) -> None:
    """Write the judgements in `judged.jsonl` of a folder as labels, with the places in its `key.json`."""
    key = json.loads((folder / "key.json").read_text(encoding="utf-8"))
    judged = [json.loads(line) for line in (folder / "judged.jsonl").read_text(encoding="utf-8").splitlines() if line]
    relevance = {one["id"]: int(one["relevance"]) for one in judged}
    labels: dict[str, dict[str, list[list[Any]]]] = {}
    for name, pair in key.items():
        if name in relevance:
            found = pair["found"]
            row = [pair["reason"], found["repository"], found["path"], found["start"], found["end"], relevance[name]]
            labels.setdefault(pair["repository"], {}).setdefault(pair["query"], []).append(row)
    target.write_text(_format(labels), encoding="utf-8")


def _format(labels: Mapping[str, Mapping[str, Sequence[Sequence[Any]]]]) -> str:
    """Return labels as JSON with a line for each, which a diff shows."""
    queries = [
        f"{json.dumps([repository, text])[:-1]}, [\n  "
        + ",\n  ".join(json.dumps(row) for row in sorted(rows, key=json.dumps))
        + "\n]]"
        for repository, texts in sorted(labels.items())
        for text, rows in sorted(texts.items())
    ]
    return "[\n" + ",\n".join(queries) + "\n]\n"


def read_labels(source: Path = LABELS) -> Labels:
    """Read the judgements."""
    return {
        (repository, text): [Label(reason, name, Place(path, start, end), relevance)
                             for reason, name, path, start, end, relevance in rows]
        for repository, text, rows in json.loads(source.read_text(encoding="utf-8"))
    }  # fmt: skip


def compare_with_labels(rankings: Sequence[Ranking], labels: Labels) -> list[Figure]:
    """Return the scores with the judgements, and how far the judge agrees with the controls."""
    subject = "judged"
    ndcg: dict[str, Callable[[Ranking], float]] = {
        "together, right answers of other repositories count": lambda one: _score_all(one, labels),
        "together, no irrelevant results of others": lambda one: _score_without(one, labels, {IRRELEVANT}),
        "together, no irrelevant and related results of others": lambda one: _score_without(
            one, labels, {IRRELEVANT, RELATED}
        ),
        "together, no results of others": lambda one: score(_own(one.together, one.query), one.query.targets).ndcg,
    }
    figures = [
        Figure(subject, f"NDCG@10 {name}", _mean(rankings, [score_one(one) for one in rankings]))
        for name, score_one in ndcg.items()
    ]
    return [*figures, *_counts(labels), *_unjudged(rankings, labels)]


def _score_all(ranking: Ranking, labels: Labels) -> float:
    """Return the NDCG if files of other repositories with a right answer are targets as well."""
    query = ranking.query
    # A label covers a file, as nearly all targets do: a second right result of it uses up a rank.
    right = dict.fromkeys(
        _elsewhere(label.repository, label.place.path)
        for label in labels.get((query.repository, query.text), ())
        if label.relevance == RIGHT and label.repository != query.repository
    )
    places = [
        found.place
        if found.repository == query.repository
        else Place(_elsewhere(found.repository, found.place.path), found.place.start, found.place.end)
        for found in ranking.together
    ]
    return score(places, [*query.targets, *map(Target, right)]).ndcg


def _elsewhere(repository: str, path: str) -> str:
    """Return a path that meets no target of the query's own repository."""
    return f"{path}\0{repository}"


def _score_without(ranking: Ranking, labels: Labels, relevances: Collection[int]) -> float:
    """Return the NDCG of the labelled targets if results of other repositories so judged are left out."""
    left = [found for found in ranking.together if judgement_of(ranking.query, found, labels) not in relevances]
    return score(replace(ranking, together=left).own_places, ranking.query.targets).ndcg


def judgement_of(query: BenchQuery, found: Result, labels: Labels) -> int | None:
    """Return the judgement of a result of another repository; None for an own one, and without a judgement."""
    if found.repository == query.repository:
        return None
    judgements = [
        label.relevance
        for label in labels.get((query.repository, query.text), ())
        if label.repository == found.repository
        and Target(label.place.path, label.place.start, label.place.end).is_met_by(found.place)
    ]
    return max(judgements, default=None)


def _own(results: Iterable[Result], query: BenchQuery) -> list[Place]:
    return [found.place for found in results if found.repository == query.repository]


def _mean(rankings: Sequence[Ranking], scores: Sequence[float]) -> float:
    """Return the mean over repositories."""
    groups: dict[str, list[float]] = {}
    for one, value in zip(rankings, scores, strict=True):
        groups.setdefault(one.query.repository, []).append(value)
    return mean(mean(values) for values in groups.values())


def _counts(labels: Labels) -> list[Figure]:
    """Return the share of each judgement by reason."""
    figures = []
    for reason in ("elsewhere", "labelled", "far"):
        values = [label.relevance for rows in labels.values() for label in rows if label.reason == reason]
        shares = zip((RIGHT, RELATED, IRRELEVANT), ("right", "related", "irrelevant"), strict=True)
        figures.append(Figure(reason, "judged results", len(values)))
        figures += [
            Figure(reason, f"share {name}", mean(value == number for value in values)) for number, name in shares
        ]
    return figures


def _unjudged(rankings: Sequence[Ranking], labels: Labels) -> list[Figure]:
    """Return the number of results before the last labelled hit without a judgement: those of a later ranking."""
    count = 0
    for one in rankings:
        if one.loses:
            first = one.together[: one.last_rank]
            count += sum(
                found.repository != one.query.repository and judgement_of(one.query, found, labels) is None
                for found in first
            )
    return [Figure("judged", f"results before the last target, in the first {DEPTH}, without a judgement", count)]
