"""`gitmem bisect-hint` as users and programs see it."""

import json
from pathlib import Path

import pytest

from gitmem.errors import ExitCode
from tests.gitrepo import Repo
from tests.sample import Cli, assert_error

SLOW = "def wait_for_reply(timeout):\n    for number in range(20):\n        sleep(timeout)\n"


@pytest.fixture
def own(own: Repo) -> Repo:
    """The sample with two more commits, of which one makes a function wait."""
    repo = own
    repo.git("tag", "good")
    repo.commit({"src/reply.py": SLOW}, "read replies")
    repo.commit({"notes.txt": "token = ghp_0123456789abcdefghijABCDEFGHIJ012345\n"}, "write a note")
    return repo


def test_the_suspects_are_printed_with_what_they_changed(cli: Cli, own: Repo) -> None:
    outcome = cli("bisect-hint", "waiting for a reply takes too long", "good..HEAD", "-n", "1", cwd=own.path)
    assert outcome.code == ExitCode.OK
    first, suspect, chunk = outcome.out.splitlines()
    assert first == "good..HEAD: 2 commits without merges"
    commit, date, score, rest = suspect.split(maxsplit=3)
    assert (commit, date, rest) == (own.oid("HEAD~1")[:9], "2024-01-02", "read replies  (A Person)")
    assert 0 < float(score) <= 1
    assert chunk.strip() == "src/reply.py#wait_for_reply  introduced"


def test_the_range_can_come_first(cli: Cli, own: Repo) -> None:
    args = ("waiting for a reply... takes too long", "good..HEAD")
    assert cli("bisect-hint", *reversed(args), cwd=own.path).out == cli("bisect-hint", *args, cwd=own.path).out
    # A word is no range, and a range alone is a text.
    assert_error(cli("bisect-hint", "reply", "slow", cwd=own.path), ExitCode.USAGE, "not a range of revisions: `slow`")


def test_json_has_the_evidence_and_standard_input_is_read(cli: Cli, own: Repo) -> None:
    symptom = b"Waiting for a reply\n\nIt takes too long.\n"
    value = json.loads(cli("bisect-hint", "--json", "-", "good..HEAD", cwd=own.path, stdin=symptom).out)
    assert (value["since"], value["until"], value["commits"], value["omitted"]) == ("good", "HEAD", 2, 0)
    first = value["suspects"][0]
    assert (first["commit"], first["subject"]) == (own.oid("HEAD~1"), "read replies")
    assert first["chunks"] == [{"path": "src/reply.py", "symbol": "wait_for_reply", "kinds": ["introduced"]}]
    assert set(first["evidence"]) == {"chunks", "files", "lines", "message", "meaning", "size"}
    assert first["files"] == ["src/reply.py"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["x", "good..good"], "no commits in good..good"),
        (["x", "good..none"], "unknown commit, tag or branch: `none`"),
        (["  ", "good..HEAD"], "the symptom is empty"),
        (["x", "good..HEAD", "-n", "0"], "0 is not in the range 1<=x<=1000"),
    ],
)
def test_bad_input_is_explained_in_one_line(cli: Cli, own: Repo, args: list[str], message: str) -> None:
    assert_error(cli("bisect-hint", *args, cwd=own.path), ExitCode.USAGE, message)


def test_without_an_index_it_says_how_to_make_one(cli: Cli, repo: Repo, tmp_path: Path) -> None:
    outcome = cli("bisect-hint", "x", cwd=repo.path)
    assert_error(outcome, ExitCode.NO_INDEX, "no index")
