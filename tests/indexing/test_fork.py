"""Workers forked from the process that needs them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gitmem.processes.fork import can_fork
from tests.gitrepo import unmeasured_environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux only")

START = """
import json, os, signal, sys, tempfile, threading, time
from pathlib import Path
import numpy
from gitmem.processes.fork import ForkedWorker, can_fork
from gitmem.indexing.pool import Pool
from gitmem.indexing.worker_protocol import BlobContent

def report(**facts):
    print(json.dumps(facts))

def job(text):
    return [BlobContent("python", text.encode())]

def rows(pool, text):
    return [[blob[:3] for blob in part.blobs] for parts in pool.run([job(text)]) for part in parts]

def worker_of(pool):
    return pool._workers[0].process
"""


def run(script: str, **environment: str) -> dict[str, Any]:
    """Run a script in its own process, with one thread unless the environment overrides that."""
    process = subprocess.run(
        [sys.executable, "-c", START + script],
        env=unmeasured_environment() | {"OPENBLAS_NUM_THREADS": "1"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    facts: dict[str, Any] = json.loads(process.stdout)
    return facts


def test_a_forked_worker_returns_the_same_rows_as_a_started_one() -> None:
    facts = run("""
text = "def first():\\n    return 1\\n\\n\\ndef second():\\n    return 2\\n"
with Pool(1) as pool:
    kind = type(worker_of(pool)).__name__
    forked = list(pool.run([job(text)]))
import gitmem.indexing.pool as module
module.can_fork = lambda: False
with Pool(1) as pool:
    started = list(pool.run([job(text)]))
    other = type(worker_of(pool)).__name__
plain = [[part._replace(resident=0) for part in parts] for parts in forked]
again = [[part._replace(resident=0) for part in parts] for parts in started]
report(kinds=[kind, other], same=plain == again)
""")
    assert facts == {"kinds": ["ForkedWorker", "Popen"], "same": True}


def test_several_forked_workers_share_what_is_loaded_before_them() -> None:
    facts = run("""
import gitmem.chunking.occurrence_query as patterns, gitmem.indexing.worker as worker
text = "def first():\\n    return second(1)\\n" * 40
def loaded():
    return [patterns._query.cache_info().currsize, worker._shared_encoder.cache_info().currsize]
with Pool(1, languages=["python"]) as pool:
    alone, before = list(pool.run([job(text)])), loaded()
with Pool(2, languages=["python"]) as pool:
    kinds = {type(worker.process).__name__ for worker in pool._workers}
    shared, after = list(pool.run([job(text), job(text)])), loaded()
plain = [part._replace(resident=0) for parts in alone for part in parts] * 2
again = [part._replace(resident=0) for parts in shared for part in parts]
report(kinds=sorted(kinds), before=before, after=after, same=plain == again)
""")
    assert facts == {"kinds": ["ForkedWorker"], "before": [0, 0], "after": [1, 1], "same": True}


def test_a_forked_worker_is_not_replaced_for_the_pages_that_it_shares() -> None:
    facts = run("""
from gitmem.indexing.worker_process import WorkerProcess
from gitmem.processes.memory import own_bytes
ballast = b"x" * (256 << 20)
worker = WorkerProcess()
worker.fork()
resident = worker.build_rows(job("x = 1\\n"))[0].resident
facts = {"resident": resident > 256 << 20, "own": own_bytes(worker.process.pid) < 128 << 20, "forked": worker.is_forked}
kept, replaced = worker.recycle(128 << 20), worker.recycle(1 << 20)
report(**facts, kept=kept, replaced=replaced, still=worker.is_forked)
worker.end()
worker.close()
""")
    assert facts == {"resident": True, "own": True, "forked": True, "kept": False, "replaced": True, "still": False}


def test_prose_loads_no_parser_before_workers_are_forked() -> None:
    facts = run("""
from gitmem.indexing.worker import load_for_all
load_for_all(["text", "markdown", "record", "commit"], embeds=False)
prose = "tree_sitter" in sys.modules
load_for_all(["python"], embeds=False)
report(prose=prose, code="tree_sitter" in sys.modules)
""")
    assert facts == {"prose": False, "code": True}


def test_what_cannot_be_loaded_is_the_error_of_a_worker_and_not_of_this_process(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['gitmem.indexing.row_builder'] = None\n")
    facts = run(
        """
from gitmem.errors import WorkersFailed
try:
    with Pool(2, languages=["python"]) as pool:
        kind = type(worker_of(pool)).__name__
        rows(pool, "x = 1\\n")
except WorkersFailed as problem:
    report(kind=kind, message=problem.message)
""",
        PYTHONPATH=str(tmp_path),
    )
    assert facts["kind"] == "ForkedWorker"
    assert facts["message"].startswith("the indexing worker does not start: ModuleNotFoundError: ")


def test_a_library_that_starts_a_thread_when_it_is_loaded_prevents_a_fork() -> None:
    facts = run("""
import gitmem.indexing.pool as module
stop = threading.Event()
module.load_for_all = lambda *_, **__: threading.Thread(target=stop.wait).start()
with Pool(2) as pool:
    started = [worker.process for worker in pool._workers]
    stop.set()
    blobs = rows(pool, "def first():\\n    return 1\\n")
report(started=started, blobs=blobs)
""")
    assert facts == {"started": [None, None], "blobs": [[["python", "parsed", 1]]]}


def test_a_process_with_another_thread_does_not_fork() -> None:
    facts = run("""
alone = can_fork()
stop = threading.Event()
thread = threading.Thread(target=stop.wait)
thread.start()
report(alone=alone, with_thread=can_fork())
stop.set()
""")
    assert facts == {"alone": True, "with_thread": False}


def test_a_joined_thread_does_not_prevent_a_fork() -> None:
    # On one processor the kernel removes a thread well after it has ended: Thread.join alone fails one time in four.
    facts = run("""
from gitmem.processes.fork import join_thread
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
def end_threads():
    threads = [threading.Thread(target=int) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        join_thread(thread, 30)
    return can_fork()
report(forks=sum(end_threads() for _ in range(200)))
""")
    assert facts == {"forks": 200}


def test_a_dead_forked_worker_is_replaced_by_a_started_one() -> None:
    facts = run("""
with Pool(1) as pool:
    os.kill(worker_of(pool).pid, signal.SIGKILL)
    blobs = rows(pool, "def first():\\n    return 1\\n")
    kind = type(worker_of(pool)).__name__
report(blobs=blobs, kind=kind)
""")
    assert facts == {"blobs": [[["python", "parsed", 1]]], "kind": "Popen"}


def test_a_forked_worker_closes_the_files_of_its_parent() -> None:
    facts = run("""
file = tempfile.NamedTemporaryFile()
with Pool(2) as pool:
    rows(pool, "x = 1\\n")
    open_files = [os.readlink(f) for w in pool._workers for f in Path(f"/proc/{w.process.pid}/fd").iterdir()]
report(inherited=file.name in open_files, pipes=sum(name.startswith("pipe:") for name in open_files) > 0)
""")
    assert facts == {"inherited": False, "pipes": True}


def test_a_forked_worker_ends_with_its_parent() -> None:
    facts = run("""
requests, answers = os.pipe()
parent = os.fork()
if parent == 0:
    pool = Pool(1)
    os.write(answers, str(worker_of(pool).pid).encode())
    os.kill(os.getpid(), signal.SIGKILL)
os.waitpid(parent, 0)
os.close(answers)
worker = int(os.read(requests, 20))
running = os.pidfd_open(worker) if Path(f"/proc/{worker}").exists() else None
import select
ended = running is None or bool(select.select([running], [], [], 30)[0])
report(ended=ended)
""")
    assert facts == {"ended": True}


def test_a_forked_worker_does_not_write_the_buffered_output_of_its_parent() -> None:
    facts = run("""
print(end="")
sys.stdout.write(" ")
with Pool(1) as pool:
    rows(pool, "x = 1\\n")
report(written=True)
""")
    assert facts == {"written": True}


def test_without_a_count_of_threads_no_process_forks() -> None:
    assert not can_fork(Path(os.devnull))
