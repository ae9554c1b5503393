"""The token of the HTTP server: the user's own must be long enough, else one is made."""

import pytest

from gitmem.errors import UsageError
from gitmem.mcp.transport.http_auth import TOKEN_VARIABLE, read_token


def test_spaces_do_not_make_a_short_token_long_enough() -> None:
    assert read_token({TOKEN_VARIABLE: f" {'x' * 16}\n"}) == "x" * 16
    for token in ("x" * 15, "x" * 15 + "  ", " " * 20, ""):
        with pytest.raises(UsageError, match="is shorter than 16 characters"):
            read_token({TOKEN_VARIABLE: token})
    assert len(read_token({})) >= 32
    assert read_token({}) != read_token({})
