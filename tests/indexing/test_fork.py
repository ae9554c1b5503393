"""Workers that are copies of the process that needs them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gitmem.indexing.fork import can_fork
from tests.gitrepo import unmeasured_environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")

START = """
import json, os, signal, sys, tempfile, threading, time
from pathlib import Path
import numpy
from gitmem.indexing.fork import ForkedWorker, can_fork
from gitmem.indexing.pool import Pool
from gitmem.indexing.worker_protocol import BlobContent

def tell(**facts):
    print(json.dumps(facts))

def job(text):
    return [BlobContent("python", text.encode())]

def rows(pool, text):
    return [part.blobs for parts in pool.run([job(text)]) for part in parts]

def worker_of(pool):
    return pool._workers[0]._process
"""


def run(script: str, **environment: str) -> dict[str, Any]:
    """Run a script in a process of its own, with one thread unless the environment says otherwise."""
    done = subprocess.run(
        [sys.executable, "-c", START + script],
        env=unmeasured_environment() | {"OPENBLAS_NUM_THREADS": "1"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


def test_a_copied_worker_gives_what_a_started_one_gives() -> None:
    made = run("""
text = "def first():\\n    return 1\\n\\n\\ndef second():\\n    return 2\\n"
with Pool(1) as pool:
    kind = type(worker_of(pool)).__name__
    copied = list(pool.run([job(text)]))
import gitmem.indexing.pool as module
module.can_fork = lambda: False
with Pool(1) as pool:
    started = list(pool.run([job(text)]))
    other = type(worker_of(pool)).__name__
tell(kinds=[kind, other], same=copied == started)
""")
    assert made == {"kinds": ["ForkedWorker", "Popen"], "same": True}


def test_a_process_with_another_thread_is_not_copied() -> None:
    made = run("""
alone = can_fork()
stop = threading.Event()
thread = threading.Thread(target=stop.wait)
thread.start()
tell(alone=alone, with_thread=can_fork())
stop.set()
""")
    assert made == {"alone": True, "with_thread": False}


def test_a_copied_worker_that_dies_is_followed_by_a_started_one() -> None:
    made = run("""
with Pool(1) as pool:
    os.kill(worker_of(pool).pid, signal.SIGKILL)
    blobs = rows(pool, "def first():\\n    return 1\\n")
    kind = type(worker_of(pool)).__name__
tell(blobs=blobs, kind=kind)
""")
    assert made == {"blobs": [[["python", "parsed", 1]]], "kind": "Popen"}


def test_a_copied_worker_holds_nothing_open_of_the_other_process() -> None:
    made = run("""
held = tempfile.NamedTemporaryFile()
with Pool(2) as pool:
    rows(pool, "x = 1\\n")
    open_files = [os.readlink(f) for w in pool._workers for f in Path(f"/proc/{w._process.pid}/fd").iterdir()]
tell(held=held.name in open_files, pipes=sum(name.startswith("pipe:") for name in open_files) > 0)
""")
    assert made == {"held": False, "pipes": True}


def test_a_copied_worker_ends_with_the_process_that_made_it() -> None:
    made = run("""
requests, answers = os.pipe()
parent = os.fork()
if parent == 0:
    pool = Pool(1)
    os.write(answers, str(worker_of(pool).pid).encode())
    os.kill(os.getpid(), signal.SIGKILL)
os.waitpid(parent, 0)
os.close(answers)
worker = int(os.read(requests, 20))
left = os.pidfd_open(worker) if Path(f"/proc/{worker}").exists() else None
import select
ended = left is None or bool(select.select([left], [], [], 30)[0])
tell(ended=ended)
""")
    assert made == {"ended": True}


def test_a_copied_worker_is_no_heir_of_unwritten_output() -> None:
    made = run("""
print(end="")
sys.stdout.write(" ")
with Pool(1) as pool:
    rows(pool, "x = 1\\n")
tell(written=True)
""")
    assert made == {"written": True}


def test_it_is_known_where_threads_cannot_be_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitmem.indexing.fork._THREADS", Path(os.devnull))
    assert not can_fork()
