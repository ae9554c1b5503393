"""Patterns that are compiled at their first use."""

import copy
import pickle
import re

import pytest

from gitmem import lazy_pattern as module
from gitmem.lazy_pattern import lazy_pattern


def test_a_pattern_is_compiled_at_its_first_use_only(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []

    def compile_(source: str, flags: int) -> re.Pattern[str]:
        compiled.append(source)
        return re.compile(source, flags)

    monkeypatch.setattr(module, "re", type("re", (), {"compile": staticmethod(compile_), "Pattern": re.Pattern}))
    pattern = lazy_pattern(r"a(\d)", re.IGNORECASE)
    assert compiled == []
    assert pattern.findall("a1 A2") == ["1", "2"]
    assert pattern.sub("-", "xa1") == "x-"
    assert pattern.fullmatch("a1") is not None
    assert compiled == [r"a(\d)"]


def test_a_pattern_has_what_a_compiled_one_has() -> None:
    pattern = lazy_pattern(rb"(?P<word>\w+)")
    assert pattern.pattern == rb"(?P<word>\w+)"
    assert pattern.groupindex == {"word": 1}
    assert [match["word"] for match in pattern.finditer(b"a bc")] == [b"a", b"bc"]
    for other in (copy.copy(pattern), copy.deepcopy(pattern), pickle.loads(pickle.dumps(pattern))):
        assert other.findall(b"x y") == [b"x", b"y"]


def test_an_invalid_pattern_fails_at_its_first_use() -> None:
    pattern = lazy_pattern("(")
    with pytest.raises(re.error):
        pattern.search("")
