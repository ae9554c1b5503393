"""`gitmem changes` as users and programs see it."""

import json
from pathlib import Path

import pytest

from gitmem.errors import ExitCode
from tests.gitrepo import Repo
from tests.sample import Cli, assert_error

ADD = "def add(first, second):\n    total = first + second\n    check(total)\n    return total\n"
RETRY = "def retry(request):\n    for attempt in range(5):\n        sleep(2**attempt)\n        send(request)\n"


@pytest.fixture
def repo(repo: Repo) -> Repo:
    """A range in which a function moves, one is added and a text changes."""
    repo.commit({"a.py": f"import os\n\n\n{ADD}", "notes.txt": "one\n"}, "first")
    repo.git("tag", "v1")
    repo.commit({"a.py": "import os\n", "b.py": f"{ADD}\n\n{RETRY}", "notes.txt": "one\ntwo\n"}, "second")
    return repo


def test_changes_are_listed_by_group(cli: Cli, repo: Repo) -> None:
    outcome = cli("changes", "v1..HEAD", cwd=repo.path)
    assert outcome.code == ExitCode.OK
    assert outcome.out.splitlines() == [
        "v1..HEAD: 3 files, 1 added, 1 changed, 1 moved",
        "added:",
        "  b.py:7-10  retry",
        "changed:",
        "  notes.txt  body",
        "moved:",
        "  b.py:1-4  add  from a.py",
    ]
    assert cli("changes", "v1..v1", cwd=repo.path).out == "v1..v1: 0 files, no changes\n"


def test_words_rank_the_changes(cli: Cli, repo: Repo) -> None:
    lines = cli("changes", "v1..", "repeat", "failed requests", cwd=repo.path).out.splitlines()
    assert lines[1] == "b.py:7-10  retry  added"
    lines = cli("changes", "v1..", "sum of first and second", cwd=repo.path).out.splitlines()
    assert lines[1] == "b.py:1-4  add  moved  from a.py"


def test_a_budget_keeps_the_best_or_largest_changes(cli: Cli, repo: Repo) -> None:
    many = "".join(f"def function_{number}():\n    return {number}\n\n\n" for number in range(40))
    repo.commit({"c.py": many, "d.py": RETRY.replace("retry", "try_again")}, "third")
    lines = cli("changes", "--tokens", "160", "HEAD^..HEAD", cwd=repo.path).out.splitlines()
    assert "  d.py:1-4  try_again" in lines
    assert lines[-1].endswith(" changes omitted")
    value = json.loads(cli("changes", "--json", "--tokens", "160", "HEAD^..HEAD", "function_7", cwd=repo.path).out)
    assert value["changes"][0]["symbol"] == "function_7"
    assert value["counts"] == {"added": 41, "removed": 0, "changed": 0, "moved": 0}
    assert len(value["changes"]) + value["omitted"] == 41


def test_json_has_both_places(cli: Cli, repo: Repo) -> None:
    value = json.loads(cli("changes", "--json", "v1..HEAD", cwd=repo.path).out)
    assert value["changes"][-1] == {
        "change": "moved", "kinds": ["move"], "path": "b.py", "symbol": "add", "chunk_type": "function",
        "start_line": 1, "end_line": 4, "old_path": "a.py", "old_symbol": None, "members": 0, "lines": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["HEAD"], "not a range of revisions: `HEAD`"),
        (["v1..none"], "unknown commit, tag or branch: `none`"),
        (["v1..HEAD", "--tokens", "5"], "5 is not in the range x>=100"),
    ],
)
def test_bad_input_is_explained_in_one_line(cli: Cli, repo: Repo, args: list[str], message: str) -> None:
    assert_error(cli("changes", *args, cwd=repo.path), ExitCode.USAGE, message)


@pytest.mark.parametrize("damage", ["missing", "damaged"])
def test_an_unreadable_object_is_named_with_its_consequence_and_remedy(cli: Cli, repo: Repo, damage: str) -> None:
    repo.git("mv", "b.py", "moved.py")
    repo.commit({"moved.py": f"{ADD}\n\n{RETRY}# moved\n"}, "third")
    lost = repo.oid("HEAD^:b.py")
    file = repo.loose_object(lost)
    file.chmod(0o600)
    file.unlink() if damage == "missing" else file.write_bytes(b"damaged")
    outcome = cli("changes", "HEAD^..HEAD", cwd=repo.path)
    assert outcome.code == ExitCode.OK
    assert "removed:\n  b.py" in outcome.out
    note = (
        f"git cannot read 1 object ({lost[:12]}): code that moved may count as removed and added"
        " (find the damage with git fsck, and restore the objects from another clone)"
    )
    assert outcome.err == f"note: {note}\n"
    assert json.loads(cli("changes", "--json", "HEAD^..HEAD", cwd=repo.path).out)["notes"] == [note]


def test_a_partial_clone_is_told_how_to_fetch_what_it_lacks(cli: Cli, repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    clone = Repo(tmp_path / "clone")
    repo.git("clone", "-q", "--filter=blob:none", f"file://{repo.path}", str(clone.path))
    repo.commit({"notes.txt": "three\n"}, "third")
    clone.git("pull", "-q")
    outcome = cli("changes", "HEAD^..HEAD", cwd=clone.path)
    assert outcome.err == ""
    outcome = cli("changes", "v1..HEAD", cwd=clone.path)
    assert "fetch them with: git fetch --refetch --no-filter" in outcome.err + outcome.out
