"""Several writers at once: one at a time in each repository, and no repository waits for another."""

import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.indexing.stop_request import StopRequest
from gitmem.indexing.worker_protocol import Batch
from tests.gitrepo import Repo
from tests.indexes import InlinePool
from tests.properties.test_runs import drop_index, index_from_scratch, read_content
from tests.properties.trees import Writer, regular

PATIENCE = 300.0
"""Seconds after which a writer that waits for another repository counts as stuck."""

many = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


class Observed(InlinePool):
    """Pool that knows how many runs are inside, and lets runs meet."""

    inside = 0
    most = 0
    meeting: threading.Barrier | None = None

    def run(self, batches: Iterable[Batch], stop: StopRequest | None = None) -> Iterator[Any]:
        kind = type(self)
        kind.inside += 1
        kind.most = max(kind.most, kind.inside)
        if kind.meeting is not None:
            kind.meeting.wait()
        yield from super().run(batches, stop)
        kind.inside -= 1


@pytest.fixture
def observed(monkeypatch: pytest.MonkeyPatch, fake_model: type[InlinePool]) -> type[Observed]:
    """Observe the pools of all runs."""

    class Fresh(Observed):
        pass

    monkeypatch.setattr("gitmem.indexing.run.Pool", Fresh)
    return Fresh


@pytest.fixture
def writers(tmp_path: Path) -> list[Writer]:
    """Make two repositories, which all examples share."""
    return [Writer.create(Repo.init(tmp_path / name)) for name in ("one", "other")]


numbers = count()


@many
@given(runs=st.integers(2, 6), files=st.integers(1, 4))
def test_writers_of_one_repository_are_never_inside_together(
    writers: list[Writer], observed: type[Observed], runs: int, files: int
) -> None:
    """Property 48: Locking."""
    observed.most = observed.digested = 0
    observed.meeting = None
    writer = writers[0]
    drop_index(writer)
    writer.commit({f"file{number}.py": regular(f"def part_{number}():\n    pass\n") for number in range(files)})
    with ThreadPoolExecutor(max_workers=runs) as threads:
        reports = list(threads.map(lambda _: writer.index(), range(runs)))
    assert observed.most == 1
    assert observed.digested == sum(report.embedded for report in reports) == files
    content = read_content(writer)
    assert content == index_from_scratch(writer)


@many
@given(files=st.integers(1, 4))
def test_writers_of_two_repositories_work_at_the_same_time(
    writers: list[Writer], observed: type[Observed], files: int
) -> None:
    """Property 48: Locking."""
    observed.most = 0
    observed.meeting = threading.Barrier(2, timeout=PATIENCE)
    mark = next(numbers)
    for writer in writers:
        names = range(files)
        writer.commit({f"file{name}.py": regular(f"def part_{mark}_{name}():\n    pass\n") for name in names})
    with ThreadPoolExecutor(max_workers=2) as threads:
        reports = list(threads.map(lambda writer: writer.index(), writers))
    assert [report.embedded for report in reports] == [files, files]
    assert observed.most == 2
