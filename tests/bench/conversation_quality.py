"""Search in long conversations: how often a turn with the evidence is among the first ten results, on LoCoMo.

LoCoMo (Maharana et al. 2024, `data/locomo10.json` of snap-research/LoCoMo, CC BY-NC: it is read from a file of the user
and never part of gitmem) has ten pairs of people with up to 32 sessions each, and questions whose evidence is known.
Each session is a conversation of one repository per pair. Nothing is fitted on the last five pairs.
"""

import argparse
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import numpy as np

from gitmem.answering.answer import answer
from gitmem.answering.hit_text import named_hit
from gitmem.answering.search_query import Query, SearchFilters
from gitmem.freshness.refresh import refresh
from gitmem.memory.conversation import Turn
from gitmem.records.conversations import import_turns
from gitmem.workspace import Workspace, create_index, open_workspace
from tests.bench.bm25 import Bm25
from tests.bench.figures import Figure
from tests.gitrepo import Repo

_TURNS: Final = 10
_SESSIONS: Final = 5
_DEPTH: Final = 50
"""Results that are read to find the first sessions."""

_DEVELOPMENT: Final = 5
_ADVERSARIAL: Final = 5
"""Category of questions without an answer in the conversation."""

_NAME: Final = re.compile(r"conversation:session_(?P<session>\d+) (?P<turn>\d+)")

Ranking = Callable[[str], list[str]]
"""Function from a question to the ids of turns, the best first."""


class Question(NamedTuple):
    """Question with the ids of the turns that answer it, `D2:14` for turn 14 of session 2."""

    text: str
    evidence: frozenset[str]


class Pair(NamedTuple):
    """Turns of two people by id, in order, and the questions about them."""

    turns: Mapping[str, Turn]
    questions: Sequence[Question]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for the data and its part."""
    parser.add_argument("--data", type=Path, required=True, metavar="FILE", help="locomo10.json")
    parser.add_argument("--part", choices=("development", "held-out"), help="only one half; default: both")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Ask each question of the memory of its pair, and of BM25 over the same turns."""
    samples = json.loads(options.data.read_text(encoding="utf-8"))
    parts = {"development": samples[:_DEVELOPMENT], "held-out": samples[_DEVELOPMENT:]}
    chosen = [options.part] if options.part else list(parts)
    figures: list[Figure] = []
    hits: dict[str, list[tuple[bool, bool]]] = {}
    for part in chosen:
        for sample in parts[part]:
            pair = read_pair(sample)
            with TemporaryDirectory() as folder:
                workspace = make_memory(Path(folder), pair)
                rankings = {
                    "gitmem": rank_with_gitmem(workspace),
                    "BM25": rank_with_bm25(pair),
                    "BM25 with dates": rank_with_bm25(pair, dated=True),
                }
                for name, rank in rankings.items():
                    found = [judge(rank(question.text), question) for question in pair.questions]
                    hits.setdefault(f"{name}, {part}", []).extend(found)
    for subject, found in hits.items():
        turns, sessions = np.asarray(found, float).mean(axis=0).tolist()
        bars = (0.70, 0.92) if subject.startswith("gitmem") else (None, None)
        figures.append(Figure(subject, "questions", len(found)))
        figures.append(Figure(subject, f"evidence among the first {_TURNS} turns", turns, at_least=bars[0]))
        figures.append(Figure(subject, f"session among the first {_SESSIONS}", sessions, at_least=bars[1]))
    return figures


def read_pair(sample: Mapping[str, Any]) -> Pair:
    """Return the turns and the questions of a sample; pictures are represented by their captions."""
    conversation = sample["conversation"]
    sessions = [name for name, value in conversation.items() if isinstance(value, list)]
    turns: dict[str, Turn] = {}
    for session in sessions:
        for number, said in enumerate(conversation[session]):
            text = f"{said['speaker']}: {said['text']}"
            text += f" [picture: {said['blip_caption']}]" if said.get("blip_caption") else ""
            role = "user" if said["speaker"] == conversation["speaker_a"] else "assistant"
            turns[said["dia_id"]] = Turn(session, number, role, text, _time(conversation[f"{session}_date_time"]))
    asked = [
        Question(str(question["question"]), frozenset(question["evidence"]))
        for question in sample["qa"]
        if question["category"] != _ADVERSARIAL and question["evidence"]
    ]
    return Pair(turns, asked)


def _time(text: str) -> str:
    """Return a time of the data, `1:56 pm on 8 May, 2023`, as records have it."""
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").strftime("%Y-%m-%dT%H:%M:%SZ")


def make_memory(folder: Path, pair: Pair) -> Workspace:
    """Make a repository that holds the sessions as conversations."""
    repo = Repo.init(folder / "repo")
    repo.commit({"readme": "x"})
    workspace = open_workspace(repo.path, {})
    create_index(workspace)
    refresh(workspace, workspace.location.head_tree)
    notices = import_turns(workspace, list(pair.turns.values()), allow_secrets=True).notices
    assert not notices, notices
    return workspace


def rank_with_gitmem(workspace: Workspace) -> Ranking:
    """Return a function that searches as `gitmem query --kind conversations` does."""

    def rank(text: str) -> list[str]:
        query = Query(text, limit=_DEPTH, filters=SearchFilters(kinds=("conversations",)), min_score=0)
        found = answer(workspace, query)
        names = [_NAME.fullmatch(named_hit(hit).path) for hit, _ in found.hits]
        return list(dict.fromkeys(f"D{name['session']}:{int(name['turn']) + 1}" for name in names if name))

    return rank


def rank_with_bm25(pair: Pair, *, dated: bool = False) -> Ranking:
    """Return a function that ranks the turns by BM25; with `dated`, their dates are a part of their texts."""
    dates = [f"{datetime.fromisoformat(turn.time):%-d %B %Y} " if dated else "" for turn in pair.turns.values()]
    index = Bm25([date + turn.content for date, turn in zip(dates, pair.turns.values(), strict=True)])
    ids = np.asarray(list(pair.turns))
    return lambda text: ids[np.argsort(-index.score(text), kind="stable")].tolist()


def judge(ranking: Sequence[str], question: Question) -> tuple[bool, bool]:
    """Return whether the first turns have a piece of evidence, and the first sessions the session of one."""
    sessions = list(dict.fromkeys(turn.partition(":")[0] for turn in ranking))[:_SESSIONS]
    expected = {turn.partition(":")[0] for turn in question.evidence}
    return not question.evidence.isdisjoint(ranking[:_TURNS]), not expected.isdisjoint(sessions)
