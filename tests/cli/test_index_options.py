"""Options of `gitmem index` that report, narrow or reset, and `gitmem status --all`."""

import json
import os
from pathlib import Path

import pytest

from gitmem.errors import ExitCode
from tests.gitrepo import Repo
from tests.sample import Cli, assert_error


def index_files(repo: Repo) -> dict[str, bytes]:
    """Return the files of the index, without measurements of commands, and the configuration of the repository."""
    files = [*(repo.path / ".gitmem").rglob("*"), repo.path / ".git" / "config"]
    files = [file for file in files if file.name != "measured"]
    return {str(file): file.read_bytes() for file in files if file.is_file()}


@pytest.mark.usefixtures("fake_model")
def test_a_dry_run_reports_what_a_run_would_do_and_writes_nothing(cli: Cli, own: Repo) -> None:
    own.commit({"new.py": "def new_thing():\n    pass\n", "image.png": b"\x89PNG\0"})
    own.write({"untracked.py": "def another():\n    pass\n"})
    for options, blobs in (((), 1), (("--uncommitted",), 2), (("--full",), 6), (("--rev", "v1"), 0)):
        before = index_files(own)
        planned = json.loads(cli("index", "--dry-run", "--json", *options, cwd=own.path).out)
        assert (planned["dry_run"], planned["blobs_embedded"]) == (True, blobs), options
        assert index_files(own) == before
    assert cli("index", "--dry-run", cwd=own.path).out.startswith("would index main ")
    run = json.loads(cli("index", "--json", cwd=own.path).out)
    assert run["blobs_embedded"] == 1
    planned = json.loads(cli("index", "--dry-run", "--json", cwd=own.path).out)
    assert (planned["blobs_embedded"], planned["up_to_date"]) == (0, True)
    assert all(planned[name] == run[name] for name in ("files", "parsed", "as_text", "skipped", "chunks_in_tree"))
    for option in ("--reset", "--graph"):
        assert_error(cli("index", "--dry-run", option, cwd=own.path), ExitCode.USAGE, "exclude each other")


@pytest.mark.usefixtures("fake_model")
def test_a_dry_run_needs_no_index_and_makes_none(cli: Cli, own: Repo) -> None:
    assert cli("uninstall", "--yes", cwd=own.path).code == 0
    assert json.loads(cli("index", "--dry-run", "--json", cwd=own.path).out)["blobs_embedded"] > 0
    assert not (own.path / ".gitmem").exists()


@pytest.mark.usefixtures("fake_model")
def test_a_changed_setting_has_one_remedy(cli: Cli, own: Repo) -> None:
    assert cli("index", cwd=own.path).code == 0
    own.git("config", "gitmem.chunkMaxBytes", "900")
    outcome = cli("status", cwd=own.path).out
    (line,) = (line for line in outcome.splitlines() if "`" in line)
    assert line.startswith("  outdated   made with another model, chunker, size of chunks")
    assert line.endswith("; `gitmem index` builds it again")
    state = json.loads(cli("status", "--json", cwd=own.path).out)
    assert (state["state"], state["problems"], bool(state["outdated"])) == ("Needs Update", [], True)
    assert cli("index", cwd=own.path).code == 0
    assert cli("status", cwd=own.path).out.startswith("Up to Date")


@pytest.mark.usefixtures("fake_model")
def test_a_verbose_report_names_skipped_files_encodings_and_extensions(cli: Cli, own: Repo) -> None:
    own.git("config", "gitmem.maxFileBytes", "2048")
    own.commit({"big.py": "x = 1\n" * 500, "latin.txt": b"caf\xe9\n", "shape.stl7": "a\n", "NOTICE": "b\n"})
    run = cli("index", "-v", cwd=own.path).out
    assert "  large: big.py, 3,000 bytes of at most 2,048\n" in run
    assert "  binary: logo.png, 11 bytes\n" in run
    assert "  read as Latin-1: latin.txt\n" in run
    assert ".stl7 1" in run
    assert "NOTICE 1" in run
    # The next run has nothing to do, and reports the same.
    lines = run.splitlines()
    again = cli("index", "--verbose", cwd=own.path).out.splitlines()
    assert again[0].startswith("up to date: main ")
    assert again[-5:] == lines[-5:]
    value = json.loads(cli("index", "-v", "--json", cwd=own.path).out)
    assert {"path": "big.py", "reason": "large", "size": 3000, "limit": 2048} in value["skipped_files"]
    assert value["latin1_files"] == ["latin.txt"]
    assert value["up_to_date"]
    assert "skipped_files" not in json.loads(cli("index", "--json", cwd=own.path).out)


@pytest.mark.usefixtures("fake_model")
def test_reset_makes_the_index_anew_and_keeps_records(cli: Cli, own: Repo) -> None:
    note = json.loads(cli("memory", "add", "--json", "Cookies are signed.", cwd=own.path).out)["id"]
    cli("index", cwd=own.path)
    before = json.loads(cli("status", "--json", cwd=own.path).out)
    (own.path / ".gitmem" / "state" / "tuning").write_bytes(b"")
    report = json.loads(cli("index", "--reset", "--json", cwd=own.path).out)
    assert (report["chunks_before"], report["blobs_reused"]) == (0, 0)
    assert not (own.path / ".gitmem" / "state" / "tuning").exists()
    after = json.loads(cli("status", "--json", cwd=own.path).out)
    assert after["files"] == before["files"]
    assert cli("memory", "show", note, cwd=own.path).code == ExitCode.OK
    (own.path / ".gitmem" / "thesis.txt").write_text("mine")
    assert_error(cli("index", "--reset", cwd=own.path), ExitCode.FAILED, "which gitmem did not write")
    assert (own.path / ".gitmem" / "thesis.txt").read_text() == "mine"


@pytest.mark.usefixtures("fake_model")
def test_patterns_of_a_run_are_kept_for_queries(cli: Cli, own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = json.loads(cli("index", "--dry-run", "--exclude", "*.ts", "--json", cwd=own.path).out)
    assert planned["skipped"]["excluded"] == 1
    assert "gitmem" not in (own.path / ".git" / "config").read_text()
    for _ in range(2):
        run = json.loads(cli("index", "--exclude", "*.ts", "--include", "src/", "--json", cwd=own.path).out)
    assert "typescript" not in run["parsed"]
    assert set(run["parsed"]) == {"python"}
    assert own.git("config", "--get-all", "gitmem.exclude") == "*.ts"
    assert own.git("config", "--get-all", "gitmem.include") == "src/"
    assert cli("query", "-l", "matchRoute Backups", cwd=own.path).out.split() in ([], ["src/cookies.py"])
    for wrong in ("", " ", "a,b"):
        assert_error(cli("index", "--include", wrong, cwd=own.path), ExitCode.USAGE, "expected one pattern")
    monkeypatch.setenv("GITMEM_INCLUDE", "docs/")
    assert_error(cli("index", "--include", "src/", cwd=own.path), ExitCode.USAGE, "`GITMEM_INCLUDE` is set")


def test_status_of_all_is_the_list_of_repositories(
    cli: Cli, own: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("GITMEM_NO_REGISTRY")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    cli("repos", "add", "--name", "site", cwd=own.path)
    monkeypatch.chdir(os.sep)
    assert cli("status", "--all").out == cli("repos", "list").out != ""
    assert json.loads(cli("status", "--all", "--json").out)["repositories"][0]["name"] == "site"
    assert_error(cli("status", "--all", "--watch"), ExitCode.USAGE, "exclude each other")


def test_a_filter_by_a_file_that_does_not_exist_says_so(cli: Cli, indexed: Repo) -> None:
    outcome = cli("query", "--file", "src/cookie.py", "--file", "notes.txt", "signing key", cwd=indexed.path)
    assert outcome.code == ExitCode.OK
    assert "note: no such file in this tree: `src/cookie.py`\n" in outcome.err
    wrong = [option for number in range(7) for option in ("--file", f"none{number}.py")]
    outcome = cli("query", *wrong, "signing key", cwd=indexed.path)
    assert outcome.code == ExitCode.NO_RESULTS
    assert "`none4.py` and 2 more\n" in outcome.err
    assert "no such file" not in cli("query", "--file", "notes.txt", "key", cwd=indexed.path).err
