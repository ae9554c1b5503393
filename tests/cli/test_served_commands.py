"""Commands answered by a running gitmem: the same output as that of a new process, at any moment."""

import os
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from gitmem.cli.ask_server import SERVED, served_folder
from gitmem.errors import ExitCode
from tests.gitrepo import MakeRepo, Repo
from tests.resident.served import ask, serving, without_times
from tests.sample import HOSTILE, SIGN, Cli, segment_files

COMMANDS = [
    ("query", SIGN),
    ("search", "match", "a", "route"),
    ("query", "-n", "3", "--json", SIGN),
    ("query", "--jsonl", SIGN),
    ("query", "-l", "cookie"),
    ("query", "--explain", "--full", "CookieSession.sign_cookie"),
    ("query", "-C", "2", "--color", "always", "deploying"),
    ("query", "--neighbors", "backups"),
    ("-q", "query", "--mode", "lexical", "router"),
    ("query", "--rev", "v1", SIGN),
    ("query", "--changed", "v1..HEAD", SIGN),
    ("query", "--staged", SIGN),
    ("query", "--lang", "typescript", "--type", "function", "route"),
    ("query", "--kind", "code", "secret"),
    ("query", "--kind", "all", "secret"),
    ("query", "cookie", "src", "--", "src", ":!src/cookies.py"),
    ("query", "cookie", "src"),
    ("query", "--path", "nothing/**", "cookie"),
    ("query", "--no-refresh", SIGN),
    ("query", "-e", "-dash"),
    ("related", "src/cookies.py:8"),
    ("related", "--json", "src/routing.ts:3"),
    ("usages", "sign_cookie"),
    ("usages", "--json", "--depth", "2", "CookieSession"),
    ("usages", "--rev", "v1", "-r", "callees", "old/session.py:8"),
    ("map",),
    ("map", "--tokens", "300", "src", "signed cookies"),
    ("map", "--json", "--rev", "v1"),
    ("usages", "--changed", "v1..HEAD", "make_signature"),
    ("impact", "v1..HEAD"),
    ("impact",),
    ("impact", "--json", "--staged"),
    ("impact", "--json", "v1..HEAD"),
    ("get", "src/cookies.py:8-9", "conversation:planning", "nosuch.py"),
    ("get", "--json", "--rev", "v1", "old/session.py#make_signature"),
    ("when", "src/cookies.py:8"),
    ("when", "--json", "--rev", "v1", "old/session.py:8"),
    ("when", "--color", "always", "src/routing.ts:3-4"),
    ("changes", "v1..HEAD"),
    ("changes", "--json", "v1..", "cookie"),
    ("memory", "list"),
    ("memory", "list", "--json"),
    ("memory", "search", "decision"),
    ("memory", "log"),
    ("memory", "diff"),
    ("memory", "show", "conversation:planning"),
    ("doc", "list"),
    ("doc", "search", "--json", "reference"),
    ("conversation", "list"),
    ("conversation", "get", "planning"),
]

WRONG = [
    ("query",),
    ("query", ""),
    ("query", "a\0b".replace("\0", ""), "--limit", "0"),
    ("query", "-n", "9999", "x"),
    ("query", "x" * 1001),
    ("query", "--rev", "no-such-revision", "x"),
    ("query", "--staged", "--rev", "v1", "x"),
    ("query", "--qurey", "x"),
    ("query", "--lang", "klingon", "x"),
    ("query", "--since", "yesterday-ish", "x"),
    ("related", "src/none.py:1"),
    ("get", "src/none.py:1"),
    ("when", "src/none.py:1"),
    ("changes", "v1"),
    ("when", "--rev", "no-such-revision", "src/cookies.py:8"),
    ("memory", "show", "mem_000000000000"),
    ("doc", "get", "art_00000000"),
    ("conversation", "get", "unknown"),
]


@pytest.fixture
def remembering(own: Repo, cli: Cli) -> Repo:
    """Make an indexed repository with uncommitted files and one record of each kind."""
    (own.path / "reference.md").write_text("# Reference\n\nAll values of the cookie header.\n")
    assert cli("memory", "add", "--type", "decision", "Cookies are signed.", cwd=own.path).code == 0
    assert cli("doc", "add", "reference.md", cwd=own.path).code == 0
    assert cli("conversation", "append", "planning", "user", "When do we rotate the secret?", cwd=own.path).code == 0
    own.write({"src/new.py": "def rotate_secret():\n    pass\n", os.fsdecode(HOSTILE): "x = 1\n"})
    return own


def test_served_output_is_that_of_a_new_process(
    remembering: Repo, cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(remembering.path):
        for args in [*COMMANDS, *WRONG]:
            cold = cli(*args, cwd=remembering.path)
            served = ask(*args)
            assert served is not None, args
            assert without_times(served) == without_times(cold), args
        captured = capsys.readouterr()
        assert (captured.out, captured.err) == ("", "")


def test_served_output_in_a_folder_and_with_its_option_is_that_of_a_new_process(
    remembering: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(remembering.path):
        for args in (("query", "cookie", "--", "."), ("related", "cookies.py:8"), ("query", "cookie", "cookies.py")):
            cold = cli(*args, cwd=remembering.path / "src")
            assert without_times(ask(*args)) == without_times(cold)
            monkeypatch.chdir(remembering.path.parent)
            within = ["-C", "own/src", *args]
            assert without_times(ask(*within, folder="own/src")) == without_times(cli(*within)) == without_times(cold)


def test_standard_input_is_read_by_the_client(own: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"{SIGN}\n\n{'It fails in many ways. ' * 1380}".encode()
    with serving(own.path):
        cold = cli("query", "-n", "1", "-", cwd=own.path, stdin=text)
        assert cold.code == 0
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(text)))
        assert without_times(ask("query", "-n", "1", "-")) == without_times(cold)
        monkeypatch.setattr(sys, "stdin", None)
        closed = ask("query", "-")
    assert closed is not None
    assert "standard input is closed" in closed.err


def test_an_edit_is_seen_by_the_next_served_query(own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(own.path)
    with serving(own.path):
        for number in range(5):
            own.write({"src/edited.py": f"def moved_house_{number}():\n    return {number}\n"})
            answer = ask("query", "-l", "-n", "1", f"moved_house_{number}")
            assert answer is not None
            assert answer.out == "src/edited.py\n"
        own.commit()
        (own.path / "src/edited.py").unlink()
        answer = ask("query", "-l", "moved_house_4")
        assert answer is not None
        assert "src/edited.py" not in answer.out


def test_settings_and_revisions_are_those_of_the_moment(own: Repo, cli: Cli) -> None:
    with serving(own.path):
        cli("query", SIGN, cwd=own.path)
        for change in (
            ("config", "gitmem.searchDefaultLimit", "2"),
            ("config", "gitmem.searchDefaultLimit", "none"),
            ("config", "--unset", "gitmem.searchDefaultLimit"),
            ("switch", "-q", "--detach", "v1"),
            ("switch", "-q", "main"),
        ):
            ask("query", SIGN)  # the tree is open before it changes
            own.git(*change)
            cold = cli("query", SIGN, cwd=own.path)
            served = ask("query", SIGN)
            # A setting that is not valid is left to the client, which reports it.
            assert (served is None) == ("none" in change)
            assert served is None or without_times(served) == without_times(cold), change


def test_a_history_follows_commits_and_the_end_of_a_shallow_clone(
    own: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    own.git("clone", "-q", "--depth=1", f"file://{own.path}", "shallow")
    shallow = Repo(own.path / "shallow")
    monkeypatch.chdir(shallow.path)
    with serving(shallow.path):
        before = ask("when", "src/cookies.py:8")
        assert before is not None
        assert "the clone is shallow" in before.err
        for command in (["fetch", "-q", "--unshallow"], ["commit", "-q", "--allow-empty", "-m", "next"]):
            shallow.git(*command)
            cold = cli("when", "src/cookies.py:8")
            assert ask("when", "src/cookies.py:8") == cold
            assert "shallow" not in cold.err
            assert f"from {shallow.oid('HEAD')[:7]}" in cold.out


def test_without_an_index_none_is_built(repo: Repo, cli: Cli) -> None:
    with serving(repo.path):
        cold = cli("query", "x", cwd=repo.path)
        assert cold.code == ExitCode.NO_INDEX
        assert ask("query", "x") == cold
    assert not (repo.path / ".gitmem").exists()


def test_each_linked_working_tree_is_searched_for_itself(own: Repo, cli: Cli) -> None:
    linked = Repo(own.path.with_name("linked"))
    own.git("worktree", "add", "-q", os.fspath(linked.path))
    linked.write({"only_here.py": "def only_in_the_linked_tree():\n    pass\n"})
    with serving(own.path):
        for place in (linked, own):
            cold = cli("query", "--json", "only_in_the_linked_tree", cwd=place.path)
            served = ask("query", "--json", "only_in_the_linked_tree")
            assert without_times(served) == without_times(cold)
            assert served is not None
            assert ("only_here.py" in served.out) == (place is linked)


def test_a_damaged_index_is_repaired_with_the_note_of_a_new_process(own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(own.path)
    segment = segment_files(own)[0]
    data = bytearray(segment.read_bytes())
    data[-200:-190] = bytes(10)
    segment.write_bytes(bytes(data))
    with serving(own.path):
        first, second = ask("query", SIGN), ask("query", SIGN)
    assert first is not None
    assert second is not None
    assert first.err.startswith("note: ")
    assert "rebuilt" in first.err
    assert second.err == ""
    assert without_times(first) is not None
    assert first.out.splitlines()[:-1] == second.out.splitlines()[:-1]


def test_a_setting_turns_served_answers_off(own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(own.path)
    with serving(own.path):
        assert ask("query", SIGN) is not None
        own.git("config", "gitmem.useServer", "false")
        assert ask("query", SIGN) is None


@pytest.mark.parametrize(
    "args",
    [
        ["index"],
        ["memory", "add", "x"],
        ["memory", "delete", "x"],
        ["memory"],
        ["query", "--help"],
        ["memory", "list", "-h"],
        ["--no-server", "query", "x"],
        ["query", "x", "--no-server"],
        ["--version"],
        ["-C"],
        [],
        ["--unknown", "query", "x"],
    ],
)
def test_other_command_lines_are_not_served(args: list[str]) -> None:
    assert served_folder(args) is None


def test_global_options_in_front_of_the_command_are_understood() -> None:
    assert served_folder(["-q", "--no-pager", "-C", "a", "-Cb", "query", "x"]) == "b"
    assert served_folder(["--quiet", "memory", "list", "-C", "x"]) == ""


def test_every_served_command_exists(cli: Cli, tmp_path: Path) -> None:
    for name, parts in SERVED.items():
        for part in parts:
            assert cli(name, *([part] if part else []), "--help", cwd=tmp_path).code == 0


def test_a_repository_that_moved_is_answered_for_at_its_new_place_only(own: Repo, make_repo: MakeRepo) -> None:
    new = own.path.with_name("moved")
    with serving(own.path):
        assert ask("query", SIGN, folder=os.fspath(own.path)) is not None
        own.path.rename(new)
        make_repo("own").commit({"b.py": "def b():\n    pass\n"})
        moved = ask("query", "-l", SIGN, folder=os.fspath(new))
        assert moved is not None
        assert moved.out.startswith("src/cookies.py\n")
        assert ask("query", SIGN, folder=os.fspath(own.path)) is None
