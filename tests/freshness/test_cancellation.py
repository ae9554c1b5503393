"""A run that is stopped says how to continue it; one that ends for another reason keeps its own message."""

from pathlib import Path

import pytest

from gitmem.errors import Cancelled
from gitmem.freshness.cancellation import (
    RunningRun,
    StoppableRun,
    read_run,
    request_stop,
    resume_command,
    stoppable,
    was_stopped,
)
from gitmem.indexing.run import Progress
from gitmem.paths import IndexPaths


@pytest.fixture
def paths(tmp_path: Path) -> IndexPaths:
    paths = IndexPaths(tmp_path)
    paths.state.mkdir()
    return paths


def test_a_stopped_run_names_its_progress_and_the_command_that_continues_it(paths: IndexPaths) -> None:
    resume = resume_command("a branch", full=True)
    assert resume == "gitmem index --rev 'a branch' --full"
    seen: list[RunningRun] = []

    def stop(stoppable_run: StoppableRun, run: RunningRun) -> None:
        assert run == (stoppable_run.stop.token, resume)
        seen.append(run)
        request_stop(paths, run)
        stoppable_run.report(Progress(225, 48))

    with pytest.raises(Cancelled) as stopped, stoppable(paths, resume=resume) as stoppable_run:
        stop(stoppable_run, find_run(paths))
    assert stopped.value.message == "stopped by `gitmem cancel` after 48 of 225 files"
    assert stopped.value.hint == f"completed work is kept; continue with: {resume}"
    assert was_stopped(paths, seen[0])
    assert read_run(paths) is None


def test_another_end_keeps_its_message(paths: IndexPaths) -> None:
    with pytest.raises(Cancelled, match=r"^the server is shutting down$"), stoppable(paths):
        raise Cancelled("the server is shutting down")
    assert not paths.stopped.exists()


def test_an_interrupt_gets_the_message_as_a_note(paths: IndexPaths) -> None:
    def interrupted(stoppable_run: StoppableRun) -> None:
        stoppable_run.report(Progress(225, 48))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as interrupt, stoppable(paths) as stoppable_run:
        interrupted(stoppable_run)
    note = "stopped after 48 of 225 files; completed work is kept, continue with: gitmem index"
    assert interrupt.value.__notes__ == [note]


def find_run(paths: IndexPaths) -> RunningRun:
    run = read_run(paths)
    assert run is not None
    return run
