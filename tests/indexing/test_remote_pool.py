"""Batches as tasks of other machines: the same rows in the same order, within bounds, or one clear error."""

import os
import re
import time
from collections.abc import Iterator
from concurrent.futures import Future, wait
from pathlib import Path

import pytest

from gitmem.errors import Cancelled, WorkersFailed
from gitmem.freshness.refresh import RefreshSettings, refresh
from gitmem.indexing import batch_task, remote_pool
from gitmem.indexing.batch_task import answer_request, encode_request, read_answer, row_versions
from gitmem.indexing.remote_pool import OpenEngine, RemotePool
from gitmem.indexing.stop_request import StopRequest
from gitmem.indexing.worker_process import WorkerProcess
from gitmem.indexing.worker_protocol import Batch, BatchRequest, BlobContent, PackedRows
from gitmem.store.manifest import Manifest, find_manifest
from tests.gitrepo import Repo
from tests.indexes import snapshot_of, workspace_of
from tests.indexing.engines import answer_now, engine, failed, finished
from tests.sample import Cli

FILES = {f"part{number:03}.py": f"def part_{number}(x):\n    return x + {number}\n" for number in range(100)}
BATCH: Batch = (BlobContent("python", b"def a():\n    return 1\n"),)


@pytest.fixture(autouse=True)
def _worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use a worker for one test, as a node does for its life."""
    worker = WorkerProcess()
    monkeypatch.setattr(batch_task, "shared_worker", lambda: worker)
    yield
    worker.end()
    worker.close()


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit(FILES)
    return repo


def index_on(repo: Repo, open_engine: OpenEngine | None) -> Manifest:
    """Index HEAD from nothing, and return the manifest."""
    workspace = workspace_of(repo)
    refresh(workspace, workspace.location.head_tree, RefreshSettings(), open_engine=open_engine)
    manifest = find_manifest(workspace.paths.manifest)
    assert manifest is not None
    return manifest


def test_rows_of_other_machines_are_byte_for_byte_those_of_this_one(repo: Repo, tmp_path: Path) -> None:
    clone = Repo(tmp_path / "clone")
    repo.git("clone", "-q", str(repo.path), str(clone.path))
    here, there = index_on(repo, None), index_on(clone, engine(answer_now))
    # A segment is named by the hash of its content.
    assert [entry.name for entry in there.segments] == [entry.name for entry in here.segments] != []
    assert there.rows >= len(FILES)


def test_records_are_not_sent_and_a_local_run_completes_the_index(repo: Repo, cli: Cli) -> None:
    assert cli("-q", "memory", "add", "private words", cwd=repo.path).code == 0
    requests = []

    def submit(request: bytes) -> "Future[bytes]":
        requests.append(request)
        return answer_now(request)

    manifest = index_on(repo, engine(submit))
    assert requests
    assert not any(b"private words" in request for request in requests)
    assert manifest.views == ()
    assert len(index_on(repo, None).views) == 1


def test_results_come_in_the_order_of_the_batches(repo: Repo) -> None:
    tasks: list[tuple[bytes, Future[bytes]]] = []

    def submit(request: bytes) -> "Future[bytes]":
        tasks.append((request, Future()))
        if len(tasks) == 3:  # the last one: all end now, in the wrong order
            for each, task in reversed(tasks):
                task.set_result(answer_request(each))
        return tasks[-1][1]

    batches = [(BlobContent("python", f"def name{number}(): pass\n".encode()),) for number in range(3)]
    with RemotePool(engine(submit)) as pool:
        results = [part for parts in pool.run(batches) for part in parts]
    assert [re.findall(rb"name\d", b" ".join(part.labels)) for part in results] == [[b"name0"], [b"name1"], [b"name2"]]


@pytest.mark.parametrize(("in_flight_bytes", "most"), [(1, 1), (44, 2), (1 << 30, 10)])
def test_the_text_on_its_way_is_bounded(in_flight_bytes: int, most: int) -> None:
    answer = answer_request(encode_request(BatchRequest(BATCH)))
    sent = taken = 0
    waiting = []

    def submit(_: bytes) -> "Future[bytes]":
        nonlocal sent
        sent += 1
        waiting.append(sent - taken)
        return finished(answer)

    assert len(BATCH[0].content) == 22
    with RemotePool(engine(submit), in_flight_bytes) as pool:
        for _ in pool.run([BATCH] * 10):
            taken += 1
    assert (taken, max(waiting)) == (10, most)


@pytest.mark.parametrize("name", ["gitmem", "format, chunker and model", "tree-sitter-language-pack"])
def test_a_machine_with_another_version_makes_no_rows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    own = row_versions()
    with monkeypatch.context() as patch:
        patch.setattr(batch_task, "row_versions", lambda: own | {name: "0.0"})
        request = encode_request(BatchRequest(BATCH))
    with pytest.raises(WorkersFailed, match=f"^node .* has {name} .* instead of 0.0$") as caught:
        read_answer(answer_request(request))
    wanted = "0.0" if name == "gitmem" else own["gitmem"]
    assert caught.value.hint.startswith(f"install gitmem-cli=={wanted} with")


def test_a_machine_whose_worker_does_not_start_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = WorkerProcess(("false",))
    monkeypatch.setattr(batch_task, "shared_worker", lambda: broken)
    with pytest.raises(WorkersFailed, match=f"^node {os.uname().nodename}: the indexing worker") as caught:
        read_answer(answer_request(encode_request(BatchRequest(BATCH))))
    assert "gitmem doctor" in caught.value.hint
    broken.close()


def test_an_answer_that_is_cut_off_is_an_error() -> None:
    answer = answer_request(encode_request(BatchRequest(BATCH)))
    with pytest.raises(WorkersFailed, match="cannot be read"):
        read_answer(answer[:-1])


def test_finished_batches_are_kept_after_a_lost_one_and_not_sent_again(repo: Repo) -> None:
    sent = []

    def submit(request: bytes) -> "Future[bytes]":
        sent.append(request)
        return failed(ConnectionError("gone")) if len(sent) == 2 else answer_now(request)

    with pytest.raises(WorkersFailed, match="the engine failed: gone"):
        index_on(repo, engine(submit))
    assert len(sent) == 3
    manifest = index_on(repo, engine(submit))
    assert len(sent) == 4
    keys = [key for segment in snapshot_of(repo).segments for key in map(bytes, segment.oids)]
    assert len(keys) == len(set(keys)) == manifest.rows == len(FILES)


def test_a_request_to_stop_ends_the_wait_and_finished_batches_can_be_taken(tmp_path: Path) -> None:
    request = StopRequest(str(tmp_path / "cancel"), b"token")
    answer = answer_request(encode_request(BatchRequest(BATCH)))
    tasks = [finished(answer), Future[bytes](), finished(answer)]
    with RemotePool(engine(lambda _: tasks.pop(0))) as pool:
        results: Iterator[list[PackedRows]] = pool.run([BATCH] * 3, request)
        assert len(next(results)) == 1
        Path(request.path).write_bytes(request.token)
        with pytest.raises(Cancelled):
            next(results)
        assert [number for number, _ in pool.take_finished(wait=True)] == [2]


def test_a_batch_of_a_silent_machine_is_sent_again_and_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_pool, "REPEAT_SECONDS", 0.0)
    monkeypatch.setattr(remote_pool, "STOP_SECONDS", 0.01)
    answer = answer_request(encode_request(BatchRequest(BATCH)))
    tasks = [Future[bytes](), finished(answer), finished(answer)]
    with RemotePool(engine(lambda _: tasks.pop(0))) as pool:
        assert [len(parts) for parts in pool.run([BATCH] * 2)] == [1, 1]
    assert tasks == []


def test_a_batch_that_waits_for_its_turn_is_not_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    tasks: list[tuple[bytes, Future[bytes]]] = []
    taken = 0

    def submit(request: bytes) -> "Future[bytes]":
        tasks.append((request, Future()))
        return tasks[-1][1]

    def pass_time(waiting: list[Future[bytes]], *_: object) -> object:
        """Let 25 seconds pass on a cluster of one machine, which needs 50 for a batch."""
        clock[0] += 25
        if clock[0] % 50 == 0:
            request, task = tasks[taken]
            task.set_result(answer_request(request))
        return wait(waiting, 0)

    monkeypatch.setattr(remote_pool, "wait_for", pass_time)
    with RemotePool(engine(submit)) as pool:
        for _ in pool.run([BATCH] * 4):
            taken += 1
    assert (taken, len(tasks)) == (4, 4)


def test_all_batches_that_later_ones_overtook_are_sent_again_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_pool, "REPEAT_SECONDS", 0.0)
    monkeypatch.setattr(remote_pool, "STOP_SECONDS", 0.01)
    sent = []

    def submit(request: bytes) -> "Future[bytes]":
        sent.append(request)
        return Future() if len(sent) in (1, 2, 4) else answer_now(request)

    batches = [(BlobContent("python", f"def name{number}(): pass\n".encode()),) for number in range(4)]
    with RemotePool(engine(submit)) as pool:
        results = pool.run(batches)
        next(results)
        assert sent[4:] == sent[:2]  # not the fourth one: nothing says that it has started
        assert [len(parts) for parts in results] == [1, 1, 1]


def test_of_two_copies_one_that_is_lost_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_pool, "REPEAT_SECONDS", 0.0)
    monkeypatch.setattr(remote_pool, "STOP_SECONDS", 0.01)
    answer = answer_request(encode_request(BatchRequest(BATCH)))
    tasks: list[Future[bytes]] = []

    def submit(_: bytes) -> "Future[bytes]":
        tasks.append(Future() if len(tasks) % 2 == 0 else finished(answer))
        if len(tasks) % 2 == 0:
            tasks[-2].set_exception(ConnectionError("gone"))
        return tasks[-1]

    # Several batches, because it may be chance which copy is read.
    with RemotePool(engine(submit), in_flight_bytes=1) as pool:
        assert [len(parts) for parts in pool.run([BATCH] * 9)] == [1] * 9
    assert len(tasks) == 18


def test_a_node_that_refuses_does_not_hide_a_request_to_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    request = StopRequest(str(tmp_path / "cancel"), b"token")
    answer = answer_request(encode_request(BatchRequest(BATCH)))
    own = row_versions()
    with monkeypatch.context() as patch:
        patch.setattr(batch_task, "row_versions", lambda: own | {"gitmem": "0.0"})
        foreign = encode_request(BatchRequest(BATCH))
    refusal = answer_request(foreign)
    tasks = [Future[bytes](), finished(refusal), finished(answer)]
    Path(request.path).write_bytes(request.token)
    with RemotePool(engine(lambda _: tasks.pop(0))) as pool:
        with pytest.raises(Cancelled):
            next(pool.run([BATCH] * 3, request))
        assert [number for number, _ in pool.take_finished(wait=True)] == [2]
