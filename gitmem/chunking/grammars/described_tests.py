"""Tests that a call describes: `it("signs cookies", () => {...})`. Their names are sentences."""

import re
from collections.abc import Set as AbstractSet
from typing import Final

from gitmem.chunking.grammar import CONTAINER, LEAF, Match, Node

_GROUPS: Final = frozenset("describe fdescribe xdescribe suite context feature shared_examples".split())
_CASES: Final = frozenset("it fit xit test specify scenario bench test_that".split())
_QUNIT: Final = frozenset(("QUnit", "module"))

_NO_NAME: Final = re.compile(r"\$?\{.*?\}+|#\{.*?\}|, | > |[\"`\\\x00-\x1f]")
"""Interpolations, and characters that would end a name or a symbol."""

_LONGEST_NAME: Final = 60


def match_test(words: AbstractSet[str], text: str, body: Node) -> Match | None:
    """Match a call by the words before its arguments (`{"test", "each"}`), its description, and its function or block.

    A group qualifies the tests in it.
    """
    name = spoken_name(text)
    if not name:
        return None
    if not _GROUPS.isdisjoint(words) or words >= _QUNIT:
        return Match(CONTAINER, "namespace", name, body)
    return Match(LEAF, "function", name, body) if not _CASES.isdisjoint(words) else None


def spoken_name(text: str) -> str:
    """Return a text in words as a part of a symbol."""
    name = " ".join(_NO_NAME.sub(" ", text).split())
    if len(name) > _LONGEST_NAME:
        name = name[: _LONGEST_NAME + 1].rpartition(" ")[0] or name[:_LONGEST_NAME]
    return name.strip(" .")
