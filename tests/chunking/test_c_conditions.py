"""Conditions of C and C++ in the middle of declarations, statements and lists, which the parser does not know."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.chunking.c_conditions import find_tested_macros, without_inner_conditions
from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.parse import parse_tree
from tests.chunking.names_in_file import names_of

HEADER = """#ifndef SHOP_H
#define SHOP_H
#ifdef __cplusplus
extern "C" {
#endif
struct shop {
  int open;
};
int shop_total(struct shop *shop);
#ifdef __cplusplus
}
#endif
#endif
"""
SOURCE = """static int limits[] =
#if SMALL
  {1, 2};
#elif LARGE /* Not
   SMALL */
  {3, 4};
#endif

int total(int kind) {
#ifdef WITH_TAX
  if (kind) {
#else
  if (!kind) {
#endif
    add(kind,
#if !defined(NDEBUG)
        trace(),
#endif
        1);
  }
  switch (kind) {
#ifdef EXTRA
  case 1:
#endif
  default:
    stop();
  }
#ifdef WITH_GOTO
again:
#endif
  return 0;
}

int after(void) { return total(1); }
"""


def blanked(text: str, language: str = "c") -> str:
    """Return text as a parser gets it, without the lines that are blank."""
    data = text.encode()
    result = without_inner_conditions(data, data, language).decode()
    assert len(result) == len(text)
    return "\n".join(line for line in result.split("\n") if line.strip())


def test_a_header_for_both_languages_has_its_names() -> None:
    assert not parse_tree(HEADER.encode(), "c", 10).root_node.has_error
    assert names_of(HEADER, "c", "class", "function") == ["shop"]
    assert "shop_total" in names_of(HEADER, "c", "name")
    assert names_of(HEADER, "c", "name").count("__cplusplus") == 2


def test_code_behind_conditions_in_statements_has_its_units() -> None:
    assert not parse_tree(SOURCE.encode(), "c", 10).root_node.has_error
    assert names_of(SOURCE, "c", "function") == ["total", "after"]
    assert names_of(SOURCE, "c", "call") == ["add", "trace", "stop", "total"]
    chunks = chunk_blob(SOURCE.encode(), "c").chunks
    assert [(chunk.symbol, chunk.start_line) for chunk in chunks if chunk.chunk_type == "function"] == [
        ("total", 9), ("after", 34),
    ]  # fmt: skip


def test_macros_of_blanked_directives_are_mentioned() -> None:
    macros = [name for _, name in find_tested_macros(SOURCE.encode())]
    assert macros == [b"SMALL", b"LARGE", b"WITH_TAX", b"NDEBUG", b"EXTRA", b"WITH_GOTO"]
    assert names_of(SOURCE, "c", "name") == ["SMALL", "LARGE", "WITH_TAX", "NDEBUG", "EXTRA", "WITH_GOTO"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if (a) {\n#if 0\n} else {\n#else\n} else if (b) {\n#endif\n}\n", "if (a) {\n} else if (b) {\n}"),
        ("#if 0\nif (a) {\n#else\nif (b) {\n#endif\n}\n", "if (b) {\n}"),
        ("int a[] = {\n#if X\n  1,\n#else\n  2,\n#endif\n};\n", "int a[] = {\n  1,\n  2,\n};"),
        ("f(a,\n#if X\n  b);\n#else\n  c);\n#endif\n", "f(a,\n  b);"),
        ("#if X\n  if (a)\n#else\n  if (b)\n#endif\n  f();\n", "  if (a)\n  f();"),
        ("A::A() : a(1)\n#if X\n  , b(2)\n#endif\n{}\n", "A::A() : a(1)\n  , b(2)\n{}"),
        # An outer condition counts the branch of the inner one that remains.
        ("#if X\n#if Y\nif (a) {\n#else\nif (b) {\n#endif\n#endif\n}\n", "if (a) {\n}"),
        ("#define F(x) \\\r\n  {x\r\n#if X\nif (a) {\n#endif\n}\n", "#define F(x) \\\r\n  {x\r\nif (a) {\n}"),
    ],
)
def test_one_branch_or_all_entries_remain(text: str, expected: str) -> None:
    assert blanked(text, "cpp") == expected


@pytest.mark.parametrize(
    "text",
    [
        "#if X\nint a;\n#else\nint b;\n#endif\n",
        "struct a {\n#if X\n  int b;\n#else\n  int c;\n#endif\n};\n",
        "#define A {\n#if X\n#define B }\n#else\n#define B if (x)\n#endif\n",
        '#if X\nputs("{"); // {\n#else\nputs("}");\n#endif\n',
        "/* a\n   b */\n#if X\nint a;\n#else\nint b;\n#endif\n",
        "#if A\nint a;\n#else /* !(A ||\n  B) */\nint b;\n#endif /* A ||\n  (B */\n",
        "#if defined(X)\nint a(void) {\n#if Y\n  int b;\n#endif\n}\n#else\nint a(void) {}\n#endif\n",
        "#define A(x) \\\n  x\n#if X\nint a;\n#else\nint b;\n#endif\n",
        "Q_OBJECT\n#if X\nint a;\n#else\nint b;\n#endif\n",
        "case 1:\n#if X\n  f();\n#else\n  g();\n#endif\n",
        # Directives that do not match each other say nothing.
        "#if X\nif (a) {\n",
        "#endif\n#if X\nif (a) {\n#endif\n",
        "#else\n",
    ],
)
def test_conditions_around_whole_parts_stay(text: str) -> None:
    assert blanked(text) == text.rstrip("\n")
    assert without_inner_conditions(text.encode(), text.encode(), "python") == text.encode()


def test_a_directive_in_a_comment_has_no_other_half() -> None:
    text = "/* Use\n#if X\nfor this. */\nf(a,\n#if Y\n  b,\n#endif\n  c);\n"
    assert blanked(text) == "/* Use\n#if X\nfor this. */\nf(a,\n  b,\n  c);"


@given(
    st.lists(
        st.sampled_from(
            [b"#if A", b"#if 0", b"  #else", b"#elif B", b"#endif", b"#define X \\", b"x, // y", b"f();", b"{", b"}",
             b"(", b"/* {", b"*/", b'"{"', b"case 1:", b"X_Y", b"", b"\r"]
        ),
        max_size=30,
    )
)  # fmt: skip
def test_lines_and_length_stay(lines: list[bytes]) -> None:
    text = b"\n".join(lines)
    result = without_inner_conditions(text, text, "c")
    assert re.sub(rb"[^\n]", b"", result) == re.sub(rb"[^\n]", b"", text)
    assert len(result) == len(text)
    assert all(new in (old, 32) for old, new in zip(text, result, strict=True))
