"""Tests that a call describes: `it("signs cookies", () => {...})`. Their names are sentences."""

from collections.abc import Sequence
from typing import Final

from gitmem.chunking.grammar import CONTAINER, LEAF, Match, Node
from gitmem.chunking.node_names import spoken_name

_GROUPS: Final = frozenset("describe fdescribe xdescribe suite context feature shared_examples".split())
_CASES: Final = frozenset("it fit xit test specify scenario bench test_that".split())
_MODIFIERS: Final = frozenset(
    "only skip todo each for fails failing concurrent sequential serial parallel fixme skipIf runIf".split()
)
_QUNIT: Final = ["module", "QUnit"]


def match_test(called: Sequence[str], text: str, body: Node) -> Match | None:
    """Match a call by the names of the function that it calls, its description, and its function or block.

    The names are in the reverse order: `("only", "test")` for `test.only`. A group qualifies the tests in it.
    """
    names = [name for name in called if name not in _MODIFIERS]
    description = spoken_name(text)
    if not names or not description:
        return None
    if names[0] in _GROUPS or names == _QUNIT:
        return Match(CONTAINER, "namespace", description, body)
    return Match(LEAF, "function", description, body) if names[0] in _CASES else None
