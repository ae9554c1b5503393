"""Refreshing: after any earlier runs and interruptions, the index equals one built from scratch."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem import fsio
from gitmem.answering.answer import answer
from gitmem.answering.search_query import Query
from gitmem.errors import Busy, NewerFormat, NoIndex, StorageFailed
from gitmem.freshness.refresh import refresh
from gitmem.indexing.retention import GRACE_SECONDS, remove_unnamed
from gitmem.indexing.views import ensure_view
from gitmem.locks import writer_lock
from gitmem.store.format import FORMAT
from gitmem.store.manifest import find_manifest
from gitmem.store.snapshot import Snapshot
from gitmem.streamed_file import StreamedFile
from tests.gitrepo import Repo
from tests.indexes import (
    HashEncoder,
    InlinePool,
    brief_hits,
    dump_outcomes,
    dump_rows,
    files_in,
    index,
    manifest_of,
    python_file,
    search,
    snapshot_of,
    workspace_of,
)

FILES: dict[str, str | bytes] = {
    "src/cookies.py": python_file("sign_cookie", "load_cookie"),
    "src/routes.py": python_file("match_route", "add_route"),
    "docs/guide.md": "# Guide\n\n## Backups\n\nCopy the database every night.\n",
    "empty.py": "",
    "logo.png": b"\x89PNG\0\0",
}
QUERIES = ("sign cookie", "match_route", "copy the database", "load the table of a value")

Pool = type[InlinePool]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit(FILES)
    return repo


def from_scratch(repo: Repo, place: Path) -> Repo:
    """Clone the commits without the index, and index them in one run."""
    clone = Repo(place)
    repo.git("clone", "--quiet", "--no-local", str(repo.path), str(place))
    index(clone)
    return clone


def answers(repo: Repo) -> list[Any]:
    return [brief_hits(search(repo, query)) for query in QUERIES]


def rows_of_head(repo: Repo) -> set[Any]:
    blobs = {line.split()[2] for line in repo.git("ls-tree", "-r", "HEAD").splitlines()}
    return {row for row in dump_rows(snapshot_of(repo)) if row.blob in blobs}


def assert_like_from_scratch(repo: Repo, place: Path) -> None:
    fresh = from_scratch(repo, place)
    assert rows_of_head(repo) == rows_of_head(fresh)
    assert answers(repo) == answers(fresh)


class Killed(BaseException):
    """Simulated kill, which no handler may catch."""


# -- which changes cost embedding


def test_a_second_run_has_nothing_to_do(repo: Repo, fake_model: Pool) -> None:
    assert index(repo).embedded == len(FILES) - 1  # the picture is skipped by its name
    assert index(repo).up_to_date
    assert fake_model.digested == len(FILES) - 1


@pytest.mark.parametrize(
    "change",
    [
        "mv src/cookies.py src/biscuits.py",
        "cp src/cookies.py src/again.py",
        "chmod",
        "branch",
        "revert",
        "amend",
        "all",
    ],
)
def test_moving_known_content_embeds_nothing(repo: Repo, fake_model: Pool, change: str) -> None:
    index(repo)
    repo.commit({"src/cookies.py": python_file("sign_cookie", "other")})
    index(repo)
    digested = fake_model.digested
    if change.startswith("mv"):
        repo.git("mv", *change.split()[1:])
    elif change.startswith("cp"):
        shutil.copy(repo.path / "src/cookies.py", repo.path / "src/again.py")
    elif change == "chmod":
        repo.git("update-index", "--chmod=+x", "src/cookies.py")
    elif change == "branch":
        repo.git("switch", "--quiet", "--create", "old", "HEAD~1")
    elif change == "revert":
        repo.git("revert", "--no-edit", "HEAD")
    elif change == "amend":
        repo.git("commit", "--quiet", "--amend", "-m", "other words")
    else:
        repo.git("mv", "src", "lib")
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--allow-empty", "--no-verify", "-m", change)
    report = index(repo)
    assert (report.embedded, report.chunks_added) == (0, 0)
    assert fake_model.digested == digested


def test_a_new_suffix_changes_the_language_and_embeds_again(repo: Repo, fake_model: Pool) -> None:
    index(repo)
    repo.git("mv", "src/cookies.py", "src/cookies.txt")
    repo.commit()
    assert index(repo).embedded == 1
    assert {row.language for row in rows_of_head(repo) if row.requested_language == "text"} == {"text"}


def test_commits_of_files_without_chunks_are_indexed_and_searched(repo: Repo, fake_model: Pool) -> None:
    index(repo)
    for name, content in (
        ("nothing.py", "\n\n"),
        ("bin.dat", b"\0\1"),
        ("lfs", b"version https://git-lfs.github.com/spec/v1\n"),
    ):
        repo.commit({name: content})
        assert index(repo).chunks_added == 0
        assert brief_hits(search(repo, "sign cookie"))[0][0] == "src/cookies.py"


def test_the_index_of_an_empty_tree_or_repository_has_no_hits(tmp_path: Path, fake_model: Pool) -> None:
    repo = Repo.init(tmp_path / "bare")
    index(repo)
    repo.commit()
    assert index(repo).files == 0
    assert brief_hits(search(repo, "anything")) == []


# -- incremental equals from scratch

names = st.sampled_from(["a.py", "b.py", "lib/c.py", "lib/d.txt", "d.md"])
words = st.lists(st.sampled_from(["sign_cookie", "load_cookie", "match_route", "table"]), max_size=3, unique=True)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), names, words),
        st.tuples(st.just("remove"), names, st.just([])),
        st.tuples(st.just("back"), st.just(""), st.just([])),
        st.tuples(st.just("index"), st.just(""), st.just([])),
        st.tuples(st.just("full"), st.just(""), st.just([])),
    ),
    min_size=2,
    max_size=10,
)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(steps=steps)
def test_any_sequence_of_commits_and_runs_equals_one_run_from_scratch(
    tmp_path_factory: pytest.TempPathFactory, fake_model: Pool, steps: list[tuple[str, str, list[str]]]
) -> None:
    place = tmp_path_factory.mktemp("sequence")
    repo = Repo.init(place / "repo")
    repo.commit({"a.py": python_file("start")})
    for step, name, words in steps:
        if step == "write":
            repo.commit({name: python_file(*words) if name.endswith(".py") else " ".join(words)})
        elif step == "remove":
            repo.git("rm", "--quiet", "--ignore-unmatch", name)
            repo.commit()
        elif step == "back":
            first = repo.git("rev-list", "--count", "HEAD") == "1"
            repo.git("reset", "--quiet", "--hard", "HEAD" if first else "HEAD~1")
        else:
            index(repo, full=step == "full")
    index(repo)
    assert_like_from_scratch(repo, place / "fresh")


def test_segments_of_many_small_commits_are_merged_without_changing_answers(
    repo: Repo, fake_model: Pool, tmp_path: Path
) -> None:
    index(repo)
    max_segments = 0
    for number in range(40):
        repo.commit({f"src/part{number}.py": python_file(f"step_{number}")})
        index(repo)
        max_segments = max(max_segments, len(manifest_of(repo).segments))
    assert max_segments <= 8
    assert fake_model.digested == len(FILES) - 1 + 40
    assert_like_from_scratch(repo, tmp_path / "fresh")


def test_answers_do_not_depend_on_the_index_of_other_branches(repo: Repo, fake_model: Pool, tmp_path: Path) -> None:
    repo.git("switch", "--quiet", "--create", "noise")
    repo.commit({f"noise{number}.py": python_file("sign_cookie", f"cookie_{number}") for number in range(20)})
    index(repo)
    repo.git("switch", "--quiet", "main")
    index(repo)
    fresh = Repo(tmp_path / "fresh")
    repo.git("clone", "--quiet", "--single-branch", "--branch", "main", "--no-local", str(repo.path), str(fresh.path))
    index(fresh)
    assert answers(repo) == answers(fresh)


# -- interruptions


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Make the n-th published file fail: `writes["fail"] = n, error`."""
    state: dict[str, Any] = {"count": 0, "fail": (0, None)}
    real, real_publish = fsio.write_atomic, StreamedFile.publish

    def count() -> None:
        state["count"] += 1
        failing, error = state["fail"]
        if state["count"] == failing:
            raise error

    def write_atomic(path: Path, parts: Any, **options: Any) -> None:
        count()
        real(path, parts, **options)

    def publish(file: StreamedFile, target: Path) -> None:
        count()
        real_publish(file, target)

    for module in ("fsio", "workspace", "store.manifest", "store.stored_view"):
        monkeypatch.setattr(f"gitmem.{module}.write_atomic", write_atomic)
    monkeypatch.setattr(StreamedFile, "publish", publish)
    return state


@pytest.mark.parametrize("error", [StorageFailed("no space"), Killed()], ids=["disk full", "killed"])
@pytest.mark.parametrize("indexed_before", [False, True], ids=["first run", "later run"])
def test_a_run_interrupted_at_any_write_leaves_the_old_or_the_new_index(
    repo: Repo,
    fake_model: Pool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    writes: dict[str, Any],
    error: BaseException,
    indexed_before: bool,
) -> None:
    monkeypatch.setattr("gitmem.indexing.blob_batches.BATCH_BLOBS", 1)
    monkeypatch.setattr("gitmem.indexing.run.FLUSH_ROWS", 1)
    if indexed_before:
        index(repo)
        repo.commit({"src/more.py": python_file("sign_more"), "src/yet.py": python_file("yet_more")})
    fresh = from_scratch(repo, tmp_path / "fresh")
    expected, failing_write = answers(fresh), 0
    while True:
        failing_write += 1
        copy = Repo(tmp_path / f"torn{failing_write}")
        shutil.copytree(repo.path, copy.path)
        before = find_manifest(workspace_of(copy).paths.manifest)
        writes.update(count=0, fail=(failing_write, error))
        try:
            index(copy)
        except (StorageFailed, Killed):
            writes["fail"] = (0, None)
        else:
            break
        assert before is None or manifest_of(copy).segments[: len(before.segments)] == before.segments
        manifest = find_manifest(workspace_of(copy).paths.manifest)
        assert manifest is None or not Snapshot(workspace_of(copy).paths, manifest).lost
        with writer_lock(workspace_of(copy).paths.lock, wait=False):
            pass
        index(copy)
        assert answers(copy) == expected
        assert rows_of_head(copy) == rows_of_head(fresh)
        shutil.rmtree(copy.path)
    assert failing_write > (3 if indexed_before else 8), "the fault was never injected"


def test_a_run_interrupted_after_a_segment_keeps_that_segment(
    repo: Repo, fake_model: Pool, monkeypatch: pytest.MonkeyPatch, writes: dict[str, Any]
) -> None:
    monkeypatch.setattr("gitmem.indexing.blob_batches.BATCH_BLOBS", 1)
    monkeypatch.setattr("gitmem.indexing.run.FLUSH_ROWS", 1)
    writes["fail"] = (9, Killed())
    with pytest.raises(Killed):
        index(repo)
    writes["fail"] = (0, None)
    stored = manifest_of(repo).blobs
    assert not manifest_of(repo).complete
    digested = fake_model.digested
    index(repo)
    assert 0 < stored < len(FILES) - 1
    assert fake_model.digested - digested == len(FILES) - 1 - stored


def test_a_killed_process_needs_no_repair(repo: Repo, tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\nfrom pathlib import Path\n"
        "from gitmem.workspace import open_workspace\nfrom gitmem.freshness.refresh import refresh\n"
        "import gitmem.indexing.run as run\nfrom gitmem.indexing import blob_batches\n"
        "blob_batches.BATCH_BLOBS = run.FLUSH_ROWS = 1\nreal = run.write_segment\n"
        "def write(*args, **options):\n    segment = real(*args, **options)\n    write.left -= 1\n"
        "    if not write.left:\n        os.kill(os.getpid(), signal.SIGKILL)\n    return segment\n"
        "write.left = int(sys.argv[2])\nrun.write_segment = write\n"
        "place = open_workspace(Path(sys.argv[1]), {})\nrefresh(place, place.location.head_tree)\n"
    )
    for segments in (1, 3):
        command = [sys.executable, "-c", program, str(repo.path), str(segments)]
        assert subprocess.run(command, check=False).returncode == -9
        with writer_lock(workspace_of(repo).paths.lock, wait=False):
            pass
    index(repo)
    assert_like_from_scratch(repo, tmp_path / "fresh")


# -- concurrency


def test_a_writer_that_may_not_wait_raises_busy(repo: Repo, fake_model: Pool) -> None:
    index(repo)
    repo.commit({"more.py": python_file("more")})
    process = hold_lock(workspace_of(repo).paths.lock)
    try:
        with pytest.raises(Busy):
            index(repo, wait=False)
        answer = search(repo, "sign cookie")
        assert answer.view.stale
        assert any("another process" in note for note in answer.notes)
        assert brief_hits(answer)
    finally:
        process.kill()
        process.communicate()
    assert index(repo, wait=False).embedded == 1


def hold_lock(path: Path) -> "subprocess.Popen[bytes]":
    program = (
        "import sys; from pathlib import Path; from gitmem.locks import writer_lock\n"
        "with writer_lock(Path(sys.argv[1]), wait=True):\n    print('held', flush=True); sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", program, str(path)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


def test_concurrent_first_runs_build_one_index(repo: Repo, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from gitmem.workspace import open_workspace\n"
        "from gitmem.freshness.refresh import refresh\n"
        "place = open_workspace(Path(sys.argv[1]), {}); print(refresh(place, place.location.head_tree).embedded)\n"
    )
    runs = [subprocess.Popen([sys.executable, "-c", program, str(repo.path)], stdout=subprocess.PIPE) for _ in range(3)]
    outputs = [run.communicate()[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0]
    assert sum(map(int, outputs)) == len(FILES) - 1
    assert_like_from_scratch(repo, tmp_path / "fresh")


def test_an_open_reader_keeps_working_while_segments_are_merged_and_removed(repo: Repo, fake_model: Pool) -> None:
    index(repo)
    reader = snapshot_of(repo)
    before = dump_rows(reader)
    for number in range(12):
        repo.commit({f"part{number}.py": python_file(f"step_{number}")})
        index(repo)
    paths = workspace_of(repo).paths
    named = {entry.name for entry in manifest_of(repo).segments}
    assert not {segment.path.name for segment in reader.segments} <= named
    removed = remove_unnamed(paths.segments, named, 0.0)
    assert removed.files > 0
    assert dump_rows(reader) == before


def test_files_of_the_last_generation_are_kept_for_the_grace_period(repo: Repo, fake_model: Pool) -> None:
    index(repo)
    old = {file.name for file in files_in(workspace_of(repo).paths.segments)}
    repo.commit({"more.py": python_file("more")})
    index(repo, full=True)
    assert old <= {file.name for file in files_in(workspace_of(repo).paths.segments)}
    assert remove_unnamed(workspace_of(repo).paths.segments, set(), GRACE_SECONDS).files == 0


def test_unreferenced_views_are_removed_after_a_day(repo: Repo, fake_model: Pool) -> None:
    views = workspace_of(repo).paths.views
    index(repo)
    named = set(files_in(views))
    repo.commit({"more.py": python_file("more")})
    repo.commit({"last.py": python_file("last")})
    ensure_view(workspace_of(repo).location, workspace_of(repo).paths, repo.oid("HEAD~1^{tree}"))
    (unnamed,) = (file for file in set(files_in(views)) - named if not file.suffix)
    index(repo)
    assert unnamed in files_in(views)
    for file in views.iterdir():
        os.utime(file, (0, 0))
    repo.commit({"latest.py": python_file("latest")})
    index(repo)
    assert named < set(files_in(views))
    assert unnamed not in files_in(views)


# -- repair, and other fingerprints


def test_another_fingerprint_rebuilds_the_whole_index(
    repo: Repo, fake_model: Pool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    index(repo)
    before = {entry.name for entry in manifest_of(repo).segments}
    monkeypatch.setattr("gitmem.indexing.fingerprint.WORDS_VERSION", 99)
    workspace = workspace_of(repo)
    with pytest.raises(NoIndex, match="another model"):
        answer(workspace, Query("sign cookie"), refresh=False)
    report = index(repo)
    assert report.rebuilt
    assert report.embedded == len(FILES) - 1
    assert manifest_of(repo).fingerprint.split(".")[1] == "99"
    assert not index(repo).rebuilt
    assert before  # there was an old generation
    assert_like_from_scratch(repo, tmp_path / "fresh")


def test_a_failed_file_affects_no_other_and_is_retried(repo: Repo, fake_model: Pool, tmp_path: Path) -> None:
    fake_model.poison = b"sign_cookie"
    report = index(repo)
    assert report.status == "partial"
    assert len(report.problems) == 1
    assert "src/cookies.py" in report.problems[0]
    assert brief_hits(search(repo, "match_route"))[0][0] == "src/routes.py"
    assert index(repo).status == "partial"
    digested = fake_model.digested
    search(repo, "match_route")
    assert fake_model.digested == digested, "a query does not retry failed files"
    fake_model.poison = b""
    assert index(repo).status == "success"
    assert index(repo).up_to_date
    assert_like_from_scratch(repo, tmp_path / "fresh")


def test_a_file_that_failed_once_is_still_found_after_merges(repo: Repo, fake_model: Pool, tmp_path: Path) -> None:
    fake_model.poison = b"sign_cookie"
    index(repo)
    fake_model.poison = b""
    index(repo)
    for number in range(14):
        repo.commit({f"part{number}.py": python_file(f"step_{number}")})
        index(repo)
        assert brief_hits(search(repo, "sign_cookie", refresh=False))[0][0] == "src/cookies.py"
    assert ("failed" in {outcome for _, _, outcome in dump_outcomes(snapshot_of(repo))}) is False
    assert_like_from_scratch(repo, tmp_path / "fresh")


@pytest.mark.parametrize("damage", ["removed", "emptied", "cut", "flipped header", "flipped body", "version"])
@pytest.mark.parametrize("kind", ["segments", "views"])
def test_the_next_query_rebuilds_a_damaged_file(
    repo: Repo, fake_model: Pool, tmp_path: Path, kind: str, damage: str
) -> None:
    index(repo)
    expected = answers(repo)
    file = files_in(getattr(workspace_of(repo).paths, kind))[0]
    whole = file.read_bytes()
    if damage == "removed":
        file.unlink()
    else:
        flip = {"flipped header": 30, "flipped body": len(whole) // 2, "version": 8}.get(damage)
        cut = {"emptied": 0, "cut": len(whole) // 2}.get(damage, len(whole))
        data = bytearray(whole[:cut])
        if flip is not None:
            data[flip] ^= 0x10
        file.write_bytes(data)
    assert answers(repo) == expected
    answer = search(repo, QUERIES[0])
    assert answer.notes == []
    assert_like_from_scratch(repo, tmp_path / "fresh")


def test_a_run_repairs_damage_found_during_a_merge(repo: Repo, fake_model: Pool, tmp_path: Path) -> None:
    index(repo)
    file = files_in(workspace_of(repo).paths.segments)[0]
    data = bytearray(file.read_bytes())
    data[-300] ^= 1
    file.write_bytes(data)
    for number in range(14):
        repo.commit({f"part{number}.py": python_file(f"step_{number}")})
        index(repo)
    assert_like_from_scratch(repo, tmp_path / "fresh")


def test_a_damaged_manifest_is_rebuilt(repo: Repo, fake_model: Pool) -> None:
    index(repo)
    expected = answers(repo)
    workspace_of(repo).paths.manifest.write_bytes(b"GITMEMMF" + bytes(40))
    index(repo)
    assert answers(repo) == expected


def test_an_index_of_a_newer_gitmem_is_rejected_and_only_a_full_run_replaces_it(
    repo: Repo, fake_model: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as newer:
        newer.setattr("gitmem.store.format.FORMAT", FORMAT + 1)
        index(repo)
    before = workspace_of(repo).paths.manifest.read_bytes()
    for attempt in (lambda: index(repo), lambda: search(repo, "sign cookie"), lambda: index(repo, check=True)):
        with pytest.raises(NewerFormat, match="newer gitmem"):
            attempt()
    assert workspace_of(repo).paths.manifest.read_bytes() == before
    index(repo, full=True)
    assert brief_hits(search(repo, "sign cookie"))[0][0] == "src/cookies.py"


# -- reports


def test_the_report_counts_every_file_once(repo: Repo, fake_model: Pool) -> None:
    repo.commit({"package-lock.json": "{}\n", "big.txt": "word " * 300_000, "x.py": "x = 1\n", "notes": "some words\n"})
    (repo.path / "link").symlink_to("notes")
    repo.commit()
    report = index(repo)
    counted = report.parsed.total() + report.as_text.total() + report.skipped.total()
    assert counted == report.files == int(repo.git("ls-files").count("\n")) + 1
    assert report.skipped == {"large": 1, "symlink": 1, "empty": 1, "binary": 1, "generated": 1}
    assert report.embedded + report.reused == report.files - 3
    assert report.chunks == report.chunks_in_view == report.chunks_added == len(dump_rows(snapshot_of(repo)))


def test_chunks_before_a_run_equal_the_chunks_after_the_last_one(repo: Repo, fake_model: Pool) -> None:
    before = 0
    for number in range(4):
        repo.commit({f"part{number}.py": python_file(f"step_{number}")})
        report = index(repo)
        assert report.chunks_before == before
        assert report.chunks == before + report.chunks_added
        before = report.chunks
    assert HashEncoder.dimensions == snapshot_of(repo).dimensions


def test_vectors_are_finite_and_of_unit_length(repo: Repo, fake_model: Pool) -> None:
    import numpy as np

    index(repo)
    snapshot = snapshot_of(repo)
    lengths = np.linalg.norm(snapshot.unit_vectors(np.arange(snapshot.rows)), axis=1)
    assert np.isfinite(lengths).all()
    assert np.abs(lengths - 1).max() < 0.01


def test_the_order_of_batches_does_not_change_the_index(
    repo: Repo, fake_model: Pool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fresh = from_scratch(repo, tmp_path / "fresh")
    monkeypatch.setattr("gitmem.indexing.blob_batches.BATCH_BLOBS", 1)
    workspace = workspace_of(repo)
    refresh(workspace, workspace.location.head_tree)
    assert dump_rows(snapshot_of(repo)) == dump_rows(snapshot_of(fresh))
