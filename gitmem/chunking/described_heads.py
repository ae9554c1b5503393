"""Turn the head of a test with a description into that of a function: `TEST_CASE("adds prices") {`, `@test "adds" {`.

To a parser such a head is a call, and the body a block of its own. It gets as many bytes instead, with the name of a
function where the description is: whoever reads that name from the source reads the description.
"""

import re
from collections.abc import Iterator
from typing import Final

from gitmem.chunking.grammar import Node
from gitmem.named_tuple import NamedTuple


class _Heads(NamedTuple):
    """Pattern of the heads in a language, and the word before a function there.

    Its groups are the text before the bytes that become the name, these, and the text behind them.
    """

    pattern: re.Pattern[bytes]
    word: bytes


_IN_C: Final = _Heads(
    re.compile(
        rb"^(?P<head>[A-Z][A-Z0-9_]{4,}\((?:(?P<fixture>\w+),\s*)?\")(?P<text>(?:[^\"\\\n]|\\.)+)"
        rb"(?P<tail>\"[^{};]{0,400}?\))(?=\s*\{)",
        re.MULTILINE,
    ),
    b"void",
)
_IN_BATS: Final = _Heads(
    re.compile(
        rb"^(?P<head>[ \t]*)(?P<text>@test[ \t]+(?P<quote>[\"'])(?:(?!(?P=quote))[^\\\n]|\\.)+)"
        rb"(?P<tail>(?P=quote)[ \t]+)(?=\{)",
        re.MULTILINE,
    ),
    b"",
)
_HEADS: Final = {**dict.fromkeys(("c", "cpp", "objc", "cuda", "arduino"), _IN_C), "bash": _IN_BATS}

_DESCRIPTION: Final = re.compile(rb"[\"'](?P<c>.+)|.?@test[ \t]+[\"'](?P<bats>.+)", re.DOTALL)
"""A name with the byte before it, as the source has them."""

_TEXT: Final = re.compile(rb"[^\n]")


def with_test_functions(data: bytes, grammar: str) -> bytes:
    """Return source of the same length in which tests with a description are functions."""
    heads = _HEADS.get(grammar)
    if heads is None:
        return data
    text = bytearray()
    last = 0
    for test in heads.pattern.finditer(data):
        before, behind = _blank(test["head"][len(heads.word) :]), _blank(test["tail"][:-2])
        text += data[last : test.start()] + heads.word + before + b"x" * len(test["text"]) + behind + b"()"
        last = test.end()
    return bytes(text) + data[last:] if last else data


def read_description(name: Node, data: bytes) -> str:
    """Return the description in place of the name of a function, "" if it is a name."""
    match = _DESCRIPTION.fullmatch(data[max(0, name.start_byte - 1) : name.end_byte])
    return (match["c"] or match["bats"]).decode("utf-8", "replace") if match is not None else ""


def find_descriptions(data: bytes, language: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the descriptions in the heads of tests: to the parser they are names."""
    heads = _HEADS.get(language)
    return (test.span("text") for test in heads.pattern.finditer(data)) if heads is not None else iter(())


def find_fixtures(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the classes that tests of C++ name before their description: where each begins, and its name."""
    for test in _IN_C.pattern.finditer(data):
        if test["fixture"]:
            yield test.start("fixture"), test["fixture"]


def _blank(text: bytes) -> bytes:
    return _TEXT.sub(b" ", text)
