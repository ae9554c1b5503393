"""Notebooks: their text, the lines of it, and the chunks of their cells."""

import json
from typing import Any

import pytest

from gitmem.chunking.blob_text import fit_blob, text_of
from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.notebook import HIDDEN, Notebook, read_notebook, without_outputs
from gitmem.types import Chunk

PICTURE = "iVBORw0KGgo" * 400
TRAIN = ["def train(model, rows):\n", '    """Fit a model."""\n', '    return model.fit("é", rows)\n']


def cell(cell_type: str, *source: str, **fields: Any) -> dict[str, Any]:
    outputs = [{"data": {"image/png": PICTURE, "source": ["no cell\n"]}, "output_type": "display_data"}]
    return {
        "cell_type": cell_type,
        **({"outputs": outputs} if cell_type == "code" else {}),
        "source": [*source],
        **fields,
    }


def notebook(*cells: dict[str, Any], language: str = "python") -> dict[str, Any]:
    kernel = {"display_name": "Python 3", "language": language, "name": "kernel"}
    return {"cells": list(cells), "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


BOOK = notebook(
    cell("markdown", "# Regression\n", "\n", "We fit a line."),
    cell("markdown", "## Training"),
    cell("code", "%matplotlib inline\n", "rate = 0.1\n", "\n", *TRAIN),
    cell("code", "%%bash\n", "pip install it"),
)


def as_jupyter(value: dict[str, Any]) -> bytes:
    return json.dumps(value, indent=1, ensure_ascii=False).encode() + b"\n"


def read(data: bytes) -> Notebook:
    found = read_notebook(data)
    assert found is not None
    return found


def chunks_of(data: bytes) -> list[Chunk]:
    found = read(data)
    return chunk_blob(found.text, "notebook", cells=found.cells).chunks


def results_of(data: bytes) -> list[tuple[str, str, str]]:
    """Type, symbol and text of each result."""
    text = read(data).text
    units = [unit for chunk in chunks_of(data) for unit in chunk.units or [chunk]]
    return [(unit.chunk_type, unit.symbol, text[unit.start : unit.end].decode()) for unit in units]


def test_each_line_of_a_cell_is_at_its_line_of_the_file() -> None:
    data = as_jupyter(BOOK)
    text = read(data).text
    lines, own = text.split(b"\n"), data.split(b"\n")
    assert len(lines) == len(own)
    shown = {number: line.decode() for number, line in enumerate(lines) if line != HIDDEN}
    assert [line for line in shown.values() if line] == [
        "# Regression", "We fit a line.", "## Training", "%matplotlib inline", "rate = 0.1",
        *(line.rstrip("\n") for line in TRAIN), "%%bash", "pip install it",
    ]  # fmt: skip
    for number, line in shown.items():
        assert json.loads(own[number].strip().rstrip(b",")).rstrip("\n") == line


def test_the_pieces_of_a_long_function_in_a_cell_know_its_lines() -> None:
    steps = [f"    losses.append(train_step(model, batch_of({number}), rate={number}))\n" for number in range(60)]
    data = as_jupyter(notebook(cell("markdown", "# Training"), cell("code", "def train(model):\n", *steps)))
    text, lines = read(data).text, read(data).text.split(b"\n")
    wholes = {chunk.whole for chunk in chunks_of(data) if chunk.symbol == "train"}
    [whole] = wholes
    assert whole is not None
    assert text[whole.start : whole.end].startswith(b"def train(model):")
    assert lines[whole.start_line - 1] == b"def train(model):"
    assert lines[whole.end_line - 1].decode() == steps[-1].rstrip("\n")


def test_cells_become_results_of_their_language_below_their_headings() -> None:
    assert results_of(as_jupyter(BOOK)) == [
        ("section", "Regression", "# Regression\n\nWe fit a line."),
        ("section", "Regression > Training", "## Training"),
        ("module", "Regression > Training", "%matplotlib inline\nrate = 0.1"),
        ("function", "train", "".join(TRAIN).rstrip("\n")),
        ("module", "Regression > Training", "%%bash\npip install it"),
    ]


def test_small_cells_share_a_row() -> None:
    cells = [cell("code", f"frame_{number}.plot()") for number in range(12)]
    chunks = chunks_of(as_jupyter(notebook(*cells)))
    assert len(chunks) == 1
    assert len(chunks[0].units) == len(cells)


@pytest.mark.parametrize("indent", [None, 1])
def test_cells_on_one_line_have_the_lines_of_the_text(indent: int | None) -> None:
    cells = [each | {"source": "".join(each["source"])} for each in BOOK["cells"]]
    data = json.dumps(BOOK | {"cells": cells}, indent=indent).encode()
    assert not read(data).in_place
    assert results_of(data) == results_of(as_jupyter(BOOK))
    lines = read(data).text.split(b"\n")
    train = next(chunk for chunk in chunks_of(data) if chunk.symbol == "train")
    assert lines[train.start_line - 1] == TRAIN[0].rstrip().encode()


def test_nbformat_3_is_read() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "metadata": {}, "source": ["Setup"]},
        {"cell_type": "code", "input": ["f = function(x) {\n", "  x + 1\n", "}"], "language": "R", "outputs": []},
    ]
    data = as_jupyter({"metadata": {"name": ""}, "nbformat": 3, "worksheets": [{"cells": cells, "metadata": {}}]})
    assert [each.language for each in read(data).cells] == ["", "r"]
    assert results_of(data)[0][1] == "Setup"


@pytest.mark.parametrize(
    ("kernel", "language"),
    [("R", "r"), ("julia", "julia"), ("C++17", "cpp"), ("javascript", "javascript"), ("x", "text")],
)
def test_the_kernel_gives_the_language(kernel: str, language: str) -> None:
    assert read(as_jupyter(notebook(cell("code", "x"), language=kernel))).cells[0].language == language


@pytest.mark.parametrize(
    "data",
    [as_jupyter(BOOK)[:900], as_jupyter(BOOK)[:-3], b"", b"[]", b'{"cells": {}}', b'{"cells": []]', b'{"cells": ["',
     b"[" * 5000 + b"]" * 5000, b'{"worksheets": [[{"cells": []}]]}'],
    ids=range(9),
)  # fmt: skip
def test_a_damaged_notebook_stays_json(data: bytes) -> None:
    assert read_notebook(data) is None
    assert text_of(data, "notebook") == data


def test_odd_strings_are_taken_as_they_are() -> None:
    data = (
        b'{"cells": [\n{"cell_type": "code",\n "source": [\n'
        b'"bad \\x escape\\n",\n"a\\u0000b \\ud83d\\n",\n"\xff \\\\"]}]}'
    )
    assert read(data).text.split(b"\n")[3:] == [rb"bad \x escape\n", b"a b ?", "\ufffd \\".encode()]


def test_large_outputs_and_pictures_do_not_count_for_the_size() -> None:
    data = as_jupyter(notebook(*BOOK["cells"], cell("markdown", f"![x](data:image/png;base64,{PICTURE}) text")))
    reduced = without_outputs(data)
    assert reduced is not None
    assert len(reduced) < len(data) - 2 * len(PICTURE)
    assert read(reduced) == read(data)
    assert read(data).text.rstrip(b"\n\0").endswith(b"![x](data:image/png;base64,) text")
    assert fit_blob(data, "notebook", len(reduced)) == reduced
    assert fit_blob(data, "notebook", len(reduced) - 1) is None
    assert fit_blob(data, "json", len(reduced)) is None
