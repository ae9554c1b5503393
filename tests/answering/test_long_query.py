"""Long texts as queries: issues and stack traces find the code that they name; cost and answers of short ones stay."""

from pathlib import Path
from typing import Any

import pytest

from gitmem.answering.search_query import MAX_QUERY
from gitmem.mcp.tools.descriptions import SEARCH
from tests.gitrepo import Repo
from tests.indexes import index, python_file, search

SIZE = '''class Axis:
    """Scale of one dimension."""

    def tick_values(self, low, high):
        """Return the positions of ticks between two limits."""
        return steps(low, high)

    def resize(self, factor):
        """Stretch the scale."""
        self.width = self.width * factor
'''
FILES = {
    "lib/plots/axis.py": SIZE,
    "lib/plots/legend.py": python_file("draw_legend", "legend_size", "resize_legend"),
    "lib/plots/__init__.py": "from plots.axis import Axis\n",
    "lib/events.py": python_file("resize_event", "draw_event", "close_event"),
    "lib/tools/axis.py": python_file("axis_tool"),
    "tests/test_events.py": python_file("test_resize", "test_draw_event", "test_resize_event"),
}
TRACE = """Traceback (most recent call last):
  File "/home/me/script.py", line 3, in <module>
    figure.resize_event(2)
  File "/opt/env/lib/python3.11/site-packages/plots/axis.py", line {line}, in {function}
    self.width = self.width * factor
  File "/opt/env/lib/python3.11/site-packages/numpy/core/events.py", line 12, in multiply
TypeError: unsupported operand
"""


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Index a small repository with the real model."""
    repo = Repo.init(tmp_path_factory.mktemp("long") / "repo")
    repo.commit(FILES)
    index(repo)
    return repo


def first_hit(answer: Any) -> tuple[str, str]:
    hit = answer.hits[0][0]
    return hit.path, hit.symbol


def test_the_file_and_function_of_a_frame_come_first(repo: Repo) -> None:
    text = "Window crashes after a while\n\nSometimes events are lost.\n\n" + TRACE.format(line=900, function="resize")
    hits = search(repo, text).hits
    assert hits[0][0].path == "lib/plots/axis.py"
    assert hits[0][0].scores["named_file"] > 0.5
    # Of two files of the name only the one in the folder is meant.
    assert {hit.path for hit, _ in hits if "named_file" in hit.scores} == {"lib/plots/axis.py"}


def test_one_line_names_a_place_only_with_a_line_number(repo: Repo) -> None:
    with_line = search(repo, "draw legend lib/events.py:2")
    assert any(hit.scores.get("named_file") == 1 for hit, _ in with_line.hits if hit.path == "lib/events.py")
    assert not any("named_file" in hit.scores for hit, _ in search(repo, "draw legend events.py").hits)


def test_an_issue_finds_what_its_title_asks_for_despite_its_environment(repo: Repo) -> None:
    environment = "### Versions\n" + "\n".join(f"legend {n}.1.{n}" for n in range(200))
    text = f"Positions of ticks between limits are wrong\n\n- [ ] I read the legend\n\n{environment}\n"
    assert first_hit(search(repo, text))[0] == "lib/plots/axis.py"


def test_one_word_about_tests_does_not_make_tests_the_subject(repo: Repo) -> None:
    text = "The event of a resize is lost\n\nEvents that draw are not affected. There is a test of it.\n"
    assert first_hit(search(repo, text))[0] == "lib/events.py"


def test_a_text_of_the_maximum_length_is_answered_with_few_terms_to_highlight(repo: Repo) -> None:
    text = ("Ticks between limits\n" + "\n".join(f"word{n} axis value{n}" for n in range(5000)))[:MAX_QUERY]
    answer = search(repo, text)
    assert answer.hits
    assert len(answer.terms) <= 16


def test_the_tool_accepts_as_long_a_query_as_the_command() -> None:
    assert SEARCH.schema["properties"]["query"]["maxLength"] == MAX_QUERY


@pytest.fixture(scope="module")
def chinese(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Index a repository whose documents and comments are Chinese, Japanese and Korean."""
    repo = Repo.init(tmp_path_factory.mktemp("cjk") / "repo")
    repo.commit(
        {
            "docs/arrow.md": "# 箭头\n\nES6允许使用箭头函数定义函数。\n",
            "docs/function.md": "# 函数\n\n函数是一段代码。可以给函数的参数指定默认值。函数的长度。\n",
            "docs/sharp.md": "# 箭\n\n箭的头是尖的。这里没有那个词。\n",
            "src/user.py": "def load(name):\n    # ユーザー名を検索する\n    return 用户名表[name]\n",
            "src/cache.py": "def clear():\n    # 캐시를 비운다\n    return None\n",
        }
    )
    index(repo)
    return repo


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("箭头函数", "docs/arrow.md"),
        ("默认值", "docs/function.md"),
        ("ユーザー名", "src/user.py"),
        ("用户名", "src/user.py"),
        ("캐시", "src/cache.py"),
    ],
)
def test_a_word_of_a_script_without_spaces_finds_the_file_with_it(chinese: Repo, query: str, path: str) -> None:
    assert first_hit(search(chinese, query))[0] == path


def test_words_that_the_model_does_not_know_resemble_nothing(chinese: Repo, tmp_path: Path) -> None:
    assert not search(chinese, "蝴蝶", mode="semantic").hits
    assert not search(chinese, "蝴蝶").hits
