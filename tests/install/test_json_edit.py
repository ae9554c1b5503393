"""The parser of client files refuses what is not JSON, at any depth."""

import pytest

from gitmem.errors import UsageError
from gitmem.install.json_edit import add_member, find_value, parse_text, remove_member


@pytest.mark.parametrize(
    "text", ['{"a": 1 "b": 2}', "[1 2]", '{"a" 1}', "{1: 2}", "{", '{"a": }', "{} {}", '{"a": nul}', '"a\nb"', ""]
)
def test_malformed_json_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not valid JSON"):
        parse_text(text)


def test_deep_nesting_is_refused_before_it_exhausts_the_stack() -> None:
    assert parse_text("[" * 100 + "]" * 100).end == 200
    with pytest.raises(UsageError, match="nested too deeply"):
        parse_text("[" * 200 + "]" * 200)


def test_comments_and_trailing_commas_are_accepted_and_stay() -> None:
    text = '{\n  // first\n  "a": [1, 2,],\n}\n'
    added = add_member(text, ["b", "c"], True)
    assert find_value(added, ["b", "c"]) is True
    assert added.startswith('{\n  // first\n  "a": [1, 2,],\n')
    assert find_value(remove_member(added, ["b", "c"]), ["a"]) == [1, 2]
