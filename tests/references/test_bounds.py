"""Bounds of answers about names: generated files, names that are used everywhere, recursion and cycles."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitmem.answering.searcher import Searcher
from gitmem.references.file_names import Definition
from gitmem.references.tree_names import TreeNames
from gitmem.references.usage import MAX_IN_FILE, Bounds
from gitmem.references.usages import UsageFinder
from gitmem.types import MAX_USAGE_DEPTH
from tests.references.asking import ask, indexed_files, places

FILES = {
    "core.py": "def get(x):\n    return get(x)\n",
    "a_generated.py": "from core import get\n" + "get(1)\n" * (MAX_IN_FILE + 500),
    "use.py": "from core import get\nget(2)\n",
    "other.py": "from core import get\nget(3)\n",
    "cycle.py": "class A(B):\n    pass\nclass B(A):\n    pass\ndef ping(): return pong()\ndef pong(): return ping()\n",
}


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("crowded"), FILES) as searcher:
        yield searcher


def test_a_generated_file_leaves_room_for_the_others(crowded: Searcher) -> None:
    answer = ask(crowded, "get", "callers", limit=5)
    (related,) = answer.relations
    # Of the generated file one reference is its import; the others are one recursive call and two calls.
    assert (related.total, len(related.places)) == (MAX_IN_FILE - 1 + 3, 5)
    assert f"only the first {MAX_IN_FILE:,} references were read in 1 file with more of them" in answer.notes
    assert {"use.py:2", "other.py:2", "core.py:2"} <= set(places_of(crowded, 3_000))


def places_of(searcher: Searcher, limit: int) -> list[str]:
    (related,) = ask(searcher, "get", "callers", limit=limit).relations
    return [f"{place.path}:{place.line}" for place in related.places]


def test_more_steps_count_the_same_references_once(crowded: Searcher) -> None:
    finder = bounded(crowded, Bounds(references=MAX_IN_FILE + 10))
    results = finder.find(crowded.names.definitions("get"), "get", ("callers", "importers"), depth=3)
    assert len(results.relations["callers"]) >= MAX_IN_FILE
    assert len(results.relations["importers"]) == 3


@pytest.mark.parametrize(("bounds", "cut"), [(Bounds(files=1), 3), (Bounds(references=10), 2)])
def test_files_behind_a_bound_are_counted(crowded: Searcher, bounds: Bounds, cut: int) -> None:
    results = bounded(crowded, bounds).find(crowded.names.definitions("get"), "get", ("callers",))
    assert results.cuts[0] == f"{cut} of 4 files with such names were not read"
    # The file of the definition comes first.
    assert any(usage.line == 2 and usage.symbol == "get" for usage in results.relations["callers"])


def bounded(searcher: Searcher, bounds: Bounds) -> UsageFinder:
    return UsageFinder(searcher.names, lambda _: False, bounds=bounds)


@pytest.mark.parametrize(
    ("name", "relation", "expected"),
    [
        ("A", "subclasses", ["cycle.py:3", "cycle.py:1"]),
        ("B", "implementers", ["cycle.py:1", "cycle.py:3"]),
        ("ping", "callers", ["cycle.py:6", "cycle.py:5"]),
        ("ping", "callees", ["cycle.py:6"]),
    ],
)
def test_recursion_and_cycles_end(crowded: Searcher, name: str, relation: str, expected: list[str]) -> None:
    assert places(crowded, name, relation, depth=MAX_USAGE_DEPTH) == expected


LEVELS, NAMESAKES = 7, 20
TRAITS = {
    f"p/L{level}_{number}.scala": f"package p\ntrait L{level} extends L{level + 1} {{\n  def own{level} = 1\n}}\n"
    for level in range(LEVELS)
    for number in range(NAMESAKES)
}
USE = "package p\nclass Use extends L0 {\n  def run = { missing(); own6(); helper() }\n  def helper() = 1\n}\n"


def test_bases_of_many_meanings_are_visited_once(tmp_path: Path) -> None:
    # Each of seven names above a class means twenty traits: more than a thousand million paths lead to the last ones.
    files = {**TRAITS, "p/Use.scala": USE, "q/Other.scala": "package q\nobject Other {\n  def missing() = 1\n}\n"}
    with indexed_files(tmp_path / "traits", files) as searcher:
        assert places(searcher, "Use.helper", "callers") == ["p/Use.scala:3"]
        assert places(searcher, "own6", "callers") == [f"p/Use.scala:3 {NAMESAKES}+"]
        assert places(searcher, "missing", "callers") == ["p/Use.scala:3+"]


class CountingNames:
    """Names of a tree that count how often the definitions of a name are asked for."""

    def __init__(self, names: TreeNames) -> None:
        self.asked = 0
        self._names = names

    def definitions(self, name: str) -> list[Definition]:
        self.asked += 1
        return self._names.definitions(name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._names, name)


def test_the_members_of_many_classes_are_looked_for_once(tmp_path: Path) -> None:
    # Generated code for messages has the same methods in hundreds of classes.
    messages = "".join(f"class Message{number}:\n    def parse(self): pass\n" for number in range(200))
    below = "from messages import Message7\nclass Special(Message7):\n    def parse(self): pass\n"
    with indexed_files(tmp_path / "messages", {"messages.py": messages, "special.py": below}) as searcher:
        names = CountingNames(searcher.names)
        targets = [each for each in searcher.names.definitions("parse") if each.container[0] != "Special"]
        assert len(targets) == 200
        results = UsageFinder(names, lambda _: False).find(targets, "parse", ("implementers",))
        assert [each.symbol for each in results.relations["implementers"]] == ["Special.parse"]
        assert names.asked < 10
