"""What happens around an index: git packs and prunes, the clock jumps, somebody copies it, files go under a reader."""

import faulthandler
import json
import os
import shutil
import signal
import stat
import threading
from pathlib import Path

import pytest

from gitmem.actions.cancel import cancel
from gitmem.actions.gc import collect
from gitmem.answering.answer import answer
from gitmem.answering.search_query import Query
from gitmem.answering.searcher import open_searcher
from gitmem.errors import Busy, ExitCode
from gitmem.freshness.compaction import compact_in_background
from gitmem.freshness.tree_selection import WORKING_TREE, TreeSelection
from gitmem.store.manifest import find_manifest
from gitmem.workspace import open_snapshot, require_index
from tests.cli.test_cancel import PATIENCE, running
from tests.faults.chaos import REFUSED, run_copy
from tests.faults.oracle import differences, find_faults, from_scratch, small_steps
from tests.faults.worlds import fill
from tests.gitrepo import Repo
from tests.indexes import brief_hits, index, search, workspace_of
from tests.mcp.clients import RawClient
from tests.sample import Cli, assert_error

CENTURY = 100 * 365.25 * 86_400


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo.init(tmp_path / "repo")
    fill(made, "base", 10)
    return made


@pytest.mark.usefixtures("fake_model")
def test_git_may_pack_and_prune_under_an_open_search(repo: Repo) -> None:
    index(repo)
    before = brief_hits(search(repo, "base load"))
    held = open_snapshot(workspace_of(repo), require_index(workspace_of(repo)))
    for command in (("gc", "--prune=now", "--quiet"), ("repack", "-adfq"), ("multi-pack-index", "write"),
                    ("commit-graph", "write", "--reachable"), ("prune-packed",)):  # fmt: skip
        repo.git(*command)
        assert brief_hits(search(repo, "base load")) == before
    fill(repo, "more", 6)
    assert index(repo).embedded == 6
    assert held.rows == 20


@pytest.mark.usefixtures("fake_model")
def test_a_blob_that_is_gone_is_reported_and_the_rest_indexed(repo: Repo) -> None:
    repo.commit({"lost.py": "def lost():\n    return 1\n"})
    repo.loose_object(repo.oid("HEAD:lost.py")).unlink()
    made = index(repo)
    assert made.status == "partial"
    assert made.problems[0].startswith("lost.py: the blob ")
    assert len(brief_hits(search(repo, "base load"))) > 0


@pytest.mark.parametrize("leap", [-86_400.0, 86_400.0, -CENTURY / 2, CENTURY])
def test_a_clock_that_jumps_costs_nothing_that_is_needed(repo: Repo, tmp_path: Path, leap: float) -> None:
    with small_steps():
        index(repo)
        for path in (repo.path / ".gitmem").rglob("*"):
            os.utime(path, (max(0.0, path.stat().st_mtime + leap),) * 2)
        fill(repo, "more", 6)
        index(repo)
        collect(workspace_of(repo))
        collect(workspace_of(repo), now=True)
        assert find_faults(workspace_of(repo).paths) == []
        assert differences(repo, from_scratch(repo, tmp_path / "scratch")) == []


def test_a_copy_made_while_it_is_written_is_whole_or_says_what_it_lacks(repo: Repo, tmp_path: Path) -> None:
    with small_steps(grace=0.0):
        index(repo)
        done = threading.Event()
        copies: list[Path] = []

        def copy() -> None:
            while not done.is_set() and len(copies) < 12:
                target = tmp_path / f"copy{len(copies)}"
                try:
                    shutil.copytree(repo.path / ".gitmem", target)
                except shutil.Error:  # some files went while it copied
                    shutil.rmtree(target)
                    continue
                copies.append(target)

        copier = threading.Thread(target=copy)
        copier.start()
        for number in range(6):
            fill(repo, f"step{number}", 4)
            index(repo, full=number % 2 == 1)
            collect(workspace_of(repo), now=True)
        done.set()
        copier.join()
        assert copies
        fresh = from_scratch(repo, tmp_path / "scratch")
        right = brief_hits(search(fresh, "base load"))
        shutil.rmtree(repo.path / ".gitmem")
        for taken in copies:
            taken.rename(repo.path / ".gitmem")
            try:
                if find_manifest(workspace_of(repo).paths.manifest) is not None:
                    made = answer(workspace_of(repo), Query("base load"), TreeSelection("HEAD"), refresh=False)
                    assert made.view.stale or made.notes or brief_hits(made) == right
                index(repo)
                assert differences(repo, fresh) == []
            finally:
                shutil.rmtree(repo.path / ".gitmem")


@pytest.mark.usefixtures("fake_model")
def test_a_reader_whose_files_are_gone_looks_again_unseen(repo: Repo) -> None:
    with small_steps(grace=0.0):
        index(repo)
        workspace = workspace_of(repo)
        old = require_index(workspace)
        for number in range(8):
            fill(repo, f"step{number}", 4)
            index(repo)
        assert compact_in_background(workspace) > 0
        gone = [entry.name for entry in old.segments if not workspace.paths.segment(entry.name).exists()]
        assert gone, "no file went: the test shows nothing"
        snapshot = open_snapshot(workspace, old)
        assert snapshot.lost == []
        assert snapshot.manifest.generation > old.generation


@pytest.mark.usefixtures("fake_model")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, to survive a crash")
def test_a_segment_that_somebody_cuts_short_under_an_open_search_is_damage_and_no_crash(repo: Repo) -> None:
    index(repo)
    searcher = open_searcher(workspace_of(repo), WORKING_TREE)
    (segment,) = (repo.path / ".gitmem" / "segments").iterdir()
    os.truncate(segment, 0)

    def touch() -> None:
        faulthandler.disable()  # it would tell of the end that is wanted here
        searcher.snapshot.segments[0].check_blocks()

    def run_search() -> None:
        searcher.find(Query("base load"), 5)

    assert run_copy(touch)[0] == -signal.SIGBUS, "nothing was cut short: the test shows nothing"
    assert run_copy(run_search)[0] == REFUSED


def test_a_server_whose_segment_is_cut_short_goes_on(
    cli: Cli, own: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITMEM_NO_REGISTRY")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert cli("repos", "add", str(own.path), cwd=own.path).code == 0
    outside = tmp_path / "outside"
    outside.mkdir()
    question = {"query": "sign the cookie", "root": str(own.path)}
    # A server in a repository searches it once at its start, perhaps until after the first answer. Nothing helps a
    # search that is under way when its file is cut short, so this server starts elsewhere.
    with RawClient(outside) as client:
        client.greet()
        before = client.call(1, "search", **question)
        for segment in (own.path / ".gitmem" / "segments").iterdir():
            os.truncate(segment, 0)
        after = client.call(2, "search", **question).splitlines()
        (note,) = (line for line in after if line.startswith("note: "))
        assert note.endswith(" is damaged: truncated; rebuilt")
        assert [line for line in after if line != note] == before.splitlines()
        assert client.call(3, "search", **question) == before
        assert client.close() == 0


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs a system that can stop a process")
@pytest.mark.usefixtures("fake_model")
def test_while_a_writer_is_stopped_others_read_and_are_told_to_wait(cli: Cli, tmp_path: Path) -> None:
    made = Repo.init(tmp_path / "stopped")
    made.commit({f"part{n:03}.py": f"def load_{n}(value):\n    return {n}\n" for n in range(60)})
    index(made)
    made.commit({f"more{n:03}.py": f"def save_{n}(value):\n    return {n}\n" for n in range(300)})
    with running(made, "index") as writer:
        writer.send_signal(signal.SIGSTOP)
        try:
            assert_error(
                cli("index", "--no-wait", cwd=made.path), ExitCode.BUSY, "another process is writing this index"
            )
            asked = cli("query", "-l", "-n", "1", "load 7", cwd=made.path)
            assert (asked.code, asked.out) == (0, "part007.py\n")
            told = cli("query", "--json", "load 7", cwd=made.path)
            assert json.loads(told.out)["view"]["stale"] is True
            with pytest.raises(Busy, match="did not stop"):
                cancel(workspace_of(made), max_wait=0.2)
        finally:
            writer.send_signal(signal.SIGCONT)
        out, err = writer.communicate(timeout=PATIENCE)
        assert (writer.returncode, out) == (5, ""), "it was asked to stop while it could not hear it"
        assert "stopped by `gitmem cancel`" in err
    assert find_faults(workspace_of(made).paths) == []
    assert index(made).embedded < 300
    assert differences(made, from_scratch(made, tmp_path / "scratch")) == []


def test_whatever_the_umask_the_index_is_for_its_owner_alone(cli: Cli, repo: Repo) -> None:
    before = os.umask(0)
    try:
        assert cli("init", "--no-mcp", "--no-hooks", cwd=repo.path).code == 0
        fill(repo, "more", 3)
        commands = (
            ("index",),
            ("query", "base load"),
            ("query", "--rev", "HEAD~1", "base"),
            ("gc", "--now"),
            ("verify",),
        )
        for args in commands:
            assert cli(*args, cwd=repo.path).code == 0
    finally:
        os.umask(before)
    for path in [repo.path / ".gitmem", *(repo.path / ".gitmem").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert stat.S_IMODE((repo.path / ".git" / "gitmem-made-here").stat().st_mode) == 0o600
    exclude, head = repo.path / ".git" / "info" / "exclude", repo.path / ".git" / "HEAD"
    assert stat.S_IMODE(exclude.stat().st_mode) == stat.S_IMODE(head.stat().st_mode)
