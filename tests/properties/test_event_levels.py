"""Events of any operation: which of them the log has, and that each failure is in it with its place."""

import json
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.errors import Busy, DamagedFile, GitFailed, GitmemError, NoIndex, StorageFailed, UsageError
from gitmem.events import LOG, distrust_index, hide, measured, select_level, trust_index
from gitmem.paths import IndexPaths
from gitmem.settings import LOG_LEVELS, LOG_OFF

many = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
names = st.tuples(st.sampled_from(["cli", "index", "search", "mcp"]), st.from_regex(r"[a-z]{1,8}", fullmatch=True))
errors = st.sampled_from([None, Busy, DamagedFile, GitFailed, NoIndex, StorageFailed, UsageError])
operations = st.lists(st.tuples(names, errors, st.text(max_size=20)), max_size=6)
Drawn = list[tuple[tuple[str, str], type[GitmemError] | None, str]]


def run_logged(level: str, drawn: Drawn, folder: Path, run: str = "r1") -> str:
    """Run operations with a level of the log, and return what they print; the same lines are in the file."""
    paths, printed = IndexPaths(folder), StringIO()
    (paths.logs / LOG).unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stderr", printed)
        trust_index(folder)
        select_level(level)
        try:
            for name, error, text in drawn:
                try:
                    with measured(".".join(name), paths) as operation:
                        operation.ids["run"] = run
                        operation.texts["query"] = text
                        if error is not None:
                            raise error("failed")
                except GitmemError:
                    pass
        finally:
            select_level(LOG_OFF)
            distrust_index(folder)
    stored = (paths.logs / LOG).read_text(encoding="utf-8") if (paths.logs / LOG).exists() else ""
    assert stored == printed.getvalue()
    return stored


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("index")
    IndexPaths(place).state.mkdir()
    return place


@many
@given(level=st.sampled_from(LOG_LEVELS), drawn=operations)
def test_the_log_has_the_events_of_its_level_and_above(folder: Path, level: str, drawn: Drawn) -> None:
    """Property 26: Log levels."""
    lines = [json.loads(line) for line in run_logged(level, drawn, folder).splitlines()]
    of_error = [name for name, error, _ in drawn if error is not None]
    expected = {LOG_OFF: [], "error": of_error}.get(level, [name for name, *_ in drawn])
    assert [(line["component"], line["operation"]) for line in lines] == expected
    assert {line["level"] for line in lines} <= set(LOG_LEVELS[LOG_LEVELS.index(level) :])
    # What people search for is in no log but that of the most talkative level.
    assert all(("query" in line) == (level == "debug") for line in lines)


@many
@given(level=st.sampled_from([level for level in LOG_LEVELS if level != LOG_OFF]), drawn=operations)
def test_each_failure_is_logged_with_its_place(folder: Path, level: str, drawn: Drawn) -> None:
    """Property 24: Error logs."""
    lines = [json.loads(line) for line in run_logged(level, drawn, folder).splitlines()]
    failures = [line for line in lines if line["level"] == "error"]
    assert [(line["component"], line["operation"], line["outcome"]) for line in failures] == [
        (*name, error.__name__) for name, error, _ in drawn if error is not None
    ]
    for line in failures:
        assert {"time", "pid", "duration_ms"} <= set(line)
        assert (line["run"], line["duration_ms"] >= 0) == ("r1", True)


@many
@given(
    level=st.sampled_from(LOG_LEVELS),
    drawn=operations,
    secret=st.from_regex(r"[A-Za-z0-9]{12,40}", fullmatch=True),
    around=st.text(max_size=5),
)
def test_no_configured_key_is_logged(folder: Path, level: str, drawn: Drawn, secret: str, around: str) -> None:
    """Property 24: Error logs."""
    hide(secret)
    text = f"{around} {secret} {around}"
    stored = run_logged(level, [(name, error, text) for name, error, _ in drawn], folder, run=text)
    assert secret not in stored
    assert len(stored.splitlines()) <= len(drawn)
