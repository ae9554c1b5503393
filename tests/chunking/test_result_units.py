"""Every definition is a result of its own, whichever of them share a chunk."""

from collections import Counter
from typing import Final, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.chunking.chunk import chunk_blob
from gitmem.types import Chunk, ResultUnit
from tests.chunking.coverage_check import assert_sound


class Member(NamedTuple):
    """A kind of member of a class: its chunk type, its name and its text with a number and a comment."""

    chunk_type: str
    name: str
    text: str


class Syntax(NamedTuple):
    """Parts of a source file with one class."""

    head: str
    members: tuple[Member, ...]
    tail: str = "}\n"


PYTHON_METHOD: Final = "    def m{0}(self):\n        # {1}\n        return {0}\n\n"
SCRIPT_METHOD: Final = "  m{0}(a) {{\n    // {1}\n    return a + {0};\n  }}\n\n"
JAVA_METHOD: Final = "  public int m{0}(int a) {{\n    // {1}\n    return a;\n  }}\n\n"
CSHARP_METHOD: Final = "  public int M{0}(int a)\n  {{\n    // {1}\n    return a;\n  }}\n\n"

SYNTAXES: Final = {
    "python": Syntax("class Box:\n", (Member("method", "m{0}", PYTHON_METHOD),), tail=""),
    "javascript": Syntax("class Box {\n", (Member("method", "m{0}", SCRIPT_METHOD),)),
    "typescript": Syntax("export class Box {\n", (Member("method", "m{0}", SCRIPT_METHOD),)),
    "java": Syntax(
        "public class Box {\n",
        (Member("method", "m{0}", JAVA_METHOD), Member("field", "f{0}", "  private int f{0} = {0};\n")),
    ),
    "csharp": Syntax(
        "public class Box\n{\n",
        (Member("method", "M{0}", CSHARP_METHOD), Member("property", "P{0}", "  public int P{0} {{ get; set; }}\n")),
    ),
}
"""The five languages of the table of node types, with the members that the table lists."""


def units_of(text: str, language: str) -> list[ResultUnit | Chunk]:
    data = text.encode()
    blob = chunk_blob(data, language)
    assert_sound(data, blob)
    return [unit for chunk in blob.chunks for unit in chunk.units or (chunk,)]


@settings(max_examples=120, deadline=None)
@given(
    st.sampled_from(sorted(SYNTAXES)),
    st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0, 5, 40, 200])), min_size=1, max_size=25),
)
def test_a_class_with_n_methods_gives_one_class_and_n_methods(language: str, drawn: list[tuple[int, int]]) -> None:
    """Property 12: Nesting."""
    syntax = SYNTAXES[language]
    kinds = [syntax.members[choice % len(syntax.members)] for choice, _ in drawn]
    texts = [kind.text.format(number, "pad " * drawn[number][1]) for number, kind in enumerate(kinds)]
    units = units_of(syntax.head + "".join(texts) + syntax.tail, language)
    expected = [(kind.chunk_type, f"Box.{kind.name.format(number)}") for number, kind in enumerate(kinds)]
    assert [unit.symbol for unit in units if unit.chunk_type == "class"] == ["Box"]
    assert Counter((unit.chunk_type, unit.symbol) for unit in units if unit.chunk_type != "class") == Counter(expected)
    # Each spans its own lines and no others.
    first = 1 + syntax.head.count("\n")
    spans = {unit.symbol: (unit.start_line, unit.end_line) for unit in units}
    for text, (_, symbol) in zip(texts, expected, strict=True):
        assert spans[symbol] == (first, first + len(text.rstrip().split("\n")) - 1)
        first += text.count("\n")


@pytest.mark.parametrize("count", [3, 60])
def test_members_without_a_body_are_results(count: int) -> None:
    body = "".join(f"    /** Returns value {number}. */\n    int value{number}(int a);\n" for number in range(count))
    units = units_of(f"public interface Shape {{\n{body}}}\n", "java")
    methods = [unit.symbol for unit in units if unit.chunk_type == "method"]
    assert methods == [f"Shape.value{number}" for number in range(count)]
    assert [unit.symbol for unit in units if unit.chunk_type == "interface"][:1] == ["Shape"]


def test_constants_that_share_a_chunk_are_results_next_to_the_text_around_them() -> None:
    units = units_of("import a\nimport b\n\nX = 1\nY = 2\n", "python")
    assert [(unit.chunk_type, unit.symbol, unit.start_line, unit.end_line) for unit in units] == [
        ("module", "", 1, 5),
        ("constant", "X", 4, 4),
        ("constant", "Y", 5, 5),
    ]


def test_no_name_is_lost_however_many_share_a_chunk() -> None:
    names = [f"SOME_RATHER_LONG_NAME_OF_A_CONSTANT_{number}" for number in range(25)]
    text = "".join(f"const {name}: u8 = 1;\n" for name in names)
    assert [unit.symbol for unit in units_of(text, "rust")] == names


def test_keys_of_data_share_the_result_of_their_chunk() -> None:
    text = "{" + ", ".join(f'"key_{number}": {number}\n' for number in range(100)) + "}"
    assert not any(chunk.units for chunk in chunk_blob(text.encode(), "json").chunks)
