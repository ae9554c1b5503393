"""`gitmem init`, `index` and `status`."""

import json
import re
from pathlib import Path

import pytest

from gitmem.cli.progress import ProgressLine, describe
from gitmem.errors import ExitCode
from gitmem.indexing.run import Progress
from gitmem.locks import writer_lock
from gitmem.store.graph import is_available
from tests.gitrepo import Repo
from tests.sample import Cli, assert_error, without_index_times


def test_init_reports_indexed_and_skipped_files(cli: Cli, own: Repo) -> None:
    assert cli("uninstall", "--yes", cwd=own.path).code == 0
    outcome = cli("init", "--no-mcp", cwd=own.path)
    lines = outcome.out.splitlines()
    assert outcome.code == 0
    assert lines[0].startswith(f"indexed main {own.oid('HEAD')[:7]}  8 files  ")
    assert "python 2" in lines[2]
    assert "as text 1" in lines[2]
    assert "skipped 3: binary 1, empty 1, generated 1" in lines[3]
    assert lines[4].startswith("  .gitmem ")
    assert "%" not in lines[4], "a share of so little text says nothing"


def test_the_size_of_a_first_index_is_compared_with_the_text(cli: Cli, own: Repo) -> None:
    own.commit({"long.txt": "".join(f"word{number} and more\n" for number in range(2_000))})
    assert re.search(
        r"^  \.gitmem .* kB \(\d+ % of the text\)$", cli("index", "--reset", cwd=own.path).out, re.MULTILINE
    )
    own.commit({"other.txt": "Some words.\n"})
    assert "% of the text" not in cli("index", "--verbose").out


def test_init_takes_a_path(cli: Cli, own: Repo) -> None:
    assert cli("init", "--no-mcp", str(own.path)).out.startswith("up to date: main ")
    assert cli("-C", str(own.path.parent), "init", "--no-mcp", own.path.name).out.startswith("up to date: main ")


def test_init_again_changes_nothing(cli: Cli, own: Repo) -> None:
    before = (own.path / ".gitmem" / "manifest").read_bytes()
    first = cli("init", "--no-mcp", cwd=own.path)
    assert first.out.splitlines()[1].startswith(
        "  hooks: pre-commit post-commit post-checkout post-merge post-rewrite pre-push"
    )
    outcome = cli("init", "--no-mcp", cwd=own.path)
    assert outcome.out == f"up to date: main {own.oid('HEAD')[:7]}\n"
    assert (own.path / ".gitmem" / "manifest").read_bytes() == before


def test_quiet_init_prints_nothing(cli: Cli, own: Repo) -> None:
    outcome = cli("-q", "init", "--no-mcp", cwd=own.path)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


def test_init_in_a_repository_without_commits_creates_an_index_for_later_files(cli: Cli, own: Repo) -> None:
    repo = Repo.init(own.path.parent / "fresh")
    outcome = cli("init", "--no-hooks", "--no-mcp", cwd=repo.path)
    assert outcome.code == 0
    assert "main (no commit yet): nothing to index" in outcome.out
    assert cli("index", cwd=repo.path).out.startswith("main (no commit yet): nothing to index; commit something")
    assert cli("status", cwd=repo.path).out.startswith("Up to Date: main (no commit yet)")
    query = cli("query", "anything", cwd=repo.path)
    assert (query.code, query.out) == (1, "")
    assert query.err.startswith("no results (main (no commit yet), fresh, ")
    repo.commit({"a.py": "def first_function():\n    return 1\n"})
    assert "first_function" in cli("query", "first_function", cwd=repo.path).out


def test_index_reports_embedded_and_reused_blobs(cli: Cli, own: Repo) -> None:
    own.git("mv", "src/routing.ts", "src/router.ts")
    own.commit({"src/queue.py": "def drain_queue(items):\n    return items\n"})
    result = json.loads(cli("index", "--json", cwd=own.path).out)
    assert (result["status"], result["blobs_embedded"], result["chunks_added"]) == ("success", 1, 1)
    assert result["chunks"] == result["chunks_before"] + 1
    assert result["chunks_removed"] == 0
    assert cli("index", cwd=own.path).out == f"up to date: main {own.oid('HEAD')[:7]}\n"


def test_a_first_run_says_how_to_find_the_files_above_the_limit(cli: Cli, repo: Repo) -> None:
    repo.commit({"small.py": "x = 1\n", "large.py": "value = 1\n" * 200})
    repo.git("config", "gitmem.maxFileBytes", "1024")
    lines = cli("index", cwd=repo.path).out.splitlines()
    assert "  `gitmem index -v` names the large files; gitmem.maxFileBytes sets their limit" in lines
    repo.commit({"other.py": "y = 2\n"})
    assert "names the large files" not in cli("index", cwd=repo.path).out


def test_index_reports_languages_and_skipped_files(cli: Cli, own: Repo) -> None:
    assert cli("index", "--reset", cwd=own.path).out.splitlines()[2:4] == [
        "  python 2 · markdown 1 · typescript 1 · as text 1",
        "  skipped 3: binary 1, empty 1, generated 1",
    ]
    own.commit({"src/queue.py": "def drain_queue(items):\n    return items\n"})
    lines = cli("index", cwd=own.path).out.splitlines()
    assert "1 blob embedded" in lines[1]
    assert lines[2:] == ["  skipped 3: binary 1, empty 1, generated 1"]


def test_status_shows_when_the_index_last_changed(cli: Cli, own: Repo) -> None:
    updated = json.loads(cli("status", "--json", cwd=own.path).out)["last_updated"]
    assert f"  updated    {updated}" in cli("status").out.splitlines()
    assert json.loads(cli("index", "--json").out)["up_to_date"]
    assert json.loads(cli("status", "--json").out)["last_updated"] == updated
    own.commit({"src/queue.py": "def drain_queue(items):\n    return items\n"})
    assert cli("index").code == 0
    assert json.loads(cli("status", "--json").out)["last_updated"] > updated


def test_index_adds_another_revision_to_head(cli: Cli, own: Repo) -> None:
    outcome = cli("index", "--rev", "v1", cwd=own.path)
    assert outcome.out.startswith("indexed v1")
    assert "0 blobs embedded" in outcome.out
    assert cli("index", "--rev", "v1", cwd=own.path).out == "up to date: v1\n"
    assert_error(cli("index", "--rev", "v9", cwd=own.path), ExitCode.USAGE, "unknown commit, tag or branch: `v9`")


def test_index_in_full_gives_the_same_index(cli: Cli, own: Repo) -> None:
    before = without_index_times(cli("query", "--jsonl", "cookie", cwd=own.path).out)
    result = json.loads(cli("index", "--full", "--json", cwd=own.path).out)
    assert result["rebuilt"] == "requested by --full"
    assert result["chunks_added"] == result["chunks"] == result["chunks_before"]
    assert without_index_times(cli("query", "--jsonl", "cookie", cwd=own.path).out) == before


def test_index_with_graph_builds_one_or_explains_why_not(cli: Cli, own: Repo) -> None:
    out = cli("index", "--graph", cwd=own.path).out
    assert ("the graph holds" if is_available() else "every search is exact") in out


def test_no_wait_fails_if_another_process_writes(cli: Cli, own: Repo) -> None:
    from filelock import FileLock

    own.commit({"new.py": "def new_thing():\n    pass\n"})
    with FileLock(own.path / ".gitmem" / "lock"):
        assert_error(cli("index", "--no-wait", cwd=own.path), ExitCode.BUSY, "another process")
        assert_error(cli("gc", "--no-wait", cwd=own.path), ExitCode.BUSY, "another process")
        assert_error(cli("uninstall", "--yes", cwd=own.path), ExitCode.BUSY, "another process")
    assert cli("index", "--no-wait", cwd=own.path).code == 0


def test_status_has_three_states(cli: Cli, own: Repo) -> None:
    assert cli("status", cwd=own.path).out.startswith("Up to Date: main ")
    own.commit({"new.py": "def new_thing():\n    pass\n"})
    output = cli("status", cwd=own.path).out
    assert output.startswith("Needs Update: main ")
    assert "1 not yet" in output
    cli("uninstall", "--yes", cwd=own.path)
    for args in ((), ("--json",)):
        outcome = cli("status", *args, cwd=own.path)
        assert outcome.code == ExitCode.NO_INDEX
        assert "No Index" in outcome.out


def test_status_counts_the_content_of_the_index(cli: Cli, indexed: Repo) -> None:
    result = json.loads(cli("status", "--json", cwd=indexed.path).out)
    assert result["state"] == "Up to Date"
    assert result["commit"] == indexed.oid("HEAD")
    assert result["files"] == {
        "total": 8,
        "indexed": 5,
        "not_indexed": 0,
        "pending": 0,
        "skipped": {"binary": 1, "empty": 1, "generated": 1},
    }
    assert result["languages"] == {"python": 2, "markdown": 1, "typescript": 1, "text": 1}
    assert sum(result["chunk_types"].values()) == result["chunks"]["total"]
    assert result["index"]["bytes"] > 0
    assert result["model"].startswith("gitmem-code-static")


def test_status_counts_uncommitted_files_and_those_not_indexed(cli: Cli, own: Repo) -> None:
    own.write({"new.py": "def new_thing():\n    pass\n", "notes.txt": "Other words.\n"})
    (own.path / "empty.py").unlink()
    lines = cli("status", cwd=own.path).out.splitlines()
    assert lines[0].startswith("Needs Update: main "), "files that are not indexed yet and `Up to Date` do not agree"
    assert "  files      8: 4 indexed, 2 not yet, 2 skipped" in lines
    assert "  changed    deleted 1, modified 1, untracked 1; 2 files not indexed yet: left to the next query" in lines
    assert cli("query", "new_thing", cwd=own.path).code == 0
    assert cli("status", cwd=own.path).out.startswith("Up to Date: main ")
    result = json.loads(cli("status", "--json", cwd=own.path).out)
    assert result["uncommitted"] == {"deleted": 1, "modified": 1, "untracked": 1}
    assert (result["files"]["indexed"], result["files"]["not_indexed"], result["files"]["pending"]) == (6, 0, 0)


def test_an_interrupted_first_run_is_partial_until_it_is_resumed(
    cli: Cli, own: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("uninstall", "--yes", cwd=own.path)

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("gitmem.indexing.blob_batches.BATCH_BLOBS", 1)
        patch.setattr("gitmem.indexing.run.FLUSH_ROWS", 1)
        patch.setattr("gitmem.freshness.index_tree.compact", stop)
        assert cli("init", "--no-hooks", cwd=own.path).code == ExitCode.INTERRUPTED
    output = cli("status", cwd=own.path).out
    assert output.startswith("Needs Update: ")
    assert "partial    the first run was interrupted" in output
    assert json.loads(cli("status", "--json", cwd=own.path).out)["partial"] is True
    assert cli("index", cwd=own.path).code == 0
    assert cli("status", cwd=own.path).out.startswith("Up to Date")


def test_status_reports_that_another_process_is_writing(cli: Cli, own: Repo) -> None:
    own.commit({"new.py": "def new_thing():\n    pass\n"})
    assert "writing " not in cli("status", cwd=own.path).out
    with writer_lock(own.path / ".gitmem" / "lock", wait=False):
        outcome = cli("status", cwd=own.path)
    assert outcome.out.startswith("Updating: main ")
    assert "writing    another process is writing this index" in outcome.out


def not_indexed(cli: Cli, repo: Repo) -> int:
    return int(json.loads(cli("status", "--json", cwd=repo.path).out)["files"]["not_indexed"])


def test_index_indexes_staged_files(cli: Cli, own: Repo) -> None:
    own.write({"new.py": "def new_thing():\n    pass\n"})
    own.git("add", "new.py")
    assert cli("index", cwd=own.path).out.startswith("indexed main ")
    assert not_indexed(cli, own) == 0


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_index_leaves_other_changed_files_to_queries(cli: Cli, own: Repo, options: list[str]) -> None:
    own.write({"new.py": "def new_thing():\n    pass\n"})
    assert cli("index", *options, cwd=own.path).code == 0
    assert not_indexed(cli, own) == 1
    assert "new.py" in cli("query", "new_thing", cwd=own.path).out
    assert not_indexed(cli, own) == 0


def test_index_indexes_all_changed_files_on_request(cli: Cli, own: Repo) -> None:
    own.write({"new.py": "def new_thing():\n    pass\n"})
    assert cli("index", "--uncommitted", cwd=own.path).out.startswith("indexed main ")
    assert not_indexed(cli, own) == 0
    assert cli("index", "--uncommitted", cwd=own.path).out.startswith("up to date: main ")
    message = "`--rev` and `--uncommitted` exclude each other"
    assert_error(cli("index", "--uncommitted", "--rev", "HEAD", cwd=own.path), ExitCode.USAGE, message)


def test_index_reports_a_usage_error_and_runs_in_a_branch_with_any_name(cli: Cli, own: Repo) -> None:
    assert_error(cli("index", "--uncomitted", cwd=own.path), ExitCode.USAGE, "no such option: `--uncomitted`")
    own.git("switch", "-q", "-c", "größe")
    own.commit({"new.py": "def new_thing():\n    pass\n"})
    assert cli("index", cwd=own.path).out.startswith("indexed größe ")
    assert cli("index", cwd=own.path).out.startswith("up to date: größe ")


@pytest.mark.parametrize("rev", [[], ["--rev", "HEAD"]])
def test_the_report_is_complete_even_if_there_is_nothing_to_do(cli: Cli, own: Repo, rev: list[str]) -> None:
    report = json.loads(cli("index", "--json", *rev, cwd=own.path).out)
    assert report["up_to_date"] is True
    assert (report["files"], report["blobs_embedded"], report["chunks_added"], report["chunks_removed"]) == (8, 0, 0, 0)
    assert report["blobs_reused"] == 5
    assert sum(report["parsed"].values()) + sum(report["as_text"].values()) == 5
    assert report["skipped"] == {"binary": 1, "empty": 1, "generated": 1}
    assert report["chunks"] == report["chunks_before"] == report["chunks_in_tree"] > 5
    assert report["index_bytes"] > 0


def test_status_writes_nothing_but_its_measurement(cli: Cli, own: Repo) -> None:
    def times() -> list[tuple[Path, int]]:
        files = [path for path in (own.path / ".gitmem").rglob("*") if path.name != "measured"]
        return sorted((path, path.stat().st_mtime_ns) for path in files)

    own.commit({"new.py": "x = 1\n"})
    before = times()
    cli("status", cwd=own.path)
    assert times() == before


def test_a_linked_worktree_shares_the_index(cli: Cli, own: Repo) -> None:
    own.git("worktree", "add", "-q", "-b", "side", str(own.path.parent / "side"), "v1")
    side = own.path.parent / "side"
    outcome = cli("query", "-l", "cookie", cwd=side)
    assert outcome.out == "old/session.py\n"
    assert not (side / ".gitmem").exists()


def test_a_bare_repository_keeps_its_index_inside(cli: Cli, own: Repo) -> None:
    bare = own.path.parent / "bare.git"
    own.git("clone", "-q", "--bare", str(own.path), str(bare))
    assert cli("init", cwd=bare).code == 0
    assert (bare / "gitmem" / "manifest").is_file()
    assert cli("query", "-l", "-n", "1", "cookie", cwd=bare).code == 0


def test_progress_is_a_line_with_rate_and_time_left() -> None:
    line = describe("indexing main", 50, 200, "file", 400, 2.0, width=100)
    assert line == "indexing main  ━━━━──────────────  50/200 files  400 chunks  25 files/s  6.0 s left"
    assert describe("indexing main", 0, 200, "file", 0, 0.1, width=0) == "indexing main  0/200 files"


@pytest.mark.parametrize("width", [40, 60, 79, 100])
@pytest.mark.parametrize("title", ["indexing main 2ac8988", "indexing feature/a-branch-with-a-very-long-name 2ac8988"])
def test_progress_in_a_narrow_terminal_keeps_rate_and_time_left(title: str, width: int) -> None:
    line = describe(title, 1_234, 5_407, "file", 123_456, 100.0, width=width)
    assert len(line) <= width
    assert line.endswith("12 files/s  5 min 38 s left")
    assert ("1,234/5,407 files" in line) == (width > 40)


def test_progress_without_a_terminal_prints_few_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("gitmem.cli.progress.time.monotonic", lambda: now[0])
    with ProgressLine("indexing main", quiet=False) as line:
        for blobs in range(100):
            now[0] += 0.5
            line(Progress(100, blobs=blobs, rows=blobs))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 5
    assert lines[0] == "indexing main  19/100 files  19 chunks  2 files/s  43 s left"


def test_progress_on_a_terminal_redraws_and_clears_its_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("gitmem.cli.progress.time.monotonic", lambda: now[0])
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with ProgressLine("indexing main", quiet=False) as line:
        for _ in range(10):
            now[0] += 0.05
            line(Progress(100, blobs=1))
    drawn = capsys.readouterr().err
    assert 3 <= drawn.count("\r") <= 6
    assert drawn.endswith("\r\x1b[K")
    assert "\n" not in drawn


def test_a_damaged_blob_is_reported_and_the_run_continues(cli: Cli, own: Repo) -> None:
    oid = own.git("hash-object", "-w", "--stdin", stdin=b"def unreadable():\n    pass\n")
    own.commit({"broken.py": "def unreadable():\n    pass\n"})
    own.loose_object(oid).chmod(0o644)
    own.loose_object(oid).write_bytes(b"garbage")
    outcome = cli("index", cwd=own.path)
    assert outcome.code == ExitCode.FAILED
    assert f"warning: broken.py: the blob {oid[:12]} cannot be read" in outcome.err
    assert cli("query", "-l", "-n", "1", "sign cookie", cwd=own.path).code == 0
