"""`gc` takes what nothing reaches, and nothing else, whatever else goes on."""

import json
import os
import time
from importlib import import_module
from pathlib import Path

import pytest

from gitmem.actions.gc import collect
from gitmem.actions.verify import verify
from gitmem.answering.answer import answer
from gitmem.answering.search_query import Query
from gitmem.errors import ExitCode
from gitmem.indexing import retention
from gitmem.store.manifest import Manifest, find_manifest
from gitmem.store.snapshot import Snapshot
from gitmem.store.uncommitted_ids import KEEP_DAYS
from tests.gitrepo import Repo
from tests.sample import Cli, open_sample, segment_files

DAY = 86_400


STEPS = (
    ("gitmem.actions.gc", "reachable_blobs"),
    ("gitmem.actions.gc", "shrink"),
    ("gitmem.indexing.index_writer", "write_manifest"),
    ("gitmem.indexing.index_writer", "touch_file"),
    ("gitmem.indexing.index_writer", "remove_unnamed"),
    ("gitmem.actions.gc", "remove_unnamed"),
)
"""The functions that a collection calls in this order, by module."""


def manifest_of(repo: Repo) -> Manifest:
    manifest = find_manifest(repo.path / ".gitmem" / "manifest")
    assert manifest is not None
    return manifest


@pytest.fixture
def dropped(own: Repo, cli: Cli) -> Repo:
    """A repository whose index holds a commit that nothing reaches any more."""
    own.git("checkout", "-q", "-b", "side")
    own.commit({"side.py": "def side_effect_handler(event):\n    return event\n"})
    assert cli("index", cwd=own.path).code == 0
    own.git("checkout", "-q", "main")
    own.git("branch", "-q", "-D", "side")
    own.git("reflog", "expire", "--expire=now", "--all")
    let_pass(own, KEEP_DAYS * DAY + 60, "views")
    return own


def make_old(repo: Repo) -> None:
    """Let the grace period of files be over."""
    let_pass(repo, 2 * retention.GRACE_SECONDS, "segments", "views", "graph")


def let_pass(repo: Repo, seconds: float, *folders: str) -> None:
    """Make files of the index as old as this, at least."""
    before = time.time() - seconds
    for folder in folders:
        for file in (repo.path / ".gitmem" / folder).iterdir():
            at = min(before, file.stat().st_mtime)
            os.utime(file, (at, at))


def test_what_nothing_reaches_goes(cli: Cli, dropped: Repo) -> None:
    before = manifest_of(dropped)
    expected = cli("query", "--jsonl", "cookie", cwd=dropped.path).out
    made = collect(open_sample(dropped))
    assert (made.blobs, made.chunks) == (1, 1)
    after = manifest_of(dropped)
    assert after.blobs == before.blobs - 1
    assert after.generation > before.generation
    assert cli("query", "--jsonl", "cookie", cwd=dropped.path).out == expected
    assert verify(open_sample(dropped)).sound


def test_what_was_in_use_lately_stays_unless_it_shall_go_now(cli: Cli, own: Repo) -> None:
    own.git("checkout", "-q", "-b", "side")
    own.commit({"side.py": "def side_effect_handler(event):\n    return event\n"})
    assert cli("index", cwd=own.path).code == 0
    own.git("checkout", "-q", "main")
    own.git("branch", "-q", "-D", "side")
    own.git("reflog", "expire", "--expire=now", "--all")
    let_pass(own, (KEEP_DAYS - 1) * DAY, "views")
    assert cli("gc", cwd=own.path).out.startswith(
        "removed 0 blobs, 0 chunks; 12 left; 1 blob used recently (--now removes them)"
    )
    assert cli("gc", "--dry-run", "--now", cwd=own.path).out.startswith("would remove 1 blob, 1 chunk; ")
    assert json.loads(cli("gc", "--json", cwd=own.path).out)["recent"] == 1
    assert cli("gc", "--now", cwd=own.path).out.startswith("removed 1 blob, 1 chunk; ")


def test_uncommitted_work_stays_and_goes_two_weeks_after_it_was_there(
    cli: Cli, own: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def blobs_dropped(*, now: bool = False) -> int:
        return collect(open_sample(own), now=now).blobs

    day = 20_000
    monkeypatch.setattr("gitmem.indexing.uncommitted_views.today", lambda: day)
    monkeypatch.setattr("gitmem.indexing.garbage.time.time", lambda: day * DAY + 1.0)
    own.write({"side.py": "def side_effect_handler(event):\n    return event\n"})
    assert cli("query", "side_effect_handler", cwd=own.path).code == 0
    day += 100
    assert (blobs_dropped(), blobs_dropped(now=True)) == (0, 0), "it is still there"
    (own.path / "side.py").unlink()
    assert cli("query", "cookie", cwd=own.path).code == 0
    day += KEEP_DAYS - 1
    assert blobs_dropped() == 0
    day += 2
    assert blobs_dropped() == 1


def test_what_was_uncommitted_in_a_working_tree_that_is_gone_goes(cli: Cli, own: Repo) -> None:
    linked = Repo(own.path.parent / "linked")
    own.git("worktree", "add", "-q", str(linked.path))
    linked.write({"side.py": "def side_effect_handler(event):\n    return event\n"})
    assert cli("query", "side_effect_handler", cwd=linked.path).code == 0
    own.git("worktree", "remove", "--force", str(linked.path))
    assert collect(open_sample(own)).blobs == 0
    let_pass(own, KEEP_DAYS * DAY + 60, "state", "views")
    assert collect(open_sample(own)).blobs == 1


def test_a_second_run_finds_nothing(cli: Cli, dropped: Repo) -> None:
    assert cli("gc", cwd=dropped.path).out.startswith("removed 1 blob, 1 chunk; ")
    before = (dropped.path / ".gitmem" / "manifest").read_bytes()
    assert cli("gc", cwd=dropped.path).out.startswith("removed 0 blobs, 0 chunks; ")
    assert (dropped.path / ".gitmem" / "manifest").read_bytes() == before


def test_a_dry_run_changes_nothing(cli: Cli, dropped: Repo) -> None:
    before = sorted((path, path.stat().st_mtime_ns) for path in (dropped.path / ".gitmem").rglob("*"))
    assert cli("gc", "--dry-run", cwd=dropped.path).out.startswith("would remove 1 blob, 1 chunk; ")
    assert json.loads(cli("gc", "--dry-run", "--json", cwd=dropped.path).out)["dry_run"] is True
    assert sorted((path, path.stat().st_mtime_ns) for path in (dropped.path / ".gitmem").rglob("*")) == before


@pytest.mark.parametrize("keeper", ["tag", "branch", "ref", "stash", "index", "worktree"])
def test_what_anything_reaches_stays(cli: Cli, own: Repo, keeper: str) -> None:
    code = "def side_effect_handler(event):\n    return event\n"
    own.git("checkout", "-q", "-b", "side")
    own.commit({"side.py": code})
    assert cli("index", cwd=own.path).code == 0
    own.git("checkout", "-q", "main")
    if keeper == "tag":
        own.git("tag", "kept", "side")
    elif keeper == "ref":
        own.git("update-ref", "refs/kept/side", "side")
    elif keeper == "stash":
        own.write({"side.py": code})
        own.git("add", "side.py")
        own.git("stash", "push", "-q")
    elif keeper == "index":
        own.write({"side.py": code})
        own.git("add", "side.py")
    elif keeper == "worktree":
        own.git("worktree", "add", "-q", "--detach", str(own.path.parent / "linked"), "side")
    if keeper != "branch":
        own.git("branch", "-q", "-D", "side")
    if keeper != "stash":
        own.git("reflog", "expire", "--expire=now", "--all")
    assert collect(open_sample(own)).blobs == 0


def test_files_stay_for_readers_until_their_grace_period_is_over(dropped: Repo) -> None:
    old = {file.name for file in segment_files(dropped)}
    reader = Snapshot(open_sample(dropped).paths, manifest_of(dropped))
    for view in (dropped.path / ".gitmem" / "views").iterdir():
        os.utime(view)
    made = collect(open_sample(dropped), now=True)
    assert made.files == 0
    assert made.waiting_bytes > 0
    assert old <= {file.name for file in segment_files(dropped)}
    assert len(reader.column("start")) == reader.rows
    make_old(dropped)
    later = collect(open_sample(dropped))
    assert later.files >= 1
    assert later.bytes > 0
    assert {file.name for file in segment_files(dropped)} == {entry.name for entry in manifest_of(dropped).segments}
    assert verify(open_sample(dropped)).sound


def test_views_of_forgotten_trees_go_and_that_of_head_stays(dropped: Repo) -> None:
    views = dropped.path / ".gitmem" / "views"
    assert len(list(views.iterdir())) == 2
    collect(open_sample(dropped))
    make_old(dropped)
    collect(open_sample(dropped))
    assert [file.name for file in views.iterdir()] == list(manifest_of(dropped).views)


def test_a_dropped_tree_is_indexed_again_when_asked_for(cli: Cli, own: Repo) -> None:
    own.git("checkout", "-q", "-b", "side")
    commit = own.commit({"side.py": "def side_effect_handler(event):\n    return event\n"})
    cli("index", cwd=own.path)
    own.git("checkout", "-q", "main")
    own.git("branch", "-q", "-D", "side")
    own.git("reflog", "expire", "--expire=now", "--all")
    assert collect(open_sample(own), now=True).trees == 1
    made = cli("query", "-l", "-n", "1", "--rev", commit, "side_effect_handler", cwd=own.path)
    assert made.out == "side.py\n"


def test_leftovers_of_dead_writers_go(own: Repo) -> None:
    for place in ("", "segments", "views"):
        (own.path / ".gitmem" / place / ".something.4711.tmp").write_bytes(b"half")
    let_pass(own, 2 * retention.GRACE_SECONDS, "views")
    assert collect(open_sample(own)).leftovers == 3
    assert not list((own.path / ".gitmem").rglob("*.tmp"))


def test_a_reader_during_gc_answers_as_before(dropped: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = open_sample(dropped)
    expected = [hit.blob for hit, _ in answer(workspace, Query("cookie")).hits]
    seen = []

    def ask_first(*args: object, **options: object) -> object:
        seen.append([hit.blob for hit, _ in answer(workspace, Query("cookie"), refresh=False).hits])
        return original(*args, **options)

    for module, name in STEPS[2:]:
        original = getattr(import_module(module), name)
        with monkeypatch.context() as patch:
            patch.setattr(f"{module}.{name}", ask_first)
            collect(workspace)
    assert seen
    assert all(found == expected for found in seen)


class Killed(BaseException):
    """Stands for the end of the process at one place."""


@pytest.mark.parametrize("step", STEPS, ids=".".join)
@pytest.mark.parametrize("after", [False, True])
def test_an_end_at_any_step_leaves_a_whole_index(
    cli: Cli, dropped: Repo, monkeypatch: pytest.MonkeyPatch, step: tuple[str, str], after: bool
) -> None:
    expected = cli("query", "--jsonl", "cookie", cwd=dropped.path).out
    module, name = step
    original = getattr(import_module(module), name)

    def die(*args: object, **options: object) -> None:
        if after:
            original(*args, **options)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(f"{module}.{name}", die)
        with pytest.raises(Killed):
            collect(open_sample(dropped))
    assert verify(open_sample(dropped)).sound
    assert cli("query", "--jsonl", "cookie", cwd=dropped.path).out == expected
    collect(open_sample(dropped))
    assert verify(open_sample(dropped)).sound


def test_a_damaged_segment_stops_gc_before_it_changes_anything(cli: Cli, dropped: Repo) -> None:
    file = segment_files(dropped)[-1]
    file.unlink()
    before = sorted(Path(dropped.path / ".gitmem").rglob("*"))
    made = cli("gc", cwd=dropped.path)
    assert made.code == ExitCode.FAILED
    assert "is missing" in made.err
    assert sorted(Path(dropped.path / ".gitmem").rglob("*")) == before
