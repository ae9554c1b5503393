"""Ranks of files and definitions: PageRank over the names that files define and mention."""

from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from gitmem.answering.searcher import Searcher
from gitmem.references.file_graph import DAMPING, FileGraph
from tests.gitrepo import MakeRepo, Repo
from tests.indexes import InlinePool, index
from tests.references.asking import open_tree

SHOP: Mapping[str, str] = {
    "prices.py": "def net_price(item):\n    return item\n\n\ndef unused_price():\n    pass\n",
    "cart.py": "from prices import net_price\n\n\nclass Cart:\n    def add(self, item):\n        net_price(item)\n",
    "orders.py": (
        "from cart import Cart\nfrom prices import net_price\n\n\ndef place_order():\n    Cart().add(net_price(1))\n"
    ),
    "invoices.py": "from prices import net_price\n\n\ndef send_invoice():\n    net_price(2)\n",
    "tests/test_cart.py": "from cart import Cart\n\n\ndef test_cart():\n    Cart().add(1)\n",
    "main.go": "package main\n\nfunc run() {\n\tnet_price(1)\n}\n",
    "README.md": "# Shop\n\nCalls net_price.\n",
}


def plain(path: str, _may_test: bool) -> float:
    """Weigh tests less than other files."""
    return 0.1 if path.startswith("tests/") else 1.0


def graph_of(searcher: Searcher) -> FileGraph:
    """Return the graph of an open tree."""
    return searcher.names.graph(plain, lambda: None)


def ranks_by_path(searcher: Searcher, start: NDArray[np.float64] | None = None) -> dict[str, float]:
    """Return the rank of each file with names."""
    graph = graph_of(searcher)
    ranks = graph.rank(graph.prior if start is None else start).files
    nodes, entries = graph.files(np.arange(len(searcher.view)))
    return {
        searcher.view.path(entry).decode(): float(ranks[node])
        for node, entry in zip(nodes.tolist(), entries.tolist(), strict=True)
    }


@pytest.fixture
def shop(repo: Repo, fake_model: type[InlinePool]) -> Searcher:
    """Open a shop whose files depend on the prices."""
    (repo.path / "a.py").unlink()
    repo.commit(SHOP)
    index(repo)
    return open_tree(repo)


def test_the_file_on_which_the_others_depend_comes_first(shop: Searcher) -> None:
    ranks = ranks_by_path(shop)
    assert sum(ranks.values()) == pytest.approx(1)
    assert max(ranks, key=ranks.__getitem__) == "prices.py"
    assert ranks["cart.py"] > ranks["orders.py"] > ranks["tests/test_cart.py"]
    # Markdown has no names, and a Go file does not call a Python function.
    assert "README.md" not in ranks
    assert ranks["main.go"] == pytest.approx(ranks["orders.py"])


def test_the_iteration_finds_the_solution_of_the_linear_system(shop: Searcher) -> None:
    graph = graph_of(shop)
    count = len(graph.prior)
    step = np.zeros((count, count))
    for node, name, share in zip(graph.ref_node, graph.ref_name, graph.ref_share, strict=True):
        for target, other, part in zip(graph.def_node, graph.def_name, graph.def_share, strict=True):
            if name == other:
                step[target, node] += share * part
    # A node without links sends the surfer to the start.
    step += np.outer(graph.prior, 1 - step.sum(axis=0))
    expected = np.linalg.solve(np.eye(count) - DAMPING * step, (1 - DAMPING) * graph.prior)
    assert graph.rank(graph.prior).files == pytest.approx(expected, abs=1e-4)


def test_a_definition_has_the_rank_that_it_brings_its_file(shop: Searcher) -> None:
    graph = graph_of(shop)
    ranks = graph.rank(graph.prior)
    entry = shop.view.find(b"prices.py")
    assert entry is not None
    node = graph.node(entry)
    brought = graph.definitions_of(node, ranks)
    assert brought.keys() == {"net_price"}
    start = (1 - ranks.definitions.sum()) * graph.prior[node]
    assert ranks.files[node] == pytest.approx(brought["net_price"] + start, abs=1e-4)


def test_a_start_at_one_file_favours_what_it_uses(shop: Searcher) -> None:
    graph = graph_of(shop)
    entry = shop.view.find(b"tests/test_cart.py")
    assert entry is not None
    start = np.zeros(len(graph.prior))
    start[graph.node(entry)] = 1
    personal = ranks_by_path(shop, start)
    assert personal["cart.py"] > 10 * personal["prices.py"] > 0
    assert personal["orders.py"] == personal["main.go"] == 0


def test_copies_of_a_file_are_one(repo: Repo, fake_model: type[InlinePool]) -> None:
    repo.commit({**SHOP, "copy/prices.py": SHOP["prices.py"], "tests/prices.py": SHOP["prices.py"]})
    index(repo)
    tree = open_tree(repo)
    ranks = ranks_by_path(tree)
    assert "copy/prices.py" in ranks
    assert not {"prices.py", "tests/prices.py"} & ranks.keys()
    entries = np.array([tree.view.find(b"prices.py"), tree.view.find(b"tests/prices.py")])
    assert graph_of(tree).files(entries)[1].tolist() == entries[:1].tolist()


def test_the_segments_of_the_index_change_nothing(
    repo: Repo, make_repo: MakeRepo, fake_model: type[InlinePool]
) -> None:
    for path in SHOP:
        repo.commit({path: SHOP[path]})
        index(repo)
    whole = make_repo("whole")
    whole.commit({"a.py": "def a():\n    return 1\n", **SHOP})
    index(whole)
    steps, scratch = open_tree(repo), open_tree(whole)
    assert len(steps.snapshot.segments) >= len(scratch.snapshot.segments)
    assert ranks_by_path(steps) == ranks_by_path(scratch)


@pytest.mark.parametrize(
    "files",
    [
        {"a.md": "# nothing\n"},
        {"a.py": "def loop():\n    loop()\n"},
        {
            "a.py": "from b import pong\n\n\ndef ping():\n    pong()\n",
            "b.py": "from a import ping\n\n\ndef pong():\n    ping()\n",
        },
        {f"{number}.py": "def same():\n    pass\n" for number in range(60)},
    ],
    ids=["no code", "recursion", "cycle", "one name"],
)
def test_every_graph_has_ranks(make_repo: MakeRepo, fake_model: type[InlinePool], files: dict[str, str]) -> None:
    repo = make_repo("odd")
    repo.commit(files)
    index(repo)
    ranks = ranks_by_path(open_tree(repo))
    assert len(ranks) == len({text for path, text in files.items() if path.endswith(".py")})
    assert not ranks or sum(ranks.values()) == pytest.approx(1)


def test_a_name_that_too_many_files_define_links_nothing(make_repo: MakeRepo, fake_model: type[InlinePool]) -> None:
    repo = make_repo("many")
    repo.commit(
        {f"{number}.py": f"def same():\n    return {number}\n" for number in range(60)} | {"use.py": "same()\n"}
    )
    index(repo)
    assert graph_of(open_tree(repo)).names == []


def test_a_small_name_of_go_is_known_in_its_folder_alone(make_repo: MakeRepo, fake_model: type[InlinePool]) -> None:
    repo = make_repo("packages")
    repo.commit(
        {
            "auth/client.go": "package auth\n\ntype httpClient interface{}\n\nfunc NewToken() {}\n",
            "auth/login.go": "package auth\n\nfunc Login(c httpClient) {}\n",
            "issues/list.go": 'package issues\n\nimport "x/auth"\n\nfunc List(c httpClient) { auth.NewToken() }\n',
            "issues/client.py": "class httpClient:\n    pass\n",
        }
    )
    index(repo)
    searcher = open_tree(repo)
    graph = graph_of(searcher)
    nodes, entries = graph.files(np.arange(len(searcher.view)))
    paths = {node: searcher.view.path(entry).decode() for node, entry in zip(nodes, entries, strict=True)}
    mentions = {(graph.names[name], paths[node]) for name, node in zip(graph.ref_name, graph.ref_node, strict=True)}
    assert mentions == {("httpClient", "auth/login.go"), ("NewToken", "issues/list.go")}
