"""The tools of toolset `admin`: they change the index and the processes of the user, and no record."""

import json
import os
import threading
from collections.abc import Iterable, Iterator
from itertools import pairwise

import pytest
from mcp.client.client import Client

from gitmem.actions.cancel import cancel
from gitmem.actions.watched_run import MODES, describe_progress, update_index
from gitmem.errors import Busy, Cancelled
from gitmem.freshness.cancellation import read_run
from gitmem.freshness.index_report import IndexReport
from gitmem.indexing.run import Progress
from gitmem.indexing.stop_request import StopRequest
from gitmem.indexing.worker_protocol import Batch, PackedRows
from gitmem.locks import writer_lock
from gitmem.mcp.tools.admin_tools import MODES as OFFERED_MODES
from gitmem.mcp.tools.tool_call import ToolCall
from gitmem.resident.call import Call, CallCancelled
from gitmem.workspace import open_workspace
from tests.gitrepo import Repo
from tests.indexes import InlinePool
from tests.mcp.clients import ask, refused, talk

held = threading.Event()


class HoldingPool(InlinePool):
    """Pool that holds until somebody asks the run to stop."""

    def run(self, batches: Iterable[Batch], stop: StopRequest | None = None) -> Iterator[list[PackedRows]]:
        assert stop is not None
        held.set()
        while not stop.is_made():
            threading.Event().wait(0.005)
        yield from super().run(batches, stop)


@pytest.fixture
def holding(own: Repo, fake_model: object, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """Return a repository whose next run holds."""
    monkeypatch.setattr("gitmem.indexing.run.Pool", HoldingPool)
    own.write({"src/new.py": "def new() -> int:\n    return 1\n"})
    held.clear()
    return own


def test_the_tools_offer_the_modes_of_a_run() -> None:
    assert OFFERED_MODES == MODES


def test_an_index_is_updated_reset_and_previewed(own: Repo) -> None:
    own.write({"src/new.py": "def brand_new() -> int:\n    return 1\n"})

    async def action(client: Client) -> None:
        stored = await ask(client, "memory_store", content="Keys rotate weekly.")
        preview = json.loads(await ask(client, "index_update", dry_run=True, format="json"))
        assert (preview["dry_run"], preview["blobs_embedded"]) == (True, 1)
        for mode in ("full", "reset"):
            whole = json.loads(await ask(client, "index_update", dry_run=True, mode=mode, format="json"))
            assert whole["blobs_embedded"] > 1
        assert "would index" in await ask(client, "index_update", dry_run=True)
        report = json.loads(await ask(client, "index_update", format="json"))
        assert (report["status"], report["blobs_embedded"]) == ("success", 1)
        assert (await ask(client, "index_update", mode="reset")).startswith("success: ")
        assert await ask(client, "index_cancel") == "no index run to stop"
        assert stored.split()[1] in await ask(client, "get", ids=[stored.split()[1]])
        assert "src/new.py" in await ask(client, "search", query="brand_new")

    talk(own.path, action, "search,memory,admin")


def test_a_verbose_update_names_the_skipped_files(own: Repo) -> None:
    own.write({"big.py": "x = 1\n" * 300_000, "data.bin": b"a\0b", "latin.xyz": "caf\xe9".encode("latin-1")})

    async def action(client: Client) -> None:
        preview = await ask(client, "index_update", dry_run=True, verbose=True)
        assert "large: big.py, 1,800,000 bytes of at most 1,048,576" in preview
        plain = (await ask(client, "index_update")).splitlines()
        assert plain[1].startswith("skipped ")
        assert "big.py" not in "".join(plain)
        lines = (await ask(client, "index_update", verbose=True)).splitlines()
        assert lines[0] == "the index is up to date"
        assert {"binary: data.bin, 3 bytes", "read as Latin-1: latin.xyz"} <= set(lines)
        assert [line for line in lines if line.startswith("without a grammar: ") and ".xyz 1" in line]
        report = json.loads(await ask(client, "index_update", verbose=True, format="json"))
        assert {"path": "data.bin", "reason": "binary", "size": 3, "limit": None} in report["skipped_files"]
        assert "skipped_files" not in json.loads(await ask(client, "index_update", format="json"))

    talk(own.path, action, "admin")


def test_an_answer_names_a_limited_number_of_files(own: Repo) -> None:
    own.write({f"data{number}.bin": b"a\0b" for number in range(130)})

    async def action(client: Client) -> None:
        lines = (await ask(client, "index_update", verbose=True)).splitlines()
        assert len([line for line in lines if line.startswith("binary: ")]) <= 100
        assert any(line.endswith(" more files") for line in lines)
        report = json.loads(await ask(client, "index_update", verbose=True, format="json"))
        assert len(report["skipped_files"]) == 100
        assert report["more_skipped_files"] == sum(report["skipped"].values()) - 100

    talk(own.path, action, "admin")


def test_other_folders_are_out_of_reach(own: Repo) -> None:
    other = Repo(own.path.with_name("other"))
    other.path.mkdir()
    other.git("init", "-q")

    async def action(client: Client) -> None:
        for tool in ("index_update", "index_cancel", "config_reload"):
            assert "gitmem has no access" in await refused(client, tool, root=str(other.path))

    talk(own.path, action, "admin")
    assert not (other.path / ".gitmem").exists()


def test_a_busy_index_is_an_error(own: Repo) -> None:
    own.write({"src/new.py": "def new() -> int:\n    return 1\n"})
    workspace = open_workspace(own.path, os.environ)
    with writer_lock(workspace.paths.lock, wait=False), pytest.raises(Busy):
        update_index(workspace, "incremental", Call())


def test_a_run_may_wait_for_another_process_but_not_for_one_of_its_own(own: Repo) -> None:
    class WatchedCall(Call):
        def wait(self, event: threading.Event, seconds: float) -> bool:
            waiting.set()
            return super().wait(event, seconds)

    waiting = threading.Event()
    own.write({"src/new.py": "def new() -> int:\n    return 1\n"})
    workspace = open_workspace(own.path, os.environ)
    reports: list[IndexReport] = []
    thread = threading.Thread(
        target=lambda: reports.append(update_index(workspace, "incremental", WatchedCall(), wait=True))
    )
    with writer_lock(workspace.paths.lock, wait=False):
        thread.start()
        assert waiting.wait(60)
        with pytest.raises(Busy, match="this server is indexing"):
            update_index(workspace, "incremental", Call(), wait=True)
    thread.join(60)
    assert [report.embedded for report in reports] == [1]


def test_a_cancelled_call_stops_its_run(holding: Repo) -> None:
    workspace = open_workspace(holding.path, os.environ)
    call = Call()

    def cancel_call() -> None:
        assert held.wait(60)
        call.cancel()

    threading.Thread(target=cancel_call).start()
    with pytest.raises(CallCancelled):
        update_index(workspace, "incremental", call)
    # The run is free to end a moment later; its lock says that it has ended.
    with writer_lock(workspace.paths.lock, wait=True):
        assert read_run(workspace.paths) is None


def test_a_run_that_somebody_else_stops_ends_the_call(holding: Repo) -> None:
    workspace = open_workspace(holding.path, os.environ)
    threading.Thread(target=lambda: held.wait(60) and cancel(workspace)).start()
    with pytest.raises(Cancelled, match="stopped by `gitmem cancel`"):
        update_index(workspace, "incremental", Call())


def test_a_run_reports_its_progress(own: Repo, fake_model: object, monkeypatch: pytest.MonkeyPatch) -> None:
    class SlowPool(InlinePool):
        def run(self, batches: Iterable[Batch], stop: StopRequest | None = None) -> Iterator[list[PackedRows]]:
            yield from super().run(batches, stop)
            assert reported.wait(60)  # the run has reported its batches; wait until the client knows

    reported = threading.Event()
    messages: list[tuple[float, float | None, str]] = []

    def receive(*report: object) -> None:
        messages.append(report)  # type: ignore[arg-type]
        reported.set()

    monkeypatch.setattr("gitmem.indexing.run.Pool", SlowPool)
    own.write({"src/new.py": "def new() -> int:\n    return 1\n"})
    update_index(open_workspace(own.path, os.environ), "incremental", Call(receive))
    done, total, message = messages[-1]
    assert total is not None
    assert done <= total
    assert message.endswith((" file", " files"))


def test_every_value_of_the_progress_exceeds_the_one_before() -> None:
    reports: list[tuple[float, float | None, str]] = []
    call = ToolCall(lambda *report: reports.append(report))
    for done, total in [(0, 3), (0, 3), (2, 3), (2, 3), (2, 3), (1, 4), (3, 3), (3, 3), (4, None), (4, None)]:
        call.report_progress(done, total, str(done))
    values = [value for value, _, _ in reports]
    assert len(values) == 9
    assert all(before < after for before, after in pairwise(values))
    assert all(total is None or value <= total for value, total, _ in reports)


def test_the_progress_says_what_a_run_waits_for() -> None:
    assert describe_progress(Progress(3, blobs=2)) == "2 of 3 files"
    assert describe_progress(Progress(3, blobs=2, waiting="60 s for the provider")) == (
        "2 of 3 files; 60 s for the provider"
    )


def test_the_configuration_is_read_again_and_the_former_one_stays_if_it_is_wrong(own: Repo) -> None:
    async def action(client: Client) -> None:
        await ask(client, "search", query="cookie")
        own.git("config", "gitmem.searchDefaultLimit", "3")
        value = json.loads(await ask(client, "config_reload", format="json"))
        assert value == {"changed": ["gitmem.searchDefaultLimit"], "needs_reindex": False}
        own.git("config", "gitmem.searchDefaultLimit", "0")
        assert "gitmem.searchDefaultLimit" in await refused(client, "config_reload")
        own.git("config", "--unset", "gitmem.searchDefaultLimit")
        assert "src/" in await ask(client, "search", query="cookie")
        assert await ask(client, "config_reload") == "reloaded; changed: nothing"

    talk(own.path, action, "search,admin")
