"""Arguments of calls: two conversions are made, everything else is as the schema says or refused."""

from typing import Any

import pytest

from gitmem.errors import UsageError
from gitmem.mcp.tools.arguments import check_arguments
from gitmem.mcp.tools.descriptions import CONVERSATION_APPEND, DOCUMENT_INGEST, GET, MEMORY_STORE, SEARCH, Tool

NOTE = {"content": "a"}
REQUIRED = {"search": {"query": "x"}, "memory_store": NOTE, "document_ingest": NOTE}
TURN = {"conversation": "c", "role": "user", "content": "a"}


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        (SEARCH, {"query": "x", "path": "*.py"}, {"path": ("*.py",)}),
        (SEARCH, {"query": "x", "path": ["*.py", "*.c"]}, {"path": ("*.py", "*.c")}),
        (SEARCH, {"query": "x", "path": ""}, {"path": ("",)}),
        (SEARCH, {"query": "x", "filters": {"type": "email"}}, {"filters": {"type": ("email",)}}),
        (SEARCH, {"query": "x", "limit": "7"}, {"limit": 7}),
        (SEARCH, {"query": "7"}, {"query": "7"}),
        (GET, {"ids": "5"}, {"ids": ("5",)}),
        (MEMORY_STORE, {**NOTE, "confidence": "1"}, {"confidence": 1}),
        (MEMORY_STORE, {**NOTE, "confidence": "0.5"}, {"confidence": 0.5}),
        (CONVERSATION_APPEND, {**TURN, "turn": "0"}, {"turn": 0}),
    ],
)
def test_one_string_is_a_list_and_digits_are_a_number(
    tool: Tool, given: dict[str, Any], expected: dict[str, Any]
) -> None:
    checked = check_arguments(tool.schema, given)
    for name, value in expected.items():
        part = {key: checked[name][key] for key in value} if isinstance(value, dict) else checked[name]
        assert part == value
        assert type(part) is type(value)


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        (SEARCH, {"limit": "0"}, "`limit` must be an integer of 1 to 50, got 0"),
        (SEARCH, {"limit": "9" * 15}, "`limit` must be an integer of 1 to 50"),
        (SEARCH, {"limit": "9" * 5000}, "got a string of 5,000 characters"),
        (SEARCH, {"limit": " 7"}, "got ' 7'"),
        (SEARCH, {"limit": "7.0"}, "got '7.0'"),
        (SEARCH, {"limit": "+7"}, "got '+7'"),
        (SEARCH, {"limit": "-7"}, "got '-7'"),
        (SEARCH, {"limit": "\u0667"}, "got '\\u0667'"),
        (SEARCH, {"limit": ["7"]}, "got ['7']"),
        (SEARCH, {"limit": ""}, "got ''"),
        (SEARCH, {"query": 7}, "got 7"),
        (SEARCH, {"query": ["x"]}, "got ['x']"),
        (SEARCH, {"neighbors": "true"}, "`neighbors` must be true or false"),
        (SEARCH, {"neighbors": 1}, "`neighbors` must be true or false"),
        (SEARCH, {"path": 7}, "`path` must be a list of strings, got 7"),
        (SEARCH, {"path": [7]}, "`path` must be a list of strings, got [7]"),
        (SEARCH, {"path": "a\0b"}, "`path` must be a list of strings"),
        (SEARCH, {"filters": "type=email"}, "`filters` must be an object"),
        (SEARCH, {"filters": {"kind": "email"}}, "unknown argument `kind`"),
        (SEARCH, {"mode": ["hybrid"]}, "one of `hybrid`"),
        (GET, {"ids": []}, "`ids` must be a list of 1 to 50 strings, got []"),
        (GET, {"ids": ["x"] * 51}, "`ids` must be a list of 1 to 50 strings"),
        (MEMORY_STORE, {"confidence": "2"}, "`confidence` must be a number of 0 to 1, got 2"),
        (MEMORY_STORE, {"confidence": ".5"}, "got '.5'"),
        (MEMORY_STORE, {"confidence": "1e0"}, "got '1e0'"),
        (MEMORY_STORE, {"confidence": "nan"}, "got 'nan'"),
        (DOCUMENT_INGEST, {"metadata": {"a": 1}}, "an object of 0 to 50 strings by name"),
        (DOCUMENT_INGEST, {"metadata": '{"a": "b"}'}, "an object of 0 to 50 strings by name"),
    ],
)
def test_no_other_value_is_converted(tool: Tool, given: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError) as error:
        check_arguments(tool.schema, {**REQUIRED.get(tool.name, {}), **given})
    assert told in error.value.message


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"filters": {"folders": ["src"]}}, "`folders` is an argument of its own, not a part of `filters`"),
        ({"author": "ada"}, "`author` is a part of `filters`"),
    ],
)
def test_an_argument_on_the_wrong_level_is_named_with_its_own(given: dict[str, Any], expected: str) -> None:
    with pytest.raises(UsageError) as error:
        check_arguments(SEARCH.schema, {"query": "x", **given})
    assert error.value.hint == expected
