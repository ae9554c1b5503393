"""Worker processes: whatever one of them does, it costs the blob it did it on."""

import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gitmem.errors import WorkersFailed
from gitmem.indexing import pool as pool_module
from gitmem.indexing.pool import Pool
from gitmem.indexing.worker import limit_seconds, write_frame
from tests.gitrepo import Repo
from tests.indexes import ask, found, index, python_file

WORKER = """
import os, sys, time
from gitmem.indexing.worker import read_frame, write_frame

def note(language, data):
    if data == b"abort":
        os.abort()
    if data == b"exit":
        sys.exit(0)
    if data == b"hang":
        time.sleep(600)
    if data == b"raise":
        raise RuntimeError("the parser met its match")
    if data == b"noise":
        os.write(1, b"noise from a library ")
    if data == b"nonsense":
        write_frame(sys.stdout.buffer, "no map")
    return (language, "text", 1)

while True:
    try:
        batch = read_frame(sys.stdin.buffer)
    except EOFError:
        break
    write_frame(sys.stdout.buffer, {"blobs": [note(*item) for item in batch], "symbols": [d for _, d in batch]})
"""


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    script = tmp_path / "worker.py"
    script.write_text(WORKER)
    return [sys.executable, str(script)]


def outcomes(results: Sequence[Sequence[dict[str, Any]]]) -> list[str]:
    return [outcome for parts in results for part in parts for _, outcome, _ in part["blobs"]]


def processes_of(pool: Pool) -> list[int]:
    return [worker._process.pid for worker in pool._workers if worker._process is not None]


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_results_come_in_the_order_of_the_batches(command: list[str]) -> None:
    batches = [[("text", b"%d.%d" % (batch, item)) for item in range(batch % 4)] for batch in range(60)]
    with Pool(3, command) as pool:
        results = list(pool.run(batches))
    assert [[data for part in parts for data in part["symbols"]] for parts in results] == [
        [data for _, data in batch] for batch in batches
    ]


@pytest.mark.parametrize("fault", [b"abort", b"exit", b"raise", b"hang", b"noise"])
def test_a_blob_that_brings_its_worker_down_costs_itself_alone(
    command: list[str], monkeypatch: pytest.MonkeyPatch, fault: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pool_module, "SECONDS_PER_BATCH", 1.0)
    monkeypatch.setattr(pool_module, "SECONDS_PER_BLOB", 0.0)
    batches = [[("text", b"a"), ("text", fault), ("text", b"b")], [("text", b"c")]]
    with Pool(1, command) as pool:
        results = list(pool.run(batches))
    assert outcomes(results) == ["text", "failed", "text", "text"]
    assert capfd.readouterr() == ("", ""), "a traceback of a worker is no business of the person who asked"


def test_a_first_batch_that_only_kills_is_no_reason_to_give_up(command: list[str]) -> None:
    with Pool(1, command) as pool:
        assert outcomes(list(pool.run([[("text", b"abort")], [("text", b"a")]]))) == ["failed", "text"]


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("import sys; sys.exit('no such model')", "no such model"),
        ("print('hello, this is no frame at all')", "does not start"),
        ("raise ImportError('numpy is broken')", "numpy is broken"),
    ],
)
def test_workers_that_die_at_start_end_the_run_with_their_last_words(program: str, told: str) -> None:
    with Pool(2, [sys.executable, "-c", program]) as pool, pytest.raises(WorkersFailed, match=told):
        list(pool.run([[("text", b"a")]] * 5))


def test_where_no_file_at_all_can_be_done_it_is_not_the_files_fault(tmp_path: Path) -> None:
    """Too little memory, say: an index in which every file had failed would take the place of a good one."""
    script = tmp_path / "worker.py"
    script.write_text(WORKER.replace('if data == b"abort":', "if data:\n        raise MemoryError\n    if False:"))
    with Pool(1, [sys.executable, str(script)]) as pool, pytest.raises(WorkersFailed, match="any file: MemoryError"):
        list(pool.run([[("text", b"a"), ("text", b"b")]]))


def test_a_command_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    with Pool(1, [str(tmp_path / "nowhere")]) as pool, pytest.raises(WorkersFailed, match="does not start"):
        list(pool.run([[("text", b"a")]]))


def test_closing_leaves_no_process_behind_even_in_the_middle_of_work(command: list[str]) -> None:
    before = threading.active_count()
    with Pool(2, command) as pool:
        run = pool.run([[("text", b"a")], [("text", b"hang")], [("text", b"hang")], [("text", b"b")]])
        next(run)
        pids = processes_of(pool)
        assert pids
    assert not any(map(is_running, pids))
    assert threading.active_count() == before


def test_a_pool_without_batches_starts_nothing(command: list[str]) -> None:
    with Pool(2, command) as pool:
        assert list(pool.run([])) == []
        assert processes_of(pool) == []


def test_an_error_while_batches_are_read_ends_the_run_and_the_workers(command: list[str]) -> None:
    def batches() -> Any:
        yield [("text", b"a")]
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"), Pool(1, command) as pool:
        list(pool.run(batches()))
    assert processes_of(pool) == []


def test_what_the_parser_kills_is_skipped_and_the_rest_is_indexed_by_real_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "worker.py"
    script.write_text(
        "import os\nimport gitmem.indexing.row_builder as row_builder\nreal = row_builder.chunk_blob\n"
        "def chunk_blob(data, language):\n    return os.abort() if b'poison' in data else real(data, language)\n"
        "row_builder.chunk_blob = chunk_blob\nfrom gitmem.indexing.worker import main\nmain()\n"
    )
    repo = Repo.init(tmp_path / "repo")
    repo.commit(
        {"good.py": python_file("sign_cookie"), "bad.py": python_file("poison"), "fine.py": python_file("fine")}
    )
    with monkeypatch.context() as patch:
        patch.setattr("gitmem.indexing.run.Pool", lambda workers: Pool(workers, [sys.executable, str(script)]))
        made = index(repo)
    assert made.status == "partial"
    assert [line.split(":")[0] for line in made.problems] == ["bad.py"]
    assert next(path for path, *_ in found(ask(repo, "sign_cookie"))) == "good.py"
    assert index(repo).status == "success"
    assert "bad.py" in [path for path, *_ in found(ask(repo, "poison"))]


def test_a_real_worker_keeps_what_libraries_print_out_of_the_pipe(tmp_path: Path) -> None:
    script = tmp_path / "worker.py"
    script.write_text(
        "import os\nimport gitmem.indexing.row_builder as row_builder\nreal = row_builder.chunk_blob\n"
        "def chunk_blob(data, language):\n    print('loud'); os.write(1, b'louder')\n    return real(data, language)\n"
        "row_builder.chunk_blob = chunk_blob\nfrom gitmem.indexing.worker import main\nmain()\n"
    )
    with Pool(1, [sys.executable, str(script)]) as pool:
        results = list(pool.run([[("python", b"def f():\n    return 1\n")]]))
    assert outcomes(results) == ["parsed"]


@pytest.mark.skipif(not hasattr(signal, "SIGXCPU"), reason="needs a system that limits processor time")
def test_a_worker_that_computes_for_ever_is_ended_by_its_own_time_and_not_by_the_clock(tmp_path: Path) -> None:
    script = tmp_path / "worker.py"
    script.write_text(
        "import gitmem.indexing.row_builder as row_builder\nimport gitmem.indexing.worker as worker\n"
        "worker.BATCH_SECONDS = 0.5\nreal = row_builder.chunk_blob\n"
        "def chunk_blob(data, language):\n"
        "    while b'for ever' in data:\n        pass\n    return real(data, language)\n"
        "row_builder.chunk_blob = chunk_blob\nworker.main()\n"
    )
    requests = io.BytesIO()
    write_frame(requests, [("text", b"for ever")])
    command = [sys.executable, str(script)]
    done = subprocess.run(command, input=requests.getvalue(), capture_output=True, timeout=300)
    assert done.returncode == -signal.SIGXCPU
    with Pool(1, command) as pool:
        results = list(pool.run([[("text", b"a"), ("text", b"for ever"), ("text", b"b")]]))
    assert outcomes(results) == ["text", "failed", "text"]


def test_each_batch_has_time_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    limits: list[int] = []
    monkeypatch.setattr(resource, "setrlimit", lambda kind, both: limits.append(both[0]))
    monkeypatch.setattr("time.process_time", lambda: 70.0)
    limit_seconds([("text", bytes(2_000_000))])
    assert limits[0] == 100
