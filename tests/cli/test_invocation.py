"""Actions that a command leaves for its end."""

import pytest

from gitmem.cli.invocation import Invocation


def test_a_failed_action_does_not_keep_the_others_from_running() -> None:
    invocation, ran = Invocation("."), []

    def fail() -> None:
        ran.append("second")
        raise OSError("the disk is full")

    invocation.at_end(lambda: ran.append("first"))
    invocation.at_end(fail)
    invocation.at_end(lambda: ran.append("third"))
    with pytest.raises(OSError, match="the disk is full"):
        invocation.end()
    assert ran == ["third", "second", "first"]
