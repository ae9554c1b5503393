"""`gc` removes what is unreachable, and nothing else, even with concurrent readers and writers."""

import json
import os
import shutil
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
from tests.indexes import index, python_file, workspace_of
from tests.sample import Cli, open_sample, segment_files, without_index_times

DAY = 86_400


STEPS = (
    ("gitmem.actions.gc", "reachable_blobs"),
    ("gitmem.actions.gc", "shrink"),
    ("gitmem.indexing.index_writer", "write_manifest"),
    ("gitmem.indexing.index_writer", "touch_file"),
    ("gitmem.indexing.index_writer", "remove_unnamed"),
    ("gitmem.actions.gc", "remove_unnamed"),
)
"""Module and name of the functions that a collection calls, in this order."""


def manifest_of(repo: Repo) -> Manifest:
    manifest = find_manifest(repo.path / ".gitmem" / "manifest")
    assert manifest is not None
    return manifest


@pytest.fixture
def unreachable(own: Repo, cli: Cli) -> Repo:
    """Index a commit that is unreachable afterwards."""
    own.git("checkout", "-q", "-b", "side")
    own.commit({"side.py": "def side_effect_handler(event):\n    return event\n"})
    assert cli("index", cwd=own.path).code == 0
    own.git("checkout", "-q", "main")
    own.git("branch", "-q", "-D", "side")
    own.git("reflog", "expire", "--expire=now", "--all")
    age_files(own, KEEP_DAYS * DAY + 60, "views")
    return own


def make_old(repo: Repo) -> None:
    """Age the files of the index beyond the grace period."""
    age_files(repo, 2 * retention.GRACE_SECONDS, "segments", "views", "graph")


def age_files(repo: Repo, seconds: float, *folders: str) -> None:
    """Set back the times of files of the index, so that they are at least this old."""
    before = time.time() - seconds
    for folder in folders:
        for file in (repo.path / ".gitmem" / folder).iterdir():
            at = min(before, file.stat().st_mtime)
            os.utime(file, (at, at))


def test_gc_now_removes_earlier_versions_of_uncommitted_files(cli: Cli, own: Repo) -> None:
    for version in ("first", "second"):
        own.write({"draft.py": f"def draft_{version}():\n    return 1\n"})
        assert cli("query", f"draft_{version}", cwd=own.path).code == 0
    age_files(own, KEEP_DAYS * DAY + 60, "views")
    assert collect(open_sample(own)).recent == 2
    assert collect(open_sample(own), now=True).blobs == 1
    assert cli("query", "draft_second", cwd=own.path).code == 0


def test_gc_removes_unreachable_blobs(cli: Cli, unreachable: Repo) -> None:
    before = manifest_of(unreachable)
    expected = without_index_times(cli("query", "--jsonl", "cookie", cwd=unreachable.path).out)
    report = collect(open_sample(unreachable))
    assert (report.blobs, report.chunks) == (1, 1)
    after = manifest_of(unreachable)
    assert after.blobs == before.blobs - 1
    assert after.generation > before.generation
    assert without_index_times(cli("query", "--jsonl", "cookie", cwd=unreachable.path).out) == expected
    assert verify(open_sample(unreachable)).sound


def test_recently_used_blobs_are_kept_unless_now_is_given(cli: Cli, own: Repo) -> None:
    own.git("checkout", "-q", "-b", "side")
    own.commit({"side.py": "def side_effect_handler(event):\n    return event\n"})
    assert cli("index", cwd=own.path).code == 0
    own.git("checkout", "-q", "main")
    own.git("branch", "-q", "-D", "side")
    own.git("reflog", "expire", "--expire=now", "--all")
    age_files(own, (KEEP_DAYS - 1) * DAY, "views")
    assert cli("gc", cwd=own.path).out.startswith(
        "removed 0 blobs, 0 chunks; 12 left; 1 blob used recently (--now removes them)"
    )
    assert cli("gc", "--dry-run", "--now", cwd=own.path).out.startswith("would remove 1 blob, 1 chunk; ")
    assert json.loads(cli("gc", "--json", cwd=own.path).out)["recent"] == 1
    assert cli("gc", "--now", cwd=own.path).out.startswith("removed 1 blob, 1 chunk; ")


def test_uncommitted_blobs_are_removed_two_weeks_after_their_last_use(
    cli: Cli, own: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def collected_blobs(*, now: bool = False) -> int:
        return collect(open_sample(own), now=now).blobs

    day = 20_000
    monkeypatch.setattr("gitmem.indexing.uncommitted_views.today", lambda: day)
    monkeypatch.setattr("gitmem.indexing.garbage.time.time", lambda: day * DAY + 1.0)
    own.write({"side.py": "def side_effect_handler(event):\n    return event\n"})
    assert cli("query", "side_effect_handler", cwd=own.path).code == 0
    day += 100
    assert (collected_blobs(), collected_blobs(now=True)) == (0, 0), "the file still exists"
    (own.path / "side.py").unlink()
    assert cli("query", "cookie", cwd=own.path).code == 0
    day += KEEP_DAYS - 1
    assert collected_blobs() == 0
    day += 2
    assert collected_blobs() == 1


def test_uncommitted_blobs_of_a_removed_working_tree_are_removed(cli: Cli, own: Repo) -> None:
    linked = Repo(own.path.parent / "linked")
    own.git("worktree", "add", "-q", str(linked.path))
    linked.write({"side.py": "def side_effect_handler(event):\n    return event\n"})
    assert cli("query", "side_effect_handler", cwd=linked.path).code == 0
    own.git("worktree", "remove", "--force", str(linked.path))
    assert collect(open_sample(own)).blobs == 0
    age_files(own, KEEP_DAYS * DAY + 60, "state", "views")
    assert collect(open_sample(own)).blobs == 1


def test_a_second_collection_removes_nothing(cli: Cli, unreachable: Repo) -> None:
    assert cli("gc", cwd=unreachable.path).out.startswith("removed 1 blob, 1 chunk; ")
    before = (unreachable.path / ".gitmem" / "manifest").read_bytes()
    assert cli("gc", cwd=unreachable.path).out.startswith("removed 0 blobs, 0 chunks; ")
    assert (unreachable.path / ".gitmem" / "manifest").read_bytes() == before


def test_a_dry_run_changes_nothing(cli: Cli, unreachable: Repo) -> None:
    before = times_of(unreachable)
    assert cli("gc", "--dry-run", cwd=unreachable.path).out.startswith("would remove 1 blob, 1 chunk; ")
    assert json.loads(cli("gc", "--dry-run", "--json", cwd=unreachable.path).out)["dry_run"] is True
    assert times_of(unreachable) == before


def times_of(repo: Repo) -> list[tuple[Path, int]]:
    """Return the times of all files of the index but the journal, in which each command is counted."""
    index = repo.path / ".gitmem"
    files = (path for path in index.rglob("*") if path != index / "state" / "measured")
    return sorted((path, path.stat().st_mtime_ns) for path in files)


@pytest.mark.parametrize("keeper", ["tag", "branch", "ref", "stash", "index", "worktree"])
def test_reachable_blobs_are_kept(cli: Cli, own: Repo, keeper: str) -> None:
    code = "def side_effect_handler(event):\n    return event\n"
    own.git("checkout", "-q", "-b", "side")
    own.commit({"side.py": code})
    assert cli("index", cwd=own.path).code == 0
    own.git("checkout", "-q", "main")
    if keeper == "tag":
        own.git("tag", "keeper", "side")
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


def test_files_are_kept_for_readers_until_the_end_of_the_grace_period(unreachable: Repo) -> None:
    old = {file.name for file in segment_files(unreachable)}
    reader = Snapshot(open_sample(unreachable).paths, manifest_of(unreachable))
    for view in (unreachable.path / ".gitmem" / "views").iterdir():
        os.utime(view)
    report = collect(open_sample(unreachable), now=True)
    assert report.files == 0
    assert report.waiting_bytes > 0
    assert old <= {file.name for file in segment_files(unreachable)}
    assert len(reader.column("start")) == reader.rows
    make_old(unreachable)
    later = collect(open_sample(unreachable))
    assert later.files >= 1
    assert later.bytes > 0
    assert {file.name for file in segment_files(unreachable)} == {
        entry.name for entry in manifest_of(unreachable).segments
    }
    assert verify(open_sample(unreachable)).sound


def test_only_the_view_of_head_is_kept(unreachable: Repo) -> None:
    views = unreachable.path / ".gitmem" / "views"
    assert sum(not file.suffix for file in views.iterdir()) == 2
    collect(open_sample(unreachable))
    make_old(unreachable)
    collect(open_sample(unreachable))
    assert [file.name for file in views.iterdir() if not file.suffix] == list(manifest_of(unreachable).views)


def test_a_collected_tree_is_indexed_again_for_a_query(cli: Cli, own: Repo) -> None:
    own.git("checkout", "-q", "-b", "side")
    commit = own.commit({"side.py": "def side_effect_handler(event):\n    return event\n"})
    cli("index", cwd=own.path)
    own.git("checkout", "-q", "main")
    own.git("branch", "-q", "-D", "side")
    own.git("reflog", "expire", "--expire=now", "--all")
    assert collect(open_sample(own), now=True).trees == 1
    outcome = cli("query", "-l", "-n", "1", "--rev", commit, "side_effect_handler", cwd=own.path)
    assert outcome.out == "side.py\n"


def test_temporary_files_of_dead_writers_are_removed(own: Repo) -> None:
    for folder in ("", "segments", "views"):
        (own.path / ".gitmem" / folder / ".something.4711.tmp").write_bytes(b"half")
    age_files(own, 2 * retention.GRACE_SECONDS, "views")
    assert collect(open_sample(own)).leftovers == 3
    assert not list((own.path / ".gitmem").rglob("*.tmp"))


def test_a_reader_during_gc_returns_the_same_results(unreachable: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = open_sample(unreachable)
    expected = [hit.blob for hit, _ in answer(workspace, Query("cookie")).hits]
    answers = []

    def search_first(*args: object, **options: object) -> object:
        answers.append([hit.blob for hit, _ in answer(workspace, Query("cookie"), refresh=False).hits])
        return original(*args, **options)

    for module, name in STEPS[2:]:
        original = getattr(import_module(module), name)
        with monkeypatch.context() as patch:
            patch.setattr(f"{module}.{name}", search_first)
            collect(workspace)
    assert answers
    assert all(hits == expected for hits in answers)


class Killed(BaseException):
    """Simulated end of the process."""


@pytest.mark.parametrize("step", STEPS, ids=".".join)
@pytest.mark.parametrize("after", [False, True])
def test_a_kill_at_any_step_leaves_a_sound_index(
    cli: Cli, unreachable: Repo, monkeypatch: pytest.MonkeyPatch, step: tuple[str, str], after: bool
) -> None:
    expected = without_index_times(cli("query", "--jsonl", "cookie", cwd=unreachable.path).out)
    module, name = step
    original = getattr(import_module(module), name)

    def die(*args: object, **options: object) -> None:
        if after:
            original(*args, **options)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(f"{module}.{name}", die)
        with pytest.raises(Killed):
            collect(open_sample(unreachable))
    assert verify(open_sample(unreachable)).sound
    assert without_index_times(cli("query", "--jsonl", "cookie", cwd=unreachable.path).out) == expected
    collect(open_sample(unreachable))
    assert verify(open_sample(unreachable)).sound


@pytest.mark.usefixtures("fake_model")
@pytest.mark.parametrize(("large", "dead", "rewritten"), [(32, 1, 0), (32, 2, 4), (33, 1, 2)])
def test_a_large_segment_is_rewritten_beyond_a_sixteenth_of_dead_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: int, dead: int, rewritten: int
) -> None:
    """A segment of 32 rows, `dead` of its 16 blobs unreachable, where `large` rows make a large segment."""
    repo = Repo.init(tmp_path / "repo")
    monkeypatch.setattr("gitmem.indexing.garbage.LARGE_ROWS", large)
    names = [f"part{number}.py" for number in range(16)]
    repo.commit({name: python_file(f"load_{name[:-3]}", f"save_{name[:-3]}") for name in names})
    index(repo)
    repo.git("rm", "--quiet", *names[:dead])
    repo.git("commit", "--quiet", "--amend", "--no-verify", "-m", "fewer")
    repo.git("reflog", "expire", "--expire=now", "--all")
    report = collect(workspace_of(repo), now=True)
    assert (report.chunks, report.chunks_left) == (rewritten, 32 - rewritten)
    assert manifest_of(repo).rows == 32 - rewritten


def test_a_damaged_segment_stops_gc_before_it_changes_anything(cli: Cli, unreachable: Repo) -> None:
    file = segment_files(unreachable)[-1]
    file.unlink()
    before = sorted(Path(unreachable.path / ".gitmem").rglob("*"))
    outcome = cli("gc", cwd=unreachable.path)
    assert outcome.code == ExitCode.FAILED
    assert "is missing" in outcome.err
    assert sorted(Path(unreachable.path / ".gitmem").rglob("*")) == before


@pytest.mark.parametrize("folder", ["state", "views", "graph"])
def test_a_removed_folder_of_the_index_does_not_stop_gc(cli: Cli, unreachable: Repo, folder: str) -> None:
    removed = unreachable.path / ".gitmem" / folder
    shutil.rmtree(removed)
    assert collect(open_sample(unreachable), dry_run=True).blobs == 1
    assert not removed.exists()
    assert cli("gc", cwd=unreachable.path).out.startswith("removed 1 blob, 1 chunk; ")
    assert removed.is_dir()
    assert verify(open_sample(unreachable), repair=folder == "views").sound
