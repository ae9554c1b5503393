"""Every place that shows text of a notebook shows the cells, at the lines of the file."""

from pathlib import Path

import pytest

from gitmem.answering.context_lines import read_context
from gitmem.answering.file_excerpts import read_file_excerpt
from gitmem.answering.location_lookup import get_chunk
from gitmem.answering.searcher import open_searcher
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.git.objects import open_reader
from tests.chunking.test_notebook import BOOK, PICTURE, TRAIN, as_jupyter, cell, notebook
from tests.gitrepo import Repo
from tests.indexes import index, search, workspace_of

pytestmark = pytest.mark.usefixtures("fake_model")

DATA = as_jupyter(BOOK)
FIRST = next(number for number, line in enumerate(DATA.split(b"\n"), 1) if b"def train" in line)
SHOWN = [line.rstrip("\n") for line in TRAIN]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit(
        {
            "book.ipynb": DATA,
            ".gitattributes": "*.ipynb linguist-language=Python linguist-vendored linguist-generated\n",
        }
    )
    index(repo)
    return repo


def test_results_context_locations_and_excerpts_agree(repo: Repo) -> None:
    hit, lines = search(repo, "train").hits[0]
    assert (hit.path, hit.language, hit.symbol) == ("book.ipynb", "notebook", "train")
    assert (hit.start_line, hit.end_line) == (FIRST, FIRST + 2)
    assert lines == SHOWN
    workspace = workspace_of(repo)
    assert read_context(workspace.location, [hit], 3, {}) == [(["%matplotlib inline", "rate = 0.1", ""], ["\0"] * 3)]
    searcher = open_searcher(workspace, WORKING_TREE)
    with open_reader(workspace.location, bulk=False) as reader:
        chunk = get_chunk(searcher.indexed_tree, reader, f"book.ipynb:{FIRST + 1}")
        assert (chunk.symbol, chunk.lines) == ("train", (FIRST, FIRST + 2))
        excerpt = read_file_excerpt(searcher.indexed_tree, reader, f"book.ipynb:{FIRST - 3}-{FIRST + 4}")
    assert excerpt.lines == ["%matplotlib inline", "rate = 0.1", "", *SHOWN, "\0", "\0"]
    assert excerpt.content == "\n".join(["%matplotlib inline", "rate = 0.1", "", *SHOWN, "..."])


def test_pictures_do_not_keep_a_notebook_out_of_the_index(repo: Repo) -> None:
    repo.commit({"plots.ipynb": as_jupyter(notebook(*BOOK["cells"][2:], cell("code", "plt.plot(residuals)")))})
    repo.git("config", "gitmem.maxFileBytes", str(2 * len(PICTURE)))
    index(repo)
    assert search(repo, "residuals").hits[0][0].path == "plots.ipynb"
    repo.write({"new.ipynb": as_jupyter(notebook(cell("code", "plt.plot(quantiles)"), *BOOK["cells"][2:]))})
    assert search(repo, "quantiles").hits[0][0].path == "new.ipynb"


def test_a_change_of_outputs_changes_no_cell(repo: Repo) -> None:
    repo.commit({"book.ipynb": DATA.replace(PICTURE[:40].encode(), b"another")})
    index(repo)
    assert not search(repo, "train", changed="HEAD~1..HEAD").hits
    repo.commit({"book.ipynb": DATA.replace(b"rate = 0.1", b"rate = 0.2")})
    index(repo)
    found = search(repo, "rate", changed="HEAD~1..HEAD").hits
    assert [lines for _, lines in found] == [["%matplotlib inline", "rate = 0.2"]]
