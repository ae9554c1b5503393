"""Words before the name of a definition that make it private, each in its languages."""

import pytest

from gitmem.chunking.privacy import privacy_of


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("java", "  private static int sum(", True),
        ("java", "  public int sum(", False),
        ("java", "class A { private int x; int sum(", False),
        ("swift", "fileprivate func sum(", True),
        ("scala", "private[shop] def sum(", False),
        ("c", "static int\nsum(", True),
        ("c", "static int x;\nint sum(", False),
        ("rust", "fn sum(", True),
        ("rust", "pub(crate) fn sum(", False),
        ("rust", "macro_rules! sum(", False),
        # Of a line of minified code, only the end is read: it may have thousands of definitions.
        ("java", "private " + "@A " * 100 + "int sum(", False),
    ],
)
def test_a_definition_is_private_by_its_words(language: str, text: str, expected: bool) -> None:
    is_private = privacy_of(language)
    assert is_private is not None
    assert is_private(text.encode(), text.index("sum(")) is expected


def test_other_languages_have_no_such_words() -> None:
    assert privacy_of("python") is None
