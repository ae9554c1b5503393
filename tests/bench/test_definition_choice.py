"""Documentation is removed from the definition that it describes, and the place of that is known afterwards."""

import pytest

from tests.bench.definition_choice import Shown, Target, choose
from tests.bench.undocumented import Documented, first_sentence, remove_documentation

PYTHON = '''"""Module."""
class Ring:
    """Ring of keys that rotate once a day."""

    def rotate(self):
        """Replace the oldest key by a new one. More."""
        self.keys.pop()

    def empty(self):
        """Return whether the ring has no key."""
'''
GO = """// Rotate replaces the oldest key by a new one.
// It may fail.
func (r *Ring) Rotate() error {
	// Nothing to describe here at all, really.
	return nil
}
"""
RUST = """/// Replaces the oldest key by a new one.
#[inline]
pub fn rotate(&mut self) {}
"""
KOTLIN = """/**
 * Replaces the oldest key by a new one.
 * @param key the new one
 */
private fun rotate(key: Key) {}
"""


def described(path: str, text: str) -> list[tuple[str, str, str]]:
    rest, found = remove_documentation(path, text)
    assert all(each.sentence not in rest for each in found)
    return [(each.name, rest.split("\n")[each.line - 1].strip(), each.sentence) for each in found]


def test_docstrings_are_removed_and_belong_to_their_definitions() -> None:
    assert described("a.py", PYTHON) == [
        ("Ring", "class Ring:", "of keys that rotate once a day."),
        ("rotate", "def rotate(self):", "Replace the oldest key by a new one."),
        ("empty", "def empty(self):", "Return whether the ring has no key."),
    ]
    assert remove_documentation("a.py", PYTHON)[0].rstrip().endswith("...")


@pytest.mark.parametrize(
    ("path", "text", "line", "sentence"),
    [
        ("a.go", GO, "func (r *Ring) Rotate() error {", "replaces the oldest key by a new one."),
        ("a.rs", RUST, "pub fn rotate(&mut self) {}", "Replaces the oldest key by a new one."),
        ("a.kt", KOTLIN, "private fun rotate(key: Key) {}", "Replaces the oldest key by a new one."),
    ],
)
def test_comments_above_definitions_are_removed(path: str, text: str, line: str, sentence: str) -> None:
    [(name, *found)] = described(path, text)
    assert name.lower() == "rotate"
    assert found == [line, sentence]


def test_short_sentences_and_links_are_not_used() -> None:
    assert first_sentence("Rotates the keys.", "rotate") is None
    assert first_sentence("See http://example.org for all of the details.", "rotate") is None


def test_only_sentences_that_describe_one_definition_are_asked() -> None:
    once, twice = "Replace the oldest key by a new one.", "Return whether it is empty."
    targets = [Target(path, Documented("f", 1, text)) for path, text in (("a", once), ("b", twice), ("c", twice))]
    assert [target.path for target in choose(targets, 5)] == ["a"]


def test_a_result_is_the_definition_if_it_has_its_line_and_name() -> None:
    target = Target("a.py", Documented("rotate", 5, ""))
    assert Shown("a.py", range(4, 9), frozenset({"Ring", "rotate"})).is_of(target)
    assert not Shown("a.py", range(1, 20), frozenset({"Ring"})).is_of(target)
    assert not Shown("a.py", range(6, 9), frozenset({"rotate"})).is_of(target)
