"""Usages in notebooks: their Python cells are one file, at the lines of the `.ipynb` file."""

from collections.abc import Iterator

import pytest

from gitmem.answering.searcher import Searcher
from tests.chunking.test_notebook import as_jupyter, cell, notebook
from tests.references.asking import ask, indexed_files, places

BOOK = as_jupyter(
    notebook(
        cell("markdown", "# Regression"),
        cell("code", "%matplotlib inline\n", "from shop.prices import net_price\n", "RATE = 2"),
        cell("markdown", "## Training\n", "\n", "We call fit(rows)."),
        cell("code", "def fit(rows):\n", "    return net_price(rows) * RATE\n", "\n", "list(map(net_price, [1]))"),
        cell("code", "%%bash\n", "fit(model)"),
        cell("code", "!pip install shop\n", "fit([1])"),
    )
).decode()
BROKEN = as_jupyter(
    notebook(
        cell("code", "from shop.prices import net_price"),
        cell("code", "print(net_price(1))\n", 'text = """a {'),
        cell("code", "def later(rows):\n", "    return net_price(rows)"),
    )
).decode()
OTHER = as_jupyter(notebook(cell("code", "net_price <- function(x) x\n", "net_price(1)"), language="R")).decode()
FILES = {
    "shop/prices.py": "def net_price(item):\n    return item\n",
    "book.ipynb": BOOK,
    "broken.ipynb": BROKEN,
    "other.ipynb": OTHER,
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("notebooks") / "repo", FILES) as searcher:
        yield searcher


def line_of(text: str, book: str = BOOK) -> int:
    """Return the line of the file with a text."""
    return next(number for number, line in enumerate(book.split("\n"), 1) if text in line)


def test_cells_use_the_definitions_of_modules(opened: Searcher) -> None:
    assert places(opened, "shop/prices.py#net_price", "callers") == [
        f"book.ipynb:{line_of('return net_price')}",
        f"broken.ipynb:{line_of('print(net_price', BROKEN)}",
        f"broken.ipynb:{line_of('return net_price', BROKEN)}",
    ]
    assert places(opened, "shop/prices.py#net_price", "mentions") == [f"book.ipynb:{line_of('map(')}"]
    assert places(opened, "shop/prices.py#net_price", "importers") == [
        f"book.ipynb:{line_of('import net_price')}",
        f"broken.ipynb:{line_of('import net_price', BROKEN)}",
    ]


def test_a_cell_uses_the_definitions_of_another_one(opened: Searcher) -> None:
    assert places(opened, "fit", "definitions") == [f"book.ipynb:{line_of('def fit')}"]
    assert places(opened, "fit", "callers") == [f"book.ipynb:{line_of('fit([1])')}"]
    assert places(opened, "RATE", "mentions") == [f"book.ipynb:{line_of('* RATE')}"]


def test_a_call_outside_of_functions_is_in_the_section_of_its_cell(opened: Searcher) -> None:
    (related,) = ask(opened, "fit", "callers").relations
    assert [place.symbol for place in related.places] == ["Regression > Training"]


def test_definitions_of_cells_are_in_no_section(opened: Searcher) -> None:
    (related,) = ask(opened, "RATE", "definitions").relations
    assert [(place.symbol, place.line) for place in related.places] == [("RATE", line_of("RATE = 2"))]
