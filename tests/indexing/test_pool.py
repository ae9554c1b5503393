"""Worker processes: whatever one of them does, it costs only the blob it was working on."""

import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from gitmem.errors import Cancelled, WorkersFailed
from gitmem.indexing import worker_process
from gitmem.indexing.pool import Pool
from gitmem.indexing.stop_request import StopRequest
from gitmem.indexing.worker import seconds_for
from gitmem.indexing.worker_protocol import Batch, BatchRequest, BlobContent, PackedRows, write_batch
from gitmem.processes.limits import limit_seconds
from tests.gitrepo import Repo
from tests.indexes import brief_hits, index, python_file, search

WORKER = """
import os, sys, time
from gitmem.indexing.worker_protocol import BlobOutcome, PackedRows, read_batch, write_rows, write_stopped
from gitmem.processes.frames import write_frame

def process(language, content):
    if content == b"abort":
        os.abort()
    if content == b"exit":
        sys.exit(0)
    if content == b"hang":
        time.sleep(600)
    if content == b"kill once" and not os.path.exists(sys.argv[0] + ".killed"):
        open(sys.argv[0] + ".killed", "w").close()
        os.kill(os.getpid(), 9)
    if content == b"raise":
        raise RuntimeError("the parser met its match")
    if content == b"noise":
        os.write(1, b"noise from a library ")
    if content == b"nonsense":
        write_frame(sys.stdout.buffer, "not rows")
    return BlobOutcome(language, "text", 1)

while True:
    try:
        batch, *_ = read_batch(sys.stdin.buffer)
    except EOFError:
        break
    contents = [blob.content for blob in batch]
    flag = sys.argv[0] + ".done"
    if contents == [b"wait and stop"]:
        while not os.path.exists(flag):
            time.sleep(0.01)
        write_stopped(sys.stdout.buffer)
        continue
    if contents == [b"done"]:
        open(flag, "w").close()
    write_rows(sys.stdout.buffer, PackedRows([process(*blob) for blob in batch], {}, contents, b"", 0, {}))
"""
"""A worker that copies each content into the symbols, and misbehaves at the name of a fault."""


ENDS = {
    b"abort": "was killed by SIGABRT",
    b"exit": "ended with exit code 0",
    b"raise": "ended with exit code 1: RuntimeError: the parser met its match",
    b"hang": "gave no answer within 1 s",
    b"noise": "gave an answer that cannot be read",
    b"nonsense": "gave an answer that cannot be read",
}
"""What is reported for each fault."""


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    script = tmp_path / "worker.py"
    script.write_text(WORKER)
    return [sys.executable, str(script)]


def texts(*contents: bytes) -> Batch:
    return [BlobContent("text", content) for content in contents]


def outcomes(results: Sequence[Sequence[PackedRows]]) -> list[str]:
    return [blob.outcome for parts in results for rows in parts for blob in rows.blobs]


def processes_of(pool: Pool) -> list[int]:
    return [worker.process.pid for worker in pool._workers if worker.process is not None]


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_results_come_in_the_order_of_the_batches(command: list[str]) -> None:
    batches = [texts(*(b"%d.%d" % (batch, item) for item in range(batch % 4))) for batch in range(60)]
    with Pool(3, command) as pool:
        results = list(pool.run(batches))
    assert [[content for rows in parts for content in rows.labels] for parts in results] == [
        [blob.content for blob in batch] for batch in batches
    ]


def test_a_stopped_run_hands_over_the_batches_that_were_finished_out_of_order(
    command: list[str], tmp_path: Path
) -> None:
    stop = StopRequest(str(tmp_path / "cancel"), b"token")
    with Pool(2, command) as pool:
        results = pool.run([texts(b"wait and stop"), texts(b"done")], stop)
        with pytest.raises(Cancelled):
            next(results)
        finished = [(number, rows.labels) for number, parts in pool.take_finished(wait=True) for rows in parts]
    assert finished == [(1, [b"done"])]


@pytest.mark.parametrize("stopped", [False, True])
def test_a_worker_reads_the_request_before_each_blob(tmp_path: Path, stopped: bool) -> None:
    stop = StopRequest(str(tmp_path / "cancel"), b"token")
    Path(stop.path).write_bytes(b"token" if stopped else b"token of another run")
    with Pool(1) as pool:
        if not stopped:
            assert outcomes(list(pool.run([texts(b"a word")], stop))) == ["text"]
            return
        with pytest.raises(Cancelled):
            next(pool.run([texts(b"a word")], stop))
        assert list(pool.take_finished(wait=True)) == []


@pytest.mark.parametrize("fault", [b"abort", b"exit", b"raise", b"hang", b"noise", b"nonsense"])
def test_a_blob_that_kills_its_worker_costs_only_itself(
    command: list[str], monkeypatch: pytest.MonkeyPatch, fault: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(worker_process, "SECONDS_PER_BATCH", 1.0)
    monkeypatch.setattr(worker_process, "SECONDS_PER_BLOB", 0.0)
    with Pool(1, command) as pool:
        results = list(pool.run([texts(b"a", fault, b"b"), texts(b"c")]))
    assert outcomes(results) == ["text", "failed", "text", "text"]
    assert capfd.readouterr() == ("", ""), "the user does not see the traceback of a worker"
    (loss,) = [loss for parts in results for rows in parts for loss in rows.losses]
    assert loss == f"the worker {ENDS[fault]}"
    assert [rows.losses for rows in results[0]][1] == (loss,)


def test_a_worker_that_is_killed_once_is_reported_with_the_number_of_its_files(command: list[str]) -> None:
    with Pool(1, command) as pool:
        results = list(pool.run([texts(b"a"), texts(b"b", b"kill once", b"c")]))
    assert outcomes(results) == ["text"] * 4
    assert [loss for parts in results for rows in parts for loss in rows.losses] == [
        "an indexing worker was killed by SIGKILL (the system does that when memory runs out); "
        "its 3 files were indexed again, one by one"
    ]


def test_a_first_batch_that_only_kills_workers_does_not_end_the_run(command: list[str]) -> None:
    with Pool(1, command) as pool:
        assert outcomes(list(pool.run([texts(b"abort"), texts(b"a")]))) == ["failed", "text"]


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import sys; sys.exit('no such model')", "no such model"),
        ("print('hello, this is no frame at all')", "does not start"),
        ("raise ImportError('numpy is broken')", "numpy is broken"),
    ],
)
def test_workers_that_die_at_start_end_the_run_with_their_last_error_line(program: str, message: str) -> None:
    with Pool(2, [sys.executable, "-c", program]) as pool, pytest.raises(WorkersFailed, match=message):
        list(pool.run([texts(b"a")] * 5))


def test_a_worker_that_fails_at_every_file_ends_the_run(tmp_path: Path) -> None:
    """Too little memory, for example: an index in which every file failed would replace a good one."""
    script = tmp_path / "worker.py"
    script.write_text(WORKER.replace('if content == b"abort"', "if content:\n        raise MemoryError\n    if False"))
    with Pool(1, [sys.executable, str(script)]) as pool, pytest.raises(WorkersFailed, match="any file: MemoryError"):
        list(pool.run([texts(b"a", b"b")]))


def test_a_missing_command_is_a_clear_error(tmp_path: Path) -> None:
    with Pool(1, [str(tmp_path / "nowhere")]) as pool, pytest.raises(WorkersFailed, match="does not start"):
        list(pool.run([texts(b"a")]))


def test_closing_leaves_no_process_behind_even_in_the_middle_of_work(command: list[str]) -> None:
    before = threading.active_count()
    with Pool(2, command) as pool:
        run = pool.run([texts(b"a"), texts(b"hang"), texts(b"hang"), texts(b"b")])
        next(run)
        pids = processes_of(pool)
        assert pids
    assert not any(map(is_running, pids))
    assert threading.active_count() == before


def test_a_pool_without_batches_starts_no_process(command: list[str]) -> None:
    with Pool(2, command) as pool:
        assert list(pool.run([])) == []
        assert processes_of(pool) == []


def test_an_error_while_reading_batches_ends_the_run_and_the_workers(command: list[str]) -> None:
    def batches() -> Iterator[Batch]:
        yield texts(b"a")
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"), Pool(1, command) as pool:
        list(pool.run(batches()))
    assert processes_of(pool) == []


def test_a_file_that_kills_real_workers_is_skipped_and_the_rest_is_indexed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "worker.py"
    script.write_text(
        "import os\nimport gitmem.indexing.row_builder as row_builder\nreal = row_builder.chunk_blob\n"
        "def chunk_blob(data, language, *more):\n    return os.abort() if b'poison' in data else real(data, language)\n"
        "row_builder.chunk_blob = chunk_blob\nfrom gitmem.indexing.worker import main\nmain()\n"
    )
    repo = Repo.init(tmp_path / "repo")
    repo.commit(
        {"good.py": python_file("sign_cookie"), "bad.py": python_file("poison"), "fine.py": python_file("fine")}
    )
    with monkeypatch.context() as patch:
        patch.setattr(
            "gitmem.indexing.run.Pool",
            lambda workers, **options: Pool(workers, [sys.executable, str(script)], **options),
        )
        report = index(repo)
    assert report.status == "partial"
    assert report.problems == ["bad.py: chunking failed, the file is skipped: the worker was killed by SIGABRT"]
    assert next(path for path, *_ in brief_hits(search(repo, "sign_cookie"))) == "good.py"
    assert index(repo).status == "success"
    assert "bad.py" in [path for path, *_ in brief_hits(search(repo, "poison"))]


def test_output_of_libraries_in_a_real_worker_stays_out_of_the_pipe(tmp_path: Path) -> None:
    script = tmp_path / "worker.py"
    script.write_text(
        "import os\nimport gitmem.indexing.row_builder as row_builder\nreal = row_builder.chunk_blob\n"
        "def chunk_blob(data, language, *more):\n    print('loud'); os.write(1, b'louder')\n"
        "    return real(data, language, *more)\n"
        "row_builder.chunk_blob = chunk_blob\nfrom gitmem.indexing.worker import main\nmain()\n"
    )
    with Pool(1, [sys.executable, str(script)]) as pool:
        results = list(pool.run([[BlobContent("python", b"def f():\n    return 1\n")]]))
    assert outcomes(results) == ["parsed"]


@pytest.mark.skipif(not hasattr(signal, "SIGXCPU"), reason="needs a system that limits processor time")
def test_a_worker_that_computes_forever_is_ended_by_its_processor_time_not_by_the_clock(tmp_path: Path) -> None:
    script = tmp_path / "worker.py"
    script.write_text(
        "import gitmem.indexing.row_builder as row_builder\nimport gitmem.indexing.worker as worker\n"
        "worker.BATCH_SECONDS = 0.5\nreal = row_builder.chunk_blob\n"
        "def chunk_blob(data, language, *more):\n"
        "    while b'for ever' in data:\n        pass\n    return real(data, language, *more)\n"
        "row_builder.chunk_blob = chunk_blob\nworker.main()\n"
    )
    requests = io.BytesIO()
    write_batch(requests, BatchRequest(texts(b"for ever")))
    command = [sys.executable, str(script)]
    process = subprocess.run(command, input=requests.getvalue(), capture_output=True, timeout=300)
    assert process.returncode == -signal.SIGXCPU
    with Pool(1, command) as pool:
        results = list(pool.run([texts(b"a", b"for ever", b"b")]))
    assert outcomes(results) == ["text", "failed", "text"]


def test_each_batch_has_its_own_processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    limits: list[int] = []
    monkeypatch.setattr(resource, "setrlimit", lambda kind, both: limits.append(both[0]))
    monkeypatch.setattr("time.process_time", lambda: 70.0)
    limit_seconds(seconds_for(texts(bytes(2_000_000))))
    assert limits[0] == 100
