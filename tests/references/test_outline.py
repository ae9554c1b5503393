"""Which definitions outline a tree: mentioned ones, first those with members, with their file's name, near the root."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from gitmem.answering.searcher import Searcher
from gitmem.references.outline import OutlinedDefinition, outline
from gitmem.search.path_roles import path_names
from tests.gitrepo import MakeRepo
from tests.indexes import InlinePool, index
from tests.references.asking import open_tree

MakeTree = Callable[[Mapping[str, str]], Searcher]


def users(text: str) -> dict[str, str]:
    """Return four files that mention names; equal ones would be one file."""
    return {f"use{number}.py": f"# {number}\n{text}" for number in range(4)}


USERS = users("import tools, things\n\ntools.clean_up()\nthings.CleanCleanThings()\n")
HELPER = "def clean_up():\n    pass\n"
CLASS = "class CleanThings:\n    def add(self):\n        pass\n\n    def drop(self):\n        pass\n"


@pytest.fixture
def make_tree(make_repo: MakeRepo, fake_model: type[InlinePool]) -> MakeTree:
    def make(files: Mapping[str, str]) -> Searcher:
        repo = make_repo("outlined")
        (repo.path / "a.py").unlink(missing_ok=True)
        repo.commit(dict(files))
        index(repo)
        return open_tree(repo)

    return make


def outlined(searcher: Searcher, matches: Mapping[str, float] | None = None) -> list[OutlinedDefinition]:
    """Return the definitions of a tree, the best first; `matches` are scores by path."""
    graph = searcher.names.graph(lambda _path, _may_test: 1.0, lambda: None)
    places = {path: searcher.view.find(path.encode()) or 0 for path in matches or {}}
    by_node = {(graph.node(places[path]), "clean_up"): score for path, score in (matches or {}).items()}
    entries = np.arange(len(searcher.view))
    return outline(
        searcher.names, graph, graph.rank(graph.prior), entries, by_node, lambda path: path_names(path).stem, 50
    ).definitions


def symbols(searcher: Searcher) -> list[str]:
    return [each.definition.symbol for each in outlined(searcher)]


@pytest.mark.parametrize(
    ("files", "first"),
    [
        ({"tools.py": HELPER, "misc/things_of_all.py": CLASS}, ["CleanThings", "clean_up"]),  # members
        ({"a/clean_up.py": HELPER, "tools.py": "def clean_all():\n    pass\n"}, ["clean_up", "clean_all"]),  # the file
        ({"a/b/tools.py": HELPER, "a/others.py": "def clean_all():\n    pass\n"}, ["clean_all", "clean_up"]),  # depth
    ],
    ids=["members", "name of the file", "folders"],
)
def test_of_definitions_that_are_mentioned_alike_the_prominent_one_comes_first(
    make_tree: MakeTree, files: dict[str, str], first: list[str]
) -> None:
    assert symbols(make_tree({**files, **users("clean_up()\nclean_all()\nCleanThings()\n")}))[:2] == first


def test_a_folder_gives_its_name_to_the_file_that_represents_it(make_tree: MakeTree) -> None:
    files = {"clean_up/__init__.py": HELPER, "all/tools.py": "def clean_all():\n    pass\n"}
    assert symbols(make_tree({**files, **users("clean_up()\nclean_all()\n")}))[0] == "clean_up"


def test_rank_does_not_gather_in_the_helper_of_a_helper(make_tree: MakeTree) -> None:
    # All mention `first_step`, whose file mentions `second_step` alone, and that one `third_step`.
    chain = {
        "one.py": "def first_step():\n    second_step()\n",
        "two.py": "def second_step():\n    third_step()\n",
        "three.py": "def third_step():\n    pass\n",
    }
    assert symbols(make_tree({**chain, **users("first_step()\n")}))[:3] == ["first_step", "second_step", "third_step"]


def test_a_definition_that_nobody_mentions_comes_behind_unless_it_has_many_members(make_tree: MakeTree) -> None:
    many = "class Unused:\n" + "".join(f"    def part_{number}(self):\n        pass\n" for number in range(40))
    order = symbols(make_tree({"tools.py": HELPER + "\n\ndef idle():\n    pass\n", "deep/unused.py": many, **USERS}))
    assert order.index("clean_up") < order.index("idle")
    assert order.index("Unused") < order.index("idle")


def test_scores_of_matches_are_added_to_ranks_that_keep_their_sum(make_tree: MakeTree) -> None:
    tree = make_tree({"a/b/tools.py": HELPER, "a/b/things.py": CLASS, **USERS})
    plain = {each.definition.symbol: each.score for each in outlined(tree)}
    matched = {each.definition.symbol: each.score for each in outlined(tree, {"a/b/tools.py": 0.25})}
    assert matched["clean_up"] == pytest.approx(plain["clean_up"] + 0.25)
    assert matched["CleanThings"] == pytest.approx(plain["CleanThings"])
    graph = tree.names.graph(lambda _path, _may_test: 1.0, lambda: None)
    brought = float(graph.rank(graph.prior).definitions.sum())
    assert brought < sum(plain.values()) < 1.2 * brought


def test_namespaces_that_many_files_open_are_not_shown_around_their_members(make_tree: MakeTree) -> None:
    files = {
        f"lib/part{number}.rb": f"module Shop\n  class Part{number}\n    def add; end\n  end\nend\n"
        for number in range(5)
    }
    tree = make_tree({**files, "lib/till.rb": "class Till\n  class Part0\n    def add; end\n  end\nend\n"})
    around = {each.definition.symbol: [holder.name for holder in each.containers] for each in outlined(tree)}
    assert around["Shop.Part1.add"] == ["Part1"]
    assert around["Till.Part0.add"] == ["Till", "Part0"]


def test_a_template_as_a_whole_is_no_definition(make_tree: MakeTree) -> None:
    searcher = make_tree({"forms.html.j2": "{% macro field(x) %}{{ x }}{% endmacro %}\n"})
    assert [each.definition.name for each in outlined(searcher)] == ["field"]
