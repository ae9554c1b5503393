"""Comments in the values of macros do not end them."""

import re

import pytest

from gitmem.chunking.macro_comments import without_macro_comments
from gitmem.chunking.parse import parse_tree
from tests.chunking.names_in_file import names_of

TREE = """#define ROTATE(head, elm) do { \\
\t/* We don't
\t * rotate. */ \\
\tfix(head); \\
} while (/* CONSTCOND */ 0)

int after(int a) { return a; }
"""
MACRO = """#define ROTATE(head, elm) do { \\
\t/* We don't \\
\t * rotate. */ \\
\tfix(head); \\
} while (/* CONSTCOND */ 0)
#define PERM (7 /* o+rwx */)

int after(int a) { return a; }
"""


@pytest.mark.parametrize("feed", ["\n", "\r\n"])
def test_a_value_goes_on_behind_a_comment(feed: str) -> None:
    text = MACRO.replace("\n", feed)
    assert not parse_tree(text.encode(), "c", 10).root_node.has_error
    assert names_of(text, "c", "function") == ["ROTATE", "after"]
    assert names_of(text, "c", "call") == ["fix"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#define A 1 /* one */ + 2\n", "#define A 1 + 2"),
        ("#define A /* a */ \\\n  1\n", "#define A \\ 1"),
        # A comment behind the value belongs to the macro, and one with lines of its own ends it.
        ("#define A 1 /* one */\nint b; /* b */ int c;\n", "#define A 1 /* one */ int b; /* b */ int c;"),
        ("#define A 1 /* one */ \\\n\n", "#define A 1 /* one */ \\"),
        ("#define A 1 /* one\n two */\nint b;\n", "#define A 1 /* one two */ int b;"),
        (
            "int a; /* a */ int b;\n#define A(x) x/2 // y /* z */\n",
            "int a; /* a */ int b; #define A(x) x/2 // y /* z */",
        ),
    ],
)
def test_only_comments_with_a_value_behind_them_are_blanked(text: str, expected: str) -> None:
    data = text.encode()
    result = without_macro_comments(data, data, "c")
    assert " ".join(result.decode().split()) == expected
    assert re.sub(rb"[^\n\r]", b"", result) == re.sub(rb"[^\n\r]", b"", data)
    assert len(result) == len(data)
    assert without_macro_comments(data, data, "go") == data


def test_a_comment_with_lines_of_its_own_stays() -> None:
    data = TREE.encode()
    assert b"rotate. */" in without_macro_comments(data, data, "c")
