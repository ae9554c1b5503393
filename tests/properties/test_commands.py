"""Commands without a network, and commands with settings that are not allowed."""

import os
import re
import socket
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.errors import ExitCode
from gitmem.settings import SETTINGS, Setting
from tests.gitrepo import Repo
from tests.properties.test_server import state_of
from tests.sample import Cli, Outcome

many = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
words = st.lists(st.sampled_from(["sign", "cookie", "route", "deploy", "key"]), min_size=1, max_size=3).map(" ".join)
commands = st.one_of(
    st.tuples(st.just("query"), words, st.just("--limit"), st.integers(1, 9).map(str)),
    st.tuples(st.just("query"), words, st.just("--kind"), st.sampled_from(["code", "documents", "all"])),
    st.tuples(st.just("query"), words, st.just("--mode"), st.sampled_from(["hybrid", "semantic", "lexical"])),
    st.tuples(st.just("related"), st.sampled_from(["src/cookies.py:7", "src/routing.ts:2"])),
    st.just(("index",)),
    st.just(("status",)),
    st.just(("memory", "list")),
    st.just(("doc", "list")),
)


def refuse(*_: Any, **__: Any) -> None:
    """Stand in for whatever opens a connection or looks up a name."""
    raise AssertionError("a socket was opened")


def without_times(outcome: Outcome) -> Outcome:
    """Return an outcome without the time that the command took."""
    out, err = (re.sub(r"[\d.]+ m?s\b", "", text) for text in (outcome.out, outcome.err))
    return replace(outcome, out=out, err=err)


@many
@given(command=commands)
def test_commands_do_the_same_without_a_network(cli: Cli, own: Repo, command: tuple[str, ...]) -> None:
    """Property 53: No network."""
    expected = without_times(cli(*command, cwd=own.path))
    with pytest.MonkeyPatch.context() as patch:
        for name in ("socket", "create_connection", "getaddrinfo", "socketpair"):
            patch.setattr(socket, name, refuse)
        with pytest.raises(AssertionError):
            socket.create_connection(("127.0.0.1", 9))
        assert without_times(cli(*command, cwd=own.path)) == expected
    assert expected.code in (ExitCode.OK, ExitCode.NO_RESULTS), expected


@st.composite
def wrong_settings(draw: st.DrawFn) -> tuple[Setting, str]:
    """Return a setting and a value that it does not allow."""
    setting = draw(st.sampled_from([setting for setting in SETTINGS if not (setting.is_list or setting.is_text)]))
    no_number = st.sampled_from(["", "x", "1.5", "0x10", "-1", "1e3", "²", "1 2"])
    if setting.choices:
        return setting, draw(st.sampled_from(["", "RRF", "7", "zscore,rrf"]))
    below = st.integers(0, setting.minimum - 1) if setting.minimum else st.nothing()
    above = st.integers(setting.maximum + 1, 10**12) if setting.maximum < 10**12 else st.nothing()
    return setting, draw(st.one_of(no_number, below.map(str), above.map(str)))


@many
@given(wrong=wrong_settings(), command=st.sampled_from([("index",), ("query", "cookie"), ("status",), ("init",)]))
def test_an_invalid_setting_is_refused_by_name_and_range_before_anything_is_written(
    cli: Cli, own: Repo, monkeypatch: pytest.MonkeyPatch, wrong: tuple[Setting, str], command: tuple[str, ...]
) -> None:
    """Property 23: Validation."""
    setting, value = wrong
    before = state_of(own)
    with monkeypatch.context() as patch:
        patch.setenv(setting.variable, value)
        outcome: Outcome = cli(*command, cwd=own.path)
    assert outcome.code == ExitCode.USAGE, outcome
    assert outcome.out == ""
    told = outcome.err.splitlines()[0]
    assert setting.variable in told
    assert repr(value)[1:-1] in told or value in told
    assert all(str(bound) in told for bound in setting.choices or (setting.minimum, setting.maximum))
    assert state_of(own) == before
    assert setting.variable not in os.environ
