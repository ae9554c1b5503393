"""`gitmem repos`: the rows are read live, and what is removed can be built again."""

import json
import shutil
from pathlib import Path

import pytest

from gitmem.errors import ExitCode
from gitmem.memory.record_paths import REFERENCE
from gitmem.registry import OFF_VARIABLE, add_repository
from tests.gitrepo import MakeRepo, Repo
from tests.indexes import index, python_file
from tests.sample import Cli, Json, assert_error


@pytest.fixture
def web(make_repo: MakeRepo, fake_model: object, monkeypatch: pytest.MonkeyPatch, home: Path) -> Repo:
    """Make, register and index a repository."""
    monkeypatch.delenv(OFF_VARIABLE)
    repo = make_repo("web")
    repo.commit({"lib/a.py": python_file("one", "two"), "b.md": "# Title\n\nText.\n", "logo.png": b"\x89PNG\0"})
    add_repository({"HOME": str(home)}, repo.path)
    index(repo)
    return repo


def read(cli: Cli, *args: str) -> Json:
    outcome = cli("repos", *args, "--json")
    assert outcome.code == ExitCode.OK, outcome.err
    value: Json = json.loads(outcome.out)
    return value


def test_adding_a_repository_says_how_to_index_it(cli: Cli, web: Repo, make_repo: MakeRepo) -> None:
    assert cli("repos", "add", "--name", "web", cwd=web.path).err == ""
    new = make_repo("new")
    added = cli("repos", "add", cwd=new.path)
    assert added.out == f"new  {new.path}\n"
    assert added.err == f"note: it has no index yet, so searches leave it out: gitmem -C {new.path} init\n"


def test_an_index_run_lists_its_repository(cli: Cli, web: Repo, make_repo: MakeRepo) -> None:
    new = make_repo("new")
    new.commit({"a.py": python_file("three")})
    assert cli("index", "--dry-run", cwd=new.path).code == ExitCode.OK
    assert_error(cli("index", "--rev", "nowhere", cwd=new.path), ExitCode.USAGE, "nowhere")
    assert [row["name"] for row in read(cli, "list")["repositories"]] == ["web"]
    assert cli("index", cwd=new.path).code == ExitCode.OK
    assert cli("repos", "rename", "new", "other").code == ExitCode.OK
    assert cli("index", "--full", cwd=new.path).code == ExitCode.OK
    assert [row["name"] for row in read(cli, "list")["repositories"]] == ["other", "web"]
    assert cli("repos", "remove", "other").code == ExitCode.OK
    assert cli("index", str(new.path / "a.py"), cwd=web.path).code == ExitCode.OK
    assert [row["name"] for row in read(cli, "list")["repositories"]] == ["new", "web"]


def test_a_list_that_cannot_be_written_stops_no_run(cli: Cli, web: Repo, make_repo: MakeRepo, home: Path) -> None:
    lists = home / ".local/share/gitmem/repositories.json"
    lists.unlink()
    lists.mkdir()
    new = make_repo("new")
    new.commit({"a.py": python_file("three")})
    assert cli("index", cwd=new.path).out.startswith("indexed main ")


def test_rows_are_read_live(cli: Cli, web: Repo, make_repo: MakeRepo, home: Path, tmp_path: Path) -> None:
    add_repository({"HOME": str(home)}, make_repo("empty").path)
    add_repository({"HOME": str(home)}, tmp_path / "gone")
    value = read(cli, "list")
    rows = {row["name"]: row for row in value["repositories"]}
    states = {name: row["state"] for name, row in rows.items()}
    assert states == {"web": "Up to Date", "empty": "No Index", "gone": "Missing"}
    row = rows["web"]
    assert (row["files"], row["indexed"], row["skipped"]) == (3, 2, {"binary": 1})
    assert set(row["languages"]) == {"python", "markdown"}
    assert sum(language["chunks"] for language in row["languages"].values()) == row["chunks"]
    assert sum(row["chunk_types"].values()) == row["chunks"]
    assert row["last_run"]["event"] == "index"
    assert value["totals"] == {
        "repositories": 3,
        **{name: row[name] for name in ("files", "indexed", "not_indexed", "chunks", "bytes")},
    }
    web.write({"new.py": python_file("three")})
    assert read(cli, "show", "web")["state"] == "Needs Update"
    lines = cli("repos", "list").out.splitlines()
    assert lines[0].split()[:2] == ["empty", "No"]
    assert lines[-1].startswith("3 repositories: 4 files, ")
    shown = cli("repos", "show", "web").out
    assert "  language   python: 1 file, " in shown
    assert "  last run   " in shown
    assert "  settings   default\n" in shown
    web.git("config", "gitmem.exclude", "docs/,*.csv")
    assert "  settings   exclude docs/, *.csv\n" in cli("repos", "show", "web").out
    assert read(cli, "show", "web")["settings"]["exclude"] == ["docs/", "*.csv"]


def test_an_empty_list_says_why(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    disabled = cli("repos", "list")
    assert (disabled.code, disabled.out) == (ExitCode.OK, "")
    assert disabled.err.startswith("note: the registry of repositories is disabled")
    assert cli("--quiet", "repos", "list").err == ""
    monkeypatch.delenv(OFF_VARIABLE)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert cli("status", "--all").err == "note: no repository is known (gitmem repos add PATH)\n"


def test_a_repository_of_a_broken_configuration_is_listed_with_the_reason(cli: Cli, web: Repo) -> None:
    (web.path / ".gitmem.toml").write_text("nonsense = 1\n")
    row = read(cli, "show", "web")
    assert row["state"] == "Unreadable"
    assert "nonsense" in row["problem"]


def test_a_renamed_repository_is_found_by_its_new_name_only(cli: Cli, web: Repo) -> None:
    """Property 19 of the capabilities, from the command line."""
    assert read(cli, "rename", "web", "site") == {"name": "site", "path": str(web.path)}
    assert_error(cli("repos", "show", "web"), ExitCode.USAGE, "unknown repository `web`")
    assert_error(cli("query", "--repo", "web", "one"), ExitCode.USAGE, "unknown repository `web`")
    assert "site:lib/a.py" in cli("query", "--repo", "site", "-l", "one").out
    assert_error(cli("repos", "rename", "site", "../x y"), ExitCode.USAGE, "invalid name of a repository: `../x y`")


def test_remove_deletes_the_index_and_keeps_the_memory(cli: Cli, web: Repo) -> None:
    assert cli("memory", "add", "Tokens rotate weekly.", cwd=web.path).code == 0
    removed = read(cli, "remove", "web")
    assert (removed["index_removed"], removed["records_kept"], removed["records_removed"]) == (True, 1, 0)
    assert not (web.path / ".gitmem").exists()
    assert read(cli, "list")["repositories"] == []
    assert_error(cli("query", "one", cwd=web.path), ExitCode.NO_INDEX, "no index")
    assert "Tokens rotate weekly." in cli("memory", "list", cwd=web.path).out
    assert_error(cli("repos", "remove", "web"), ExitCode.USAGE, "unknown repository `web`")


def test_all_data_is_deleted_after_a_confirmation_only(cli: Cli, web: Repo) -> None:
    assert cli("memory", "add", "Tokens rotate weekly.", cwd=web.path).code == 0
    refused = cli("repos", "remove", "web", "--all-data")
    assert_error(refused, ExitCode.USAGE, "pass `--yes`")
    assert refused.err.endswith("hint: gitmem repos remove web --all-data --yes\n")
    assert (web.path / ".gitmem").exists()
    assert cli("repos", "remove", "web", "--all-data", "--yes").out.splitlines() == [
        "removed web and its index",
        "deleted the memory: 1 record",
    ]
    assert web.git("ls-tree", "-r", REFERENCE) == ""
    assert "Tokens rotate" not in web.git("cat-file", "--batch-all-objects", "--batch")


def test_prune_removes_only_missing_repositories(cli: Cli, web: Repo, make_repo: MakeRepo, home: Path) -> None:
    other = make_repo("other")
    add_repository({"HOME": str(home)}, other.path)
    shutil.rmtree(other.path)
    assert read(cli, "prune") == {"removed": [{"name": "other", "path": str(other.path)}]}
    assert [row["name"] for row in read(cli, "list")["repositories"]] == ["web"]


def test_a_dropped_run_takes_its_chunks_with_it(cli: Cli, web: Repo) -> None:
    web.commit({"c.py": python_file("three")})
    index(web)
    runs = read(cli, "runs", "web")["runs"]
    assert [run["blobs_embedded"] for run in runs] == [1, 2]
    before = read(cli, "show", "web")
    dropped = read(cli, "drop-run", "web", runs[0]["at"])
    assert dropped == {"at": runs[0]["at"], "blobs": 1, "chunks": runs[0]["chunks_added"]}
    after = read(cli, "show", "web")
    assert (after["state"], after["not_indexed"]) == ("Needs Update", 1)
    assert after["chunks"] == before["chunks"] - dropped["chunks"]
    assert [run["at"] for run in read(cli, "runs", "web")["runs"]] == [runs[1]["at"]]
    again = cli("repos", "drop-run", "web", runs[0]["at"])
    assert_error(again, ExitCode.USAGE, "no run at")
    assert again.err.endswith(f"hint: gitmem repos runs {web.path}\n")
    assert index(web).embedded == 1
    assert read(cli, "show", "web")["chunks"] == before["chunks"]
