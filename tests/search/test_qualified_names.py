"""Names in the symbols of chunks."""

import pytest

from gitmem.search.qualified_names import defines_own_name, qualified_names, telling_name
from gitmem.types import CHUNK_TYPES


@pytest.mark.parametrize(
    ("symbol", "chunk_type", "expected"),
    [
        ("Ring.push", "method", True),
        ("Ring.Ring", "method", False),
        ("Ring.~Ring", "method", False),
        ("push", "method", True),
        ("Ring", "class", True),
        ("Ring", "impl", False),
    ],
)
def test_constructors_destructors_and_extensions_have_the_name_of_another(
    symbol: str, chunk_type: str, expected: bool
) -> None:
    assert defines_own_name(qualified_names(symbol)[0], CHUNK_TYPES.index(chunk_type)) is expected


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("aws_vpc.main", "aws_vpc.main"),
        ("data.aws_region.this, other", "aws_region.this"),
        ("App.main", "main"),
        ("main", "main"),
        ("my_app.start", "start"),
        ("Ring.~Ring", ""),
        ("", ""),
    ],
)
def test_a_resource_is_told_by_its_type_too_and_a_destructor_by_nothing(symbol: str, name: str) -> None:
    assert telling_name(symbol) == name
