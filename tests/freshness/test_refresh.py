"""Refreshing: whatever came before and wherever it was cut off, the index ends as one made from scratch."""

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
from gitmem.store.manifest import find_manifest
from gitmem.store.snapshot import Snapshot
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
QUESTIONS = ("sign cookie", "match_route", "copy the database", "load the table of a value")

Pool = type[InlinePool]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo.init(tmp_path / "repo")
    made.commit(FILES)
    return made


def from_scratch(repo: Repo, place: Path) -> Repo:
    """The same commits without any index, indexed at once."""
    clone = Repo(place)
    repo.git("clone", "--quiet", "--no-local", str(repo.path), str(place))
    index(clone)
    return clone


def answers(repo: Repo) -> list[Any]:
    return [brief_hits(search(repo, question)) for question in QUESTIONS]


def rows_of_head(repo: Repo) -> set[Any]:
    held = {line.split()[2] for line in repo.git("ls-tree", "-r", "HEAD").splitlines()}
    return {row for row in dump_rows(snapshot_of(repo)) if row.blob in held}


def assert_like_from_scratch(repo: Repo, place: Path) -> None:
    fresh = from_scratch(repo, place)
    assert rows_of_head(repo) == rows_of_head(fresh)
    assert answers(repo) == answers(fresh)


class Killed(BaseException):
    """Stands for a kill: nothing may catch it."""


# -- what is embedded and what is not


def test_a_second_run_has_nothing_to_do(repo: Repo, fake_model: Pool) -> None:
    assert index(repo).embedded == len(FILES) - 1  # the picture is left out by its name
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
def test_moving_what_is_known_embeds_nothing(repo: Repo, fake_model: Pool, change: str) -> None:
    index(repo)
    repo.commit({"src/cookies.py": python_file("sign_cookie", "other")})
    index(repo)
    known = fake_model.digested
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
    made = index(repo)
    assert (made.embedded, made.chunks_added) == (0, 0)
    assert fake_model.digested == known


def test_a_new_ending_is_a_new_language_and_embedded_again(repo: Repo, fake_model: Pool) -> None:
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


def test_an_empty_tree_and_an_empty_repository_have_an_index_without_hits(tmp_path: Path, fake_model: Pool) -> None:
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
def test_any_sequence_of_commits_and_runs_ends_like_one_run_from_scratch(
    tmp_path_factory: pytest.TempPathFactory, fake_model: Pool, steps: list[tuple[str, str, list[str]]]
) -> None:
    place = tmp_path_factory.mktemp("sequence")
    repo = Repo.init(place / "repo")
    repo.commit({"a.py": python_file("start")})
    for step, name, told in steps:
        if step == "write":
            repo.commit({name: python_file(*told) if name.endswith(".py") else " ".join(told)})
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


def test_many_small_commits_are_joined_without_a_change_of_answers(
    repo: Repo, fake_model: Pool, tmp_path: Path
) -> None:
    index(repo)
    most = 0
    for number in range(40):
        repo.commit({f"src/part{number}.py": python_file(f"step_{number}")})
        index(repo)
        most = max(most, len(manifest_of(repo).segments))
    assert most <= 8
    assert fake_model.digested == len(FILES) - 1 + 40
    assert_like_from_scratch(repo, tmp_path / "fresh")


def test_answers_do_not_depend_on_what_else_the_index_holds(repo: Repo, fake_model: Pool, tmp_path: Path) -> None:
    repo.git("switch", "--quiet", "--create", "noise")
    repo.commit({f"noise{number}.py": python_file("sign_cookie", f"cookie_{number}") for number in range(20)})
    index(repo)
    repo.git("switch", "--quiet", "main")
    index(repo)
    fresh = Repo(tmp_path / "fresh")
    repo.git("clone", "--quiet", "--single-branch", "--branch", "main", "--no-local", str(repo.path), str(fresh.path))
    index(fresh)
    assert answers(repo) == answers(fresh)


# -- interrupted


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Lets the n-th published file fail: `writes["fail"] = n, error`."""
    state: dict[str, Any] = {"count": 0, "fail": (0, None)}
    real = fsio.write_atomic

    def write_atomic(path: Path, parts: Any) -> None:
        state["count"] += 1
        place, error = state["fail"]
        if state["count"] == place:
            raise error
        real(path, parts)

    for module in ("fsio", "workspace", "store.segment", "store.manifest", "store.view_file"):
        monkeypatch.setattr(f"gitmem.{module}.write_atomic", write_atomic)
    return state


@pytest.mark.parametrize("error", [StorageFailed("no space"), Killed()], ids=["disk full", "killed"])
@pytest.mark.parametrize("again", [False, True], ids=["first run", "later run"])
def test_a_run_that_stops_at_any_write_leaves_the_old_or_the_new_index(
    repo: Repo,
    fake_model: Pool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    writes: dict[str, Any],
    error: BaseException,
    again: bool,
) -> None:
    monkeypatch.setattr("gitmem.indexing.run._BATCH_BLOBS", 1)
    monkeypatch.setattr("gitmem.indexing.run.FLUSH_ROWS", 1)
    if again:
        index(repo)
        repo.commit({"src/more.py": python_file("sign_more"), "src/yet.py": python_file("yet_more")})
    fresh = from_scratch(repo, tmp_path / "fresh")
    wanted, place = answers(fresh), 0
    while True:
        place += 1
        torn = Repo(tmp_path / f"torn{place}")
        shutil.copytree(repo.path, torn.path)
        before = find_manifest(workspace_of(torn).paths.manifest)
        writes.update(count=0, fail=(place, error))
        try:
            index(torn)
        except (StorageFailed, Killed):
            writes["fail"] = (0, None)
        else:
            break
        assert before is None or manifest_of(torn).segments[: len(before.segments)] == before.segments
        assert not Snapshot(workspace_of(torn).paths, manifest_of(torn)).lost if manifest_of(torn) else True
        with writer_lock(workspace_of(torn).paths.lock, wait=False):
            pass
        index(torn)
        assert answers(torn) == wanted
        assert rows_of_head(torn) == rows_of_head(fresh)
        shutil.rmtree(torn.path)
    assert place > (3 if again else 8), "the fault was never injected"


def test_a_run_cut_off_after_a_segment_keeps_that_segment(
    repo: Repo, fake_model: Pool, monkeypatch: pytest.MonkeyPatch, writes: dict[str, Any]
) -> None:
    monkeypatch.setattr("gitmem.indexing.run._BATCH_BLOBS", 1)
    monkeypatch.setattr("gitmem.indexing.run.FLUSH_ROWS", 1)
    writes["fail"] = (9, Killed())
    with pytest.raises(Killed):
        index(repo)
    writes["fail"] = (0, None)
    kept = manifest_of(repo).blobs
    assert not manifest_of(repo).complete
    digested = fake_model.digested
    index(repo)
    assert 0 < kept < len(FILES) - 1
    assert fake_model.digested - digested == len(FILES) - 1 - kept


def test_a_process_killed_by_the_system_needs_no_repair(repo: Repo, tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\nfrom pathlib import Path\n"
        "from gitmem.workspace import open_workspace\nfrom gitmem.freshness.refresh import refresh\n"
        "import gitmem.indexing.run as run\nrun._BATCH_BLOBS = run.FLUSH_ROWS = 1\nreal = run.write_segment\n"
        "def write(*args):\n    made = real(*args)\n    write.left -= 1\n"
        "    if not write.left:\n        os.kill(os.getpid(), signal.SIGKILL)\n    return made\n"
        "write.left = int(sys.argv[2])\nrun.write_segment = write\n"
        "place = open_workspace(Path(sys.argv[1]), {})\nrefresh(place, place.location.head_tree)\n"
    )
    for left in (1, 3):
        command = [sys.executable, "-c", program, str(repo.path), str(left)]
        assert subprocess.run(command, check=False).returncode == -9
        with writer_lock(workspace_of(repo).paths.lock, wait=False):
            pass
    index(repo)
    assert_like_from_scratch(repo, tmp_path / "fresh")


# -- together


def test_a_writer_that_must_not_wait_says_that_another_one_writes(repo: Repo, fake_model: Pool) -> None:
    index(repo)
    repo.commit({"more.py": python_file("more")})
    held = hold_lock(workspace_of(repo).paths.lock)
    try:
        with pytest.raises(Busy):
            index(repo, wait=False)
        made = search(repo, "sign cookie")
        assert made.view.stale
        assert any("another process" in note for note in made.notes)
        assert brief_hits(made)
    finally:
        held.kill()
        held.communicate()
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


def test_first_runs_at_the_same_time_end_in_one_index(repo: Repo, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from gitmem.workspace import open_workspace\n"
        "from gitmem.freshness.refresh import refresh\n"
        "place = open_workspace(Path(sys.argv[1]), {}); print(refresh(place, place.location.head_tree).embedded)\n"
    )
    runs = [subprocess.Popen([sys.executable, "-c", program, str(repo.path)], stdout=subprocess.PIPE) for _ in range(3)]
    told = [run.communicate()[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0]
    assert sum(map(int, told)) == len(FILES) - 1
    assert_like_from_scratch(repo, tmp_path / "fresh")


def test_an_open_reader_keeps_answering_while_segments_are_joined_and_removed(repo: Repo, fake_model: Pool) -> None:
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


def test_files_of_the_last_generation_outlive_it_by_the_grace_period(repo: Repo, fake_model: Pool) -> None:
    index(repo)
    old = {file.name for file in files_in(workspace_of(repo).paths.segments)}
    repo.commit({"more.py": python_file("more")})
    index(repo, full=True)
    assert old <= {file.name for file in files_in(workspace_of(repo).paths.segments)}
    assert remove_unnamed(workspace_of(repo).paths.segments, set(), GRACE_SECONDS).files == 0


def test_views_that_nothing_names_go_after_a_day(repo: Repo, fake_model: Pool) -> None:
    views = workspace_of(repo).paths.views
    index(repo)
    named = set(files_in(views))
    repo.commit({"more.py": python_file("more")})
    repo.commit({"last.py": python_file("last")})
    ensure_view(workspace_of(repo).location, workspace_of(repo).paths, repo.oid("HEAD~1^{tree}"))
    (unnamed,) = set(files_in(views)) - named
    index(repo)
    assert unnamed in files_in(views)
    for file in views.iterdir():
        os.utime(file, (0, 0))
    repo.commit({"latest.py": python_file("latest")})
    index(repo)
    assert named < set(files_in(views))
    assert unnamed not in files_in(views)


# -- healing and other makers


def test_another_fingerprint_embeds_everything_again_and_mixes_nothing(
    repo: Repo, fake_model: Pool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    index(repo)
    before = {entry.name for entry in manifest_of(repo).segments}
    monkeypatch.setattr("gitmem.indexing.fingerprint.WORDS_VERSION", 99)
    workspace = workspace_of(repo)
    with pytest.raises(NoIndex, match="another model"):
        answer(workspace, Query("sign cookie"), refresh=False)
    made = index(repo)
    assert made.rebuilt
    assert made.embedded == len(FILES) - 1
    assert manifest_of(repo).fingerprint.split(".")[1] == "99"
    assert not index(repo).rebuilt
    assert before  # the old generation stood
    assert_like_from_scratch(repo, tmp_path / "fresh")


def test_a_file_that_fails_costs_itself_and_is_tried_again(repo: Repo, fake_model: Pool, tmp_path: Path) -> None:
    fake_model.poison = b"sign_cookie"
    made = index(repo)
    assert made.status == "partial"
    assert len(made.problems) == 1
    assert "src/cookies.py" in made.problems[0]
    assert brief_hits(search(repo, "match_route"))[0][0] == "src/routes.py"
    assert index(repo).status == "partial"
    digested = fake_model.digested
    search(repo, "match_route")
    assert fake_model.digested == digested, "a question does not try again"
    fake_model.poison = b""
    assert index(repo).status == "success"
    assert index(repo).up_to_date
    assert_like_from_scratch(repo, tmp_path / "fresh")


def test_a_failed_file_that_was_read_later_stays_found_while_segments_are_joined(
    repo: Repo, fake_model: Pool, tmp_path: Path
) -> None:
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


@pytest.mark.parametrize("what", ["removed", "emptied", "cut", "flipped header", "flipped body", "version"])
@pytest.mark.parametrize("kind", ["segments", "views"])
def test_a_damaged_file_is_made_anew_by_the_next_question(
    repo: Repo, fake_model: Pool, tmp_path: Path, kind: str, what: str
) -> None:
    index(repo)
    wanted = answers(repo)
    file = files_in(getattr(workspace_of(repo).paths, kind))[0]
    whole = file.read_bytes()
    if what == "removed":
        file.unlink()
    else:
        flip = {"flipped header": 30, "flipped body": len(whole) // 2, "version": 8}.get(what)
        cut = {"emptied": 0, "cut": len(whole) // 2}.get(what, len(whole))
        data = bytearray(whole[:cut])
        if flip is not None:
            data[flip] ^= 0x10
        file.write_bytes(data)
    assert answers(repo) == wanted
    healed = search(repo, QUESTIONS[0])
    assert healed.notes == []
    assert_like_from_scratch(repo, tmp_path / "fresh")


def test_damage_met_while_segments_are_joined_is_repaired_by_the_same_run(
    repo: Repo, fake_model: Pool, tmp_path: Path
) -> None:
    index(repo)
    file = files_in(workspace_of(repo).paths.segments)[0]
    data = bytearray(file.read_bytes())
    data[-300] ^= 1
    file.write_bytes(data)
    for number in range(14):
        repo.commit({f"part{number}.py": python_file(f"step_{number}")})
        index(repo)
    assert_like_from_scratch(repo, tmp_path / "fresh")


def test_a_damaged_manifest_is_made_anew(repo: Repo, fake_model: Pool) -> None:
    index(repo)
    wanted = answers(repo)
    workspace_of(repo).paths.manifest.write_bytes(b"GITMEMMF" + bytes(40))
    index(repo)
    assert answers(repo) == wanted


def test_an_index_of_a_newer_gitmem_is_refused_and_only_replaced_when_told_to(
    repo: Repo, fake_model: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as newer:
        newer.setattr("gitmem.store.format.FORMAT", 2)
        index(repo)
    before = workspace_of(repo).paths.manifest.read_bytes()
    for attempt in (lambda: index(repo), lambda: search(repo, "sign cookie"), lambda: index(repo, check=True)):
        with pytest.raises(NewerFormat, match="newer gitmem"):
            attempt()
    assert workspace_of(repo).paths.manifest.read_bytes() == before
    index(repo, full=True)
    assert brief_hits(search(repo, "sign cookie"))[0][0] == "src/cookies.py"


# -- reports


def test_the_report_shares_out_every_file_once(repo: Repo, fake_model: Pool) -> None:
    repo.commit({"package-lock.json": "{}\n", "big.txt": "word " * 300_000, "x.py": "x = 1\n", "notes": "some words\n"})
    (repo.path / "link").symlink_to("notes")
    repo.commit()
    made = index(repo)
    counted = made.parsed.total() + made.as_text.total() + made.skipped.total()
    assert counted == made.files == int(repo.git("ls-files").count("\n")) + 1
    assert made.skipped == {"large": 1, "symlink": 1, "empty": 1, "binary": 1, "generated": 1}
    assert made.embedded + made.reused == made.files - 3
    assert made.chunks == made.chunks_in_view == made.chunks_added == len(dump_rows(snapshot_of(repo)))


def test_each_run_counts_from_the_end_of_the_one_before(repo: Repo, fake_model: Pool) -> None:
    before = 0
    for number in range(4):
        repo.commit({f"part{number}.py": python_file(f"step_{number}")})
        made = index(repo)
        assert made.chunks_before == before
        assert made.chunks == before + made.chunks_added
        before = made.chunks
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
    monkeypatch.setattr("gitmem.indexing.run._BATCH_BLOBS", 1)
    workspace = workspace_of(repo)
    refresh(workspace, workspace.location.head_tree)
    assert dump_rows(snapshot_of(repo)) == dump_rows(snapshot_of(fresh))
