"""Names before a member: results of calls, parts of namespaces, local classes, and variables with usual names."""

from collections.abc import Iterator

import pytest

from gitmem.answering.searcher import Searcher
from tests.references.asking import indexed_files, places

FILES = {
    "go/store/store.go": """package store

type Store struct{}

func (s *Store) Reply(code int) *Store { return s }

func (s *Store) Hosts() int { return 1 }

func Reply(code int) {}
""",
    "go/use/use.go": """package use

func run(config Config) {
\tbegin().
\t\tReply(200)
\tauth := config.Authentication()
\tauth.Hosts()
}
""",
    "php/src/Console/Command/RunCommand.php": "<?php\nnamespace Shop\\Console\\Command;\nclass RunCommand {}\n",
    "php/src/Console/Application.php": """<?php
namespace Shop\\Console;
use Shop\\Console\\Command;
use Shop\\Shop;
$a = new Command\\RunCommand();
$b = new \\Shop\\Console\\Command\\RunCommand();
""",
    "py/app.py": "class App:\n    def serve_all(self):\n        pass\n",
    "py/test_app.py": """from app import App

def test_serving():
    class LocalApp(App):
        pass

    local = LocalApp()
    local.serve_all()
""",
    "cs/Base.cs": "class Upper { public void Weigh() {} }\nclass Lower : Upper { void Run() { base.Weigh(); } }\n",
    "py/above.py": "class Tree:\n    def climb_up(self):\n        parent = find()\n        parent.climb_up()\n",
    "cpp/tree.cpp": "class Tree { void sink_down(Tree base) { base.sink_down(base); } };\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("receivers") / "r", FILES) as searcher:
        yield searcher


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # A line that ends with a dot goes on in the next one.
        ("Store.Reply", ["go/use/use.go:5"]),
        ("go/store/store.go:9", []),
        # A variable, not a package, is before the function, so its result may be of any type.
        ("Store.Hosts", ["go/use/use.go:7"]),
        ("RunCommand", ["php/src/Console/Application.php:5", "php/src/Console/Application.php:6"]),
        ("App.serve_all", ["py/test_app.py:8"]),
        # The class above in one language, a variable in others.
        ("Upper.Weigh", ["cs/Base.cs:2"]),
        ("climb_up", ["py/above.py:4"]),
        ("sink_down", ["cpp/tree.cpp:1"]),
    ],
)
def test_calls_are_found_by_what_is_before_them(shop: Searcher, name: str, expected: list[str]) -> None:
    assert places(shop, name, "callers") == expected
