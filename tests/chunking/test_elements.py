"""Elements of one blob: members of anonymous classes, which no chunk shows by itself."""

import pytest

from gitmem.chunking.elements import find_elements

JAVA = """class Menu {
    private final Runnable task = new Runnable() {
        public void run() { work(); }
    };

    void sort(List<String> names) {
        names.sort(new java.util.Comparator<String>() {
            /** By length. */
            public int compare(String a, String b) {
                return new Object() { int difference() { return a.length() - b.length(); } }.difference();
            }
        });
    }

    enum Size { SMALL { int width() { return 1; } }; abstract int width(); }
}
"""
KOTLIN = """fun sort(names: List<String>) {
    names.sortedWith(object : Comparator<String> {
        override fun compare(a: String, b: String): Int { return 1 }
    })
}
"""
PHP = """<?php
function sort($names) {
    return new class($names) extends Base implements Comparator {
        public function compare($a, $b) { return 1; }
    };
}
"""
SCALA = """object Menu {
  def sort(x: Int) = { new Ordering[Int] { def compare(a: Int, b: Int): Int = { 1 } } }
}
"""


@pytest.mark.parametrize(
    ("language", "text", "symbols"),
    [
        (
            "java",
            JAVA,
            [
                "Menu.task.new Runnable.run",
                "Menu.sort.new Comparator.compare",
                "Menu.sort.new Comparator.compare.new Object.difference",
                "Menu.Size.SMALL.new SMALL.width",
            ],
        ),
        ("kotlin", KOTLIN, ["sort.new Comparator.compare"]),
        ("php", PHP, ["sort.new Base.compare"]),
        ("scala", SCALA, ["Menu.sort.new Ordering.compare"]),
    ],
)
def test_members_of_anonymous_classes_are_elements(language: str, text: str, symbols: list[str]) -> None:
    elements = find_elements(text.encode(), language).elements
    assert [each.symbol for each in elements if "new " in each.symbol] == symbols
    assert [each.name for each in elements if "new " in each.symbol] == [name.split(".")[-1] for name in symbols]


def test_the_spans_of_such_members_include_their_comments() -> None:
    elements = find_elements(JAVA.encode(), "java").elements
    (compare,) = (each for each in elements if each.symbol == "Menu.sort.new Comparator.compare")
    assert (compare.first_line, compare.last_line) == (8, 11)
    assert JAVA[compare.code :].lstrip().startswith("public int compare")
    assert elements == sorted(elements, key=lambda each: (each.start, -each.end))
