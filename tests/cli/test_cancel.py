"""A run stopped by another process or by a signal keeps its finished part and reports that it is incomplete."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitmem.errors import ExitCode
from gitmem.freshness.cancellation import read_run, request_stop, stoppable
from gitmem.locks import writer_lock
from gitmem.store.manifest import find_manifest
from tests.gitrepo import Repo
from tests.held_run import HELD
from tests.indexes import index as index_here
from tests.indexes import workspace_of
from tests.sample import Cli, assert_error

PATIENCE = 300.0
"""Seconds until a test gives up."""


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({f"part{n:03}.py": f"def load_{n}(value):\n    return {n}\n" for n in range(300)})
    return repo


@pytest.fixture
def run(repo: Repo) -> Iterator[subprocess.Popen[str]]:
    """Start a run that pauses after a few batches."""
    with running(repo, "index") as process:
        yield process


def restore_signals() -> None:
    """Let signals end this process, even if its parent ignores them, as under `nohup` or in the background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def running(repo: Repo, *args: str) -> Iterator[subprocess.Popen[str]]:
    """Start a command that indexes, and wait until it pauses after a few batches."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    command = [sys.executable, "-m", "tests.held_run", "-C", str(repo.path), *args]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=restore_signals,
    ) as process:  # fmt: skip
        deadline = time.monotonic() + PATIENCE
        while not (repo.path / HELD).exists():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        yield process
        process.kill()


@pytest.mark.usefixtures("fake_model")
@pytest.mark.parametrize("end", ["cancel", "interrupt", "terminate"])
def test_a_full_run_that_is_stopped_keeps_its_finished_part_and_the_old_index(cli: Cli, repo: Repo, end: str) -> None:
    index_here(repo)
    before = find_manifest(repo.path / ".gitmem" / "manifest")
    done = 12 if end == "cancel" else 10  # the held batch arrives after a request
    with running(repo, "index", "--full") as process:
        if end == "cancel":
            expected = "stopped; completed work is kept, continue with: gitmem index --full\n"
            assert cli("cancel", cwd=repo.path).out == expected
        else:
            process.send_signal(signal.SIGINT if end == "interrupt" else signal.SIGTERM)
        _, err = process.communicate(timeout=PATIENCE)
    if end != "terminate":
        assert "continue with: gitmem index --full\n" in err
    assert find_manifest(repo.path / ".gitmem" / "manifest") == before
    assert json.loads(cli("status", "--json", cwd=repo.path).out)["unfinished"] == done
    assert cli("gc", "--now", cwd=repo.path).code == 0
    report = index_here(repo, full=True)
    assert (report.embedded, report.reused) == (300 - done, done)
    assert index_here(repo, full=True).embedded == 300, "a complete run is not the beginning of the next one"


@pytest.mark.usefixtures("fake_model")
def test_a_first_full_run_that_is_stopped_is_continued_by_any_run(cli: Cli, repo: Repo) -> None:
    with running(repo, "index", "--full"):
        assert cli("cancel", cwd=repo.path).out.endswith("continue with: gitmem index --full\n")
    assert index_here(repo).embedded == 288
    assert index_here(repo, full=True).embedded == 300


def test_cancel_reports_a_run_that_ends_before_it_stops(own: Repo) -> None:
    from gitmem.actions.cancel import cancel

    workspace = workspace_of(own)
    with ThreadPoolExecutor() as threads:
        with writer_lock(workspace.paths.lock, wait=False), stoppable(workspace.paths):
            outcome = threads.submit(cancel, workspace, max_wait=PATIENCE)
            deadline = time.monotonic() + PATIENCE
            while not workspace.paths.cancel.exists() and time.monotonic() < deadline:
                time.sleep(0.01)
        assert outcome.result() == (True, False, "gitmem index")


@pytest.mark.usefixtures("fake_model")
@pytest.mark.parametrize("first", [True, False])
def test_status_recognises_a_run(cli: Cli, repo: Repo, first: bool) -> None:
    if not first:
        index_here(repo)
    with running(repo, "index", "--full"):
        outcome = cli("status", cwd=repo.path)
        assert outcome.code == 0
        assert outcome.out.startswith("Updating: main ")
        line = (
            r"writing    `gitmem index --full` is running, \d+ of 300 files, \d+ chunks, last `\S+`; "
            r"`gitmem cancel` stops it\n"
        )
        assert re.search(line, outcome.out)
        state = json.loads(cli("status", "--json", cwd=repo.path).out)
        assert (state["state"], state["writing"]) == ("Updating", True)
        assert (repo.path / state["progress"]["path"]).is_file()
        assert 0 < state["progress"]["blobs"] <= state["progress"]["chunks"] < state["progress"]["blobs_total"] == 300
    assert json.loads(cli("status", "--json", cwd=repo.path).out)["progress"] is None


@pytest.mark.usefixtures("fake_model")
def test_status_watch_waits_for_the_end_of_a_run(cli: Cli, repo: Repo) -> None:
    assert cli("status", "--watch", cwd=repo.path).out.startswith("No Index: main "), "there is no run to wait for"
    with running(repo, "index"):
        command = [sys.executable, "-m", "gitmem", "-C", str(repo.path), "status", "--watch", "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watching, ThreadPoolExecutor() as threads:
            output = threads.submit(watching.communicate)
            assert not output.done()
            assert cli("cancel", cwd=repo.path).code == ExitCode.OK
            state = json.loads(output.result(PATIENCE)[0])
    assert (watching.returncode, state["state"], state["writing"]) == (ExitCode.OK, "Needs Update", False)


@pytest.mark.usefixtures("fake_model")
def test_status_recognises_a_run_that_is_about_to_stop(cli: Cli, own: Repo) -> None:
    paths = workspace_of(own).paths
    with writer_lock(paths.lock, wait=False), stoppable(paths):
        run = read_run(paths)
        assert run is not None
        request_stop(paths, run)
        assert cli("status", cwd=own.path).out.startswith("Cancelling: main ")
    assert cli("status", cwd=own.path).out.startswith("Up to Date: main ")


def assert_partial_and_resumable(cli: Cli, repo: Repo) -> None:
    """Assert that the index is partial, that it says so, and that the next run embeds only the rest."""
    manifest = find_manifest(repo.path / ".gitmem" / "manifest")
    assert manifest is not None
    assert 0 < manifest.blobs < 300
    assert not manifest.complete
    assert manifest.views == ()
    assert not (repo.path / ".gitmem" / "state" / "running").exists()
    assert not (repo.path / ".gitmem" / "state" / "cancel").exists()
    report = index_here(repo)
    assert report.embedded == 300 - manifest.blobs
    manifest = find_manifest(repo.path / ".gitmem" / "manifest")
    assert manifest is not None
    assert manifest.complete


@pytest.mark.usefixtures("fake_model")
def test_cancel_stops_the_run_of_another_process_and_keeps_its_finished_part(
    cli: Cli, repo: Repo, run: subprocess.Popen[str]
) -> None:
    assert_error(cli("index", "--no-wait", cwd=repo.path), ExitCode.BUSY, "another process is writing this index")
    assert cli("cancel", cwd=repo.path).out == "stopped; completed work is kept, continue with: gitmem index\n"
    _, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == ExitCode.FAILED
    assert err.splitlines()[-2].startswith("error: stopped by `gitmem cancel` after ")
    assert_partial_and_resumable(cli, repo)


def test_uninstall_stops_the_run_of_another_process_and_removes_the_index(
    cli: Cli, repo: Repo, run: subprocess.Popen[str]
) -> None:
    outcome = cli("uninstall", "--yes", cwd=repo.path)
    assert (outcome.code, outcome.out.split()[0]) == (0, "removed")
    run.communicate(timeout=PATIENCE)
    assert not (repo.path / ".gitmem").exists()


@pytest.mark.usefixtures("fake_model")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_the_run_and_keeps_its_finished_part(
    cli: Cli, repo: Repo, run: subprocess.Popen[str], number: signal.Signals
) -> None:
    run.send_signal(number)
    out, err = run.communicate(timeout=PATIENCE)
    note = "stopped after 10 of 300 files; completed work is kept, continue with: gitmem index\n"
    assert (out, err) == ("", note if number == signal.SIGINT else "")
    assert run.returncode == (ExitCode.INTERRUPTED if number == signal.SIGINT else -number)
    assert_partial_and_resumable(cli, repo)


@pytest.mark.usefixtures("fake_model")
def test_cancel_stops_the_indexing_of_a_query_and_the_answer_is_stale(cli: Cli, repo: Repo) -> None:
    """A query with `--rev` indexes the whole revision, which may take long."""
    repo.git("tag", "full")
    repo.git("rm", "-q", "-r", ".")
    repo.commit({"only.py": "def only():\n    return 1\n"})
    index_here(repo)
    with running(repo, "query", "--rev", "full", "--json", "load 7") as process:
        expected = "stopped; completed work is kept, continue with: gitmem index --rev full\n"
        assert cli("cancel", cwd=repo.path).out == expected
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    view = json.loads(out)["view"]
    assert 0 < json.loads(out)["stats"]["files_missing"] < 300
    assert view["stale"] is True
    assert len(find_manifest(repo.path / ".gitmem" / "manifest").segments) > 1  # type: ignore[union-attr]


def test_an_ignored_signal_stays_ignored(repo: Repo) -> None:
    code = (
        "import os, signal\nfrom gitmem.freshness.cancellation import signals_as_exceptions\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "with signals_as_exceptions():\n    os.kill(os.getpid(), signal.SIGHUP)\nprint('alive')\n"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "alive\n"


def test_without_a_run_there_is_nothing_to_cancel(cli: Cli, own: Repo, tmp_path: Path) -> None:
    assert cli("cancel", cwd=own.path).out == "no index run to stop\n"
    assert cli("cancel", cwd=Repo.init(tmp_path / "empty").path).out == "no index run to stop\n"


def test_files_of_a_killed_run_stop_no_other_run(cli: Cli, own: Repo) -> None:
    state = own.path / ".gitmem" / "state"
    for name in ("running", "cancel"):
        (state / name).write_text("0" * 32)
    own.commit({"more.py": "def more():\n    return 1\n"})
    assert cli("index", cwd=own.path).code == 0
    for name in ("running", "cancel"):
        (state / name).write_text("0" * 32)
    assert cli("cancel", cwd=own.path).out == "no index run to stop\n"
    assert not (state / "running").exists()


def test_cancel_reports_a_run_that_does_not_stop(own: Repo) -> None:
    from gitmem.actions.cancel import cancel
    from gitmem.errors import Busy

    workspace = workspace_of(own)
    with writer_lock(workspace.paths.lock, wait=False), pytest.raises(Busy, match="did not stop"):
        cancel(workspace, max_wait=0.2)


def test_a_run_that_waits_for_another_prints_a_notice(cli: Cli, own: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    hold = (
        "import sys; from pathlib import Path; from gitmem.locks import writer_lock\n"
        "with writer_lock(Path(sys.argv[1]), wait=False):\n    print('held', flush=True); sys.stdin.readline()\n"
    )
    own.commit({"more.py": "def more():\n    return 1\n"})
    lock = own.path / ".gitmem" / "lock"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", hold, str(lock)], stdin=pipe, stdout=pipe, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        command = [sys.executable, "-m", "gitmem", "-C", str(own.path), "index"]
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as waiting:
            assert waiting.stderr is not None
            assert waiting.stderr.readline().startswith("another process is writing this index; waiting for it")
            holder.communicate("go\n")
            assert waiting.communicate(timeout=PATIENCE)[0].startswith("indexed ")
