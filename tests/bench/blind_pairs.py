"""Pairs of query and result for a judge who knows neither the labels nor the repositories.

A query about one repository is often answered by another one too, and no label says so. This writes down what has to be
judged: for each query with a lower score in all repositories together, the results of other repositories before its
last labelled hit, or all of the first ten if a target is missing there. Mixed in are controls: labelled hits, which
should be right, and a random result far below. The order is random, and names of repositories are masked.
"""

import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from tests.bench.quality import BenchQuery
from tests.bench.scoring import DEPTH, NOWHERE, Place, find_rank, score

FAR: Final = range(50, 100)
"""Ranks of the random results, from 0."""

_LINES: Final = 60
_COLUMNS: Final = 300
_MASK: Final = "PROJECT"


class Result(NamedTuple):
    """Result of a search in several repositories."""

    repository: str
    place: Place
    symbol: str


@dataclass(frozen=True, slots=True)
class Ranking:
    """Query with its results: from its own repository alone, and from all together without any precedence."""

    query: BenchQuery
    alone: Sequence[Place]
    together: Sequence[Result]

    @property
    def own_places(self) -> list[Place]:
        """Places of the results together, with one that meets no target for those of other repositories."""
        own = self.query.repository
        return [found.place if found.repository == own else NOWHERE for found in self.together]

    @property
    def loses(self) -> bool:
        """Whether the score is lower together than alone."""
        targets = self.query.targets
        return score(self.own_places, targets).ndcg < score(self.alone, targets).ndcg

    @property
    def last_rank(self) -> int:
        """Rank of the last result that may lower the score: that of the last target, or 10 if one is missing."""
        ranks = [find_rank(self.own_places[:DEPTH], target) for target in self.query.targets]
        return DEPTH if None in ranks else max(rank or 0 for rank in ranks)


class Pair(NamedTuple):
    """Query and result, with the reason to judge it: `elsewhere`, or a control, `labelled` or `far`."""

    reason: str
    query: BenchQuery
    rank: int
    result: Result


def write_pairs(rankings: Sequence[Ranking], trees: Path, folder: Path) -> int:
    """Write `pairs.jsonl` for the judge and `key.json` for the comparison; return the number of pairs."""
    numbers = random.Random(1)  # a fixed order, so that judgements fit
    pairs = [pair for ranking in rankings if ranking.loses for pair in iter_pairs(ranking, numbers)]
    numbers.shuffle(pairs)
    key, shown = {}, []
    for number, pair in enumerate(pairs):
        name, own, (repository, place, symbol) = f"p{number:04}", pair.query.repository, pair.result
        key[name] = {
            "reason": pair.reason, "repository": own, "query": pair.query.text, "rank": pair.rank,
            "found": {"repository": repository, "path": place.path, "start": place.start, "end": place.end},
        }  # fmt: skip
        shown.append({
            "id": name, "query": pair.query.text, "path_in_repo": mask(place.path, repository),
            "symbol": mask(symbol, repository), "code": mask(read_code(trees / repository, place), repository),
        })  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "key.json").write_text(json.dumps(key, indent=1), encoding="utf-8")
    (folder / "pairs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in shown), encoding="utf-8")
    return len(pairs)


def iter_pairs(ranking: Ranking, numbers: random.Random) -> Iterator[Pair]:
    """Yield what has to be judged for one query, and the controls."""
    query, places = ranking.query, ranking.own_places
    for rank, found in enumerate(ranking.together[: ranking.last_rank], 1):
        if found.repository != query.repository:
            yield Pair("elsewhere", query, rank, found)
    labelled = {find_rank(places, target) for target in query.targets[:2]}
    for rank in sorted(rank for rank in labelled if rank):
        yield Pair("labelled", query, rank, ranking.together[rank - 1])
    if len(ranking.together) >= FAR.stop:
        rank = numbers.choice(FAR)
        yield Pair("far", query, rank + 1, ranking.together[rank])


def read_code(tree: Path, place: Place) -> str:
    """Return the first lines of a result."""
    lines = (tree / place.path).read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(line[:_COLUMNS] for line in lines[place.start - 1 : min(place.end, place.start - 1 + _LINES)])


def mask(text: str, repository: str) -> str:
    """Replace the name of a repository, and each part of the name, wherever it is a word of its own."""
    words = sorted({repository, *_parts(re.split(r"[-.]", repository))}, key=len, reverse=True)
    joined = "|".join(re.escape(word) for word in words)
    return re.sub(rf"(?<![A-Za-z0-9])(?:{joined})(?![A-Za-z0-9])", _MASK, text, flags=re.IGNORECASE)


def _parts(words: Iterable[str]) -> Iterator[str]:
    # `coroutines` and `nvim` are words of their language, which many projects have.
    for word in words:
        if word not in ("coroutines", "nvim"):
            yield word
            yield word.removeprefix("lib").removesuffix("lib")
