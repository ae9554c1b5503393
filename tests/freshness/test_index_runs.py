"""The log of index runs: complete reports, the blobs of each run, and times that strictly increase."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.freshness.index_runs import MAX_RUNS, find_last_run, forget_run, log_run, read_blobs, read_runs
from gitmem.paths import RUN, IndexPaths
from tests.gitrepo import Repo
from tests.indexes import index, python_file, search, workspace_of

pytestmark = pytest.mark.usefixtures("fake_model")


def make_paths(folder: Path) -> IndexPaths:
    paths = IndexPaths(folder / ".gitmem")
    paths.state.mkdir(parents=True, exist_ok=True)
    return paths


def test_each_run_is_logged_with_its_report_and_its_blobs(repo: Repo) -> None:
    paths = workspace_of(repo).paths
    first = index(repo)
    repo.commit({"b.py": python_file("second")})
    second = index(repo)
    runs = read_runs(paths)
    assert [run.report for run in runs] == [
        report.as_json() | {"seconds": run.report["seconds"]} for report, run in zip((first, second), runs, strict=True)
    ]
    assert [(run.event, run.folder) for run in runs] == [("index", str(repo.path))] * 2
    blobs = [repo.oid("HEAD:a.py"), repo.oid("HEAD:b.py")]
    assert [read_blobs(paths, run.at) for run in runs] == [bytes.fromhex(blob) for blob in blobs]
    assert find_last_run(paths, repo.oid("HEAD^{tree}")) == runs[-1]
    assert find_last_run(paths, repo.oid("HEAD~^{tree}")) is None


def test_a_run_with_nothing_to_do_is_not_logged(repo: Repo) -> None:
    index(repo)
    index(repo)
    assert len(read_runs(workspace_of(repo).paths)) == 1


def test_the_blobs_that_a_query_indexes_are_logged(repo: Repo) -> None:
    index(repo)
    repo.write({"c.py": python_file("third")})
    search(repo, "third")
    paths = workspace_of(repo).paths
    run = read_runs(paths)[-1]
    assert (run.event, run.report["blobs_embedded"], run.report["chunks_before"]) == ("query", 1, 1)
    assert read_blobs(paths, run.at) == bytes.fromhex(repo.git("hash-object", "c.py").strip())


@given(clocks=st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=4))
def test_times_strictly_increase_whatever_the_clock_says(
    tmp_path_factory: pytest.TempPathFactory, clocks: list[int]
) -> None:
    """Property 34: Run timestamps."""
    paths = make_paths(tmp_path_factory.mktemp("index"))
    for offset in clocks:
        log_run(paths, "index", paths.root, {"tree": "t"}, b"")
        # A clock that was set back: the last run is in the future.
        last = paths.state / (RUN + read_runs(paths)[-1].at.replace(":", ""))
        year = 2000 + (offset % 90)
        last.rename(last.with_name(f"{RUN}{year}{last.name.removeprefix(RUN)[4:]}"))
        log_run(paths, "index", paths.root, {"tree": "t"}, b"")
    times = [run.at for run in read_runs(paths)]
    assert times == sorted(set(times))
    assert len(times) == 2 * len(clocks)


def test_the_oldest_runs_are_dropped(tmp_path: Path) -> None:
    paths = make_paths(tmp_path)
    for number in range(MAX_RUNS + 2):
        log_run(paths, "index", tmp_path, {"tree": str(number)}, b"")
    runs = read_runs(paths)
    assert [run.report["tree"] for run in runs] == [str(number) for number in range(2, MAX_RUNS + 2)]
    forget_run(paths, runs[0].at)
    assert read_runs(paths) == runs[1:]


def test_unknown_and_damaged_runs_are_no_runs(tmp_path: Path) -> None:
    paths = make_paths(tmp_path)
    log_run(paths, "index", tmp_path, {"problems": ["cannot fetch https://me:T0p5ecretPw@example.org/x"]}, b"ab")
    run = read_runs(paths)[0]
    assert "T0p5ecretPw" not in str(run)
    assert read_blobs(paths, run.at) == b"ab"
    for at in ("", "../manifest", "2026-01-01", run.at[:-1]):
        assert read_blobs(paths, at) is None
    (paths.state / (RUN + run.at.replace(":", ""))).write_bytes(b"{\n")
    assert read_runs(paths) == []
