"""Folders and files outside of any repository: indexed, searched and removed like repositories."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gitmem.errors import ExitCode
from gitmem.git.locate import locate
from gitmem.git.plain_folders import find_plain_folder, make_plain_folder
from tests.gitrepo import Repo
from tests.sample import Cli, assert_error

pytestmark = pytest.mark.usefixtures("fake_model", "data")

TEXTS = {
    "plan.md": "# Plan\n\nRotate the signing key.\n",
    "lib/cookies.py": "def sign_cookie(value):\n    return value\n",
    "lib/ignored.log": "nothing\n",
    "lib/private.txt": "nothing\n",
    ".gitignore": "*.log\n",
    ".gitmemignore": "private.txt\n",
}


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Keep the user's data in a folder of the test."""
    monkeypatch.delenv("GITMEM_NO_REGISTRY")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "gitmem"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder of texts that is no repository."""
    for name, text in TEXTS.items():
        file = tmp_path / "papers" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "papers"


def found(cli: Cli, folder: Path, query: str, *options: str) -> list[str]:
    """Return the paths of the results of a query."""
    return cli("query", "-l", "--mode", "lexical", *options, query, cwd=folder).out.split()


def test_a_folder_is_indexed_and_followed_without_a_file_in_it(cli: Cli, folder: Path, data: Path) -> None:
    outcome = cli("index", str(folder), cwd=folder.parent)
    assert (outcome.code, outcome.err) == (ExitCode.OK, "")
    assert outcome.out.startswith("indexed folder papers  5 files")
    assert cli("index", cwd=folder).out == "up to date: folder papers\n"
    status = json.loads(cli("status", "--json", cwd=folder / "lib").out)
    assert (status["state"], status["files"]["indexed"], status["files"]["skipped"]) == (
        "Up to Date",
        4,
        {"ignored": 1},
    )
    assert Path(status["index"]["path"]).is_relative_to(data)
    assert found(cli, folder / "lib", "sign_cookie")[0] == "lib/cookies.py"
    assert cli("query", "sign_cookie", cwd=folder).out.splitlines()[-1].startswith("folder papers, fresh")
    # Without a commit or a run, queries see each change.
    (folder / "lib/new.py").write_text("def rotate_secret():\n    pass\n")
    (folder / "lib/cookies.py").unlink()
    assert found(cli, folder, "rotate_secret")[0] == "lib/new.py"
    assert "lib/cookies.py" not in found(cli, folder, "sign_cookie")
    assert cli("get", "lib/new.py#rotate_secret", cwd=folder).out.startswith("def rotate_secret")
    (folder / "later.py").write_text("def later():\n    pass\n")
    assert json.loads(cli("index", "--json", cwd=folder).out)["blobs_embedded"] == 1, "a run indexes all files"
    assert cli("gc", "--now", cwd=folder).code == ExitCode.OK
    assert cli("verify", cwd=folder).out.startswith("sound: ")
    assert found(cli, folder, "rotate_secret")[0] == "lib/new.py"
    assert {file.name for file in folder.iterdir()} == {"plan.md", "later.py", "lib", ".gitignore", ".gitmemignore"}


def test_a_large_file_of_a_folder_is_reported_with_its_size_and_the_limit(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITMEM_MAX_FILE_BYTES", "2048")
    (folder / "big.py").write_text("x = 1\n" * 500)
    (folder / "logo.png").write_bytes(b"\x89PNG")
    outcome = cli("index", "-v", str(folder), cwd=folder.parent)
    assert outcome.out.startswith("indexed folder papers  7 files")
    assert "  large: big.py, 3,000 bytes of at most 2,048\n" in outcome.out
    assert "  binary: logo.png, 4 bytes\n" in outcome.out
    status = json.loads(cli("status", "--json", cwd=folder).out)
    assert (status["state"], status["files"]["skipped"]["large"]) == ("Up to Date", 1)
    for name in ("big.py", "big.py:chunk_0"):
        assert_error(cli("get", name, cwd=folder), ExitCode.USAGE, "`big.py` is not indexed: large")


def test_a_folder_is_one_of_the_repositories_until_it_is_removed(cli: Cli, folder: Path, data: Path) -> None:
    cli("index", str(folder))
    assert cli("repos", "list", cwd=folder.parent).out.startswith("papers  Up to Date  5 files")
    assert "papers:plan.md" in found(cli, folder.parent, "signing key", "--repo", "papers")
    assert cli("get", "papers:plan.md:1", cwd=folder.parent).out == "# Plan\n"
    assert cli("repos", "remove", "papers").code == ExitCode.OK
    assert [file.name for file in (data / "folders").iterdir()] == ["lock"]
    outcome = cli("query", "key", cwd=folder)
    assert_error(outcome, ExitCode.USAGE, "is not inside a git repository")
    assert "gitmem index PATH" in outcome.err


def test_records_of_a_folder_are_removed_only_on_request(cli: Cli, folder: Path, data: Path) -> None:
    cli("index", str(folder))
    note = json.loads(cli("memory", "add", "--json", "Keys rotate.", cwd=folder).out)["id"]
    assert cli("repos", "remove", "papers").code == ExitCode.OK
    assert cli("memory", "show", note, cwd=folder).code == ExitCode.OK
    cli("index", str(folder))
    cli("memory", "delete", note, cwd=folder)
    assert cli("uninstall", "--yes", cwd=folder).code == ExitCode.OK
    assert cli("memory", "restore", note, cwd=folder).code == ExitCode.OK, "a deleted record can be restored"
    cli("index", str(folder))
    assert cli("repos", "remove", "papers", "--all-data", "--yes").code == ExitCode.OK
    assert find_plain_folder(folder, {"XDG_DATA_HOME": str(data.parent)}) is None


def test_a_missing_folder_is_pruned_with_its_index(cli: Cli, folder: Path, data: Path) -> None:
    cli("index", str(folder))
    folder.rename(folder.with_name("moved"))
    assert "Missing" in cli("repos", "list").out
    assert cli("repos", "prune").out.startswith("removed papers")
    assert [file.name for file in (data / "folders").iterdir()] == ["lock"]


def test_files_are_indexed_alone_until_their_folder_is(cli: Cli, folder: Path) -> None:
    (folder / "a [1]*.md").write_text("An odd name.\n")
    (folder / "a 1.md").write_text("Another one.\n")
    assert cli("index", str(folder / "plan.md")).out.startswith("indexed folder papers  1 file ")
    assert cli("index", "a [1]*.md", cwd=folder).out.startswith("indexed folder papers  2 files ")
    assert found(cli, folder, "name") == ["a", "[1]*.md"]
    assert found(cli, folder, "Another") == []
    assert cli("index", ".", cwd=folder).out.startswith("indexed folder papers  7 files ")
    assert found(cli, folder, "Another") == ["a", "1.md"]
    # The parent is known, so a file below it is no folder of its own.
    assert cli("index", str(folder / "lib/cookies.py")).out == "up to date: folder papers\n"


def test_only_files_and_folders_are_indexed(cli: Cli, folder: Path, data: Path) -> None:
    os.mkfifo(folder / "pipe")
    for path in (folder / "pipe", Path("/dev/null")):
        assert_error(cli("index", str(path)), ExitCode.USAGE, f"`{path}` is neither a file nor a folder")
    assert not data.exists()


def test_messages_know_that_a_folder_has_no_commits(cli: Cli, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    outcome = cli("index", str(tmp_path / "empty"))
    assert outcome.out == "folder empty: nothing to index; add a file, then run `gitmem index`\n"
    cli("index", str(folder))
    for command in (("when", "plan.md:1"), ("query", "--rev", "HEAD", "key"), ("query", "--at", "2026-01-01", "key")):
        refused = cli(*command, cwd=folder)
        assert_error(refused, ExitCode.USAGE, f"{folder} is not a git repository and has no commits")
        assert refused.err.endswith("hint: create one with `git init`\n")


def test_nothing_becomes_known_by_a_dry_run_a_wrong_path_or_another_command(cli: Cli, folder: Path, data: Path) -> None:
    planned = cli("index", "--dry-run", str(folder))
    assert planned.code == ExitCode.OK
    assert f"would index folder {folder.name}" in planned.out
    assert_error(cli("index", "--dry-run", str(folder / "none")), ExitCode.USAGE, "does not exist")
    assert_error(cli("index", str(folder / "none")), ExitCode.USAGE, "does not exist")
    for command in (("index",), ("query", "key"), ("status",), ("watch",), ("get", "plan.md")):
        assert cli(*command, cwd=folder).code == ExitCode.USAGE
    assert not data.exists()


def test_the_data_folder_is_no_part_of_a_folder_around_it(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "my data"))
    for _ in range(2):
        assert cli("index", str(folder)).code == ExitCode.OK
    assert json.loads(cli("status", "--json", cwd=folder).out)["files"]["total"] == 5


def test_a_folder_is_made_once_by_concurrent_runs(folder: Path, data: Path) -> None:
    environment = {"XDG_DATA_HOME": str(data.parent)}
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: make_plain_folder(folder, environment), range(4)))
    location = locate(folder / "lib")
    assert (location.worktree, location.plain, location.head_commit) == (folder, True, None)


def test_a_repository_in_or_around_a_folder_is_not_part_of_it(cli: Cli, folder: Path) -> None:
    cli("index", str(folder))
    nested = Repo.init(folder / "nested")
    nested.commit({"inner.py": "def inner_function():\n    pass\n"})
    assert found(cli, folder, "inner_function") == []
    assert not locate(nested.path).plain
    Repo.init(folder)
    assert not locate(folder).plain
