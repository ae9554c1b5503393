"""Histories of notebooks: sections and definitions in cells change, outputs do not."""

from typing import Any

import pytest

from gitmem.chunking.element import text_with_elements
from gitmem.chunking.elements import find_elements
from gitmem.history.tree_changes import ADDED, CHANGED, MOVED
from tests.chunking.test_notebook import PICTURE, as_jupyter, cell, notebook
from tests.gitrepo import Repo
from tests.history.test_tree_changes import compare
from tests.history.tracing import Step, trace
from tests.indexes import index
from tests.sample import Cli

FIT = ["def fit(rows):\n", "    return [row * 2 for row in rows]"]


def book(*further: dict[str, Any], text: str = "We fit.", rate: str = "0.1", fit: list[str] = FIT) -> bytes:
    cells = [
        cell("markdown", "# Regression\n", "\n", text),
        cell("code", "%matplotlib inline\n", f"rate = {rate}"),
        cell("markdown", "## Training"),
        cell("code", *fit),
        cell("code", "fit([rate])"),
        cell("markdown", "A text without a heading."),
    ]
    return as_jupyter(notebook(*cells, *further))


@pytest.fixture
def repo(repo: Repo) -> Repo:
    repo.commit({"book.ipynb": book()}, "first")
    return repo


def changes_of(repo: Repo, data: bytes) -> list[tuple[str, str]]:
    repo.commit({"book.ipynb": data}, "next")
    return [(change.group, change.symbol) for change in compare(repo)]


def test_a_section_has_all_cells_up_to_the_next_heading() -> None:
    data = book()
    elements = find_elements(data, "notebook").elements
    assert [element.symbol for element in elements] == ["Regression", "Regression > Training", "fit"]
    text = text_with_elements(data, "notebook")
    assert text[elements[1].start : elements[1].end].endswith(b"A text without a heading.")


def test_outputs_are_no_change(repo: Repo) -> None:
    assert changes_of(repo, book().replace(PICTURE[:40].encode(), b"another")) == []


def test_code_outside_of_definitions_belongs_to_its_section(repo: Repo) -> None:
    assert changes_of(repo, book(rate="0.2")) == [(CHANGED, "Regression")]
    assert changes_of(repo, book(rate="0.2", text="We fit again.")) == [(CHANGED, "Regression")]


def test_definitions_in_cells_are_elements_of_their_own(repo: Repo) -> None:
    assert changes_of(repo, book(fit=["def fit(rows):\n", "    return rows"])) == [(CHANGED, "fit")]
    more = (cell("markdown", "## Results"), cell("code", "def show(rows):\n", "    print(rows)"))
    (section,) = changes_of(repo, book(*more, fit=["def fit(rows):\n", "    return rows"]))
    assert section == (ADDED, "Regression > Results")  # with `show` as its member


def test_a_definition_is_followed_from_a_notebook_to_a_notebook(repo: Repo) -> None:
    own = ["def load(path):\n", "    with open(path) as file:\n", "        return parse(file.read())"]
    repo.commit({"book.ipynb": book(cell("code", *own))}, "load")
    repo.commit({"book.ipynb": book(), "data.ipynb": as_jupyter(notebook(cell("code", *own)))}, "move")
    assert [(change.group, change.symbol) for change in compare(repo)] == [(MOVED, "load")]
    assert trace(repo, "data.ipynb", "load") == [
        Step("move", ("move",), "book.ipynb#load"),
        Step("load", ("introduced",)),
    ]


def test_a_line_outside_of_definitions_is_traced_itself(cli: Cli, repo: Repo, fake_model: None) -> None:
    repo.commit({"book.ipynb": book(rate="0.2")}, "change the rate")
    index(repo)
    lines = book(rate="0.2").decode().split("\n")
    heading, rate, definition = (
        next(number for number, line in enumerate(lines, 1) if text in line)
        for text in ("# Regression", "rate = ", "def fit")
    )
    shown = [cli("when", f"book.ipynb:{line}", cwd=repo.path).out for line in (heading, rate, definition + 1)]
    assert [text.split("\n")[0].partition(", ")[0] for text in shown] == [
        f"book.ipynb:{heading}-{rate}  Regression  2 commits",
        f"book.ipynb:{rate}-{rate}  2 commits",
        f"book.ipynb:{definition}-{definition + 1}  fit  1 commit",
    ]
