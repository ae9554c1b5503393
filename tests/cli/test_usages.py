"""`gitmem usages` as users and programs see it."""

import json
from pathlib import Path

import pytest

from gitmem.errors import ExitCode
from tests.gitrepo import Repo
from tests.sample import Cli, assert_error


def test_places_are_grouped_by_relation_with_their_lines(cli: Cli, indexed: Repo) -> None:
    outcome = cli("usages", "make_signature", cwd=indexed.path)
    assert outcome.code == ExitCode.OK
    *lines, tree = outcome.out.splitlines()
    assert lines == [
        "definitions: 2",
        "  src/cookies.py:16  make_signature  def make_signature(value: str, secret: str) -> str:",
        "  src/copy_of_cookies.py:16  make_signature  def make_signature(value: str, secret: str) -> str:",
        "callers: 2",
        '  src/cookies.py:9  CookieSession.sign_cookie  return value + "." + make_signature(value, secret)'
        "  (means src/cookies.py:16)",
        '  src/copy_of_cookies.py:9  CookieSession.sign_cookie  return value + "." + make_signature(value, secret)'
        "  (means src/copy_of_cookies.py:16)",
    ]
    assert tree.startswith(f"main {indexed.oid('HEAD')[:7]}, fresh")


def test_json_has_totals_certainty_and_the_tree(cli: Cli, indexed: Repo) -> None:
    value = json.loads(cli("usages", "--json", "-n", "1", "-r", "callers", "make_signature", cwd=indexed.path).out)
    assert value["relations"].keys() == {"callers"}
    callers = value["relations"]["callers"]
    assert (callers["total"], len(callers["places"])) == (2, 1)
    assert callers["places"][0] == {
        "path": "src/cookies.py",
        "line": 9,
        "kind": "call",
        "symbol": "CookieSession.sign_cookie",
        "text": 'return value + "." + make_signature(value, secret)',
        "depth": 1,
        "definitions": 1,
        "by": "file",
        "may_be_library": False,
        "target": "src/cookies.py:16",
        "through": None,
    }
    assert value["view"]["commit"] == indexed.oid("HEAD")


def test_older_revisions_answer_for_themselves(cli: Cli, own: Repo) -> None:
    outcome = cli("usages", "--rev", "v1", "-r", "callers", "old/session.py#make_signature", cwd=own.path)
    assert [line.split()[0] for line in outcome.out.splitlines()[1:-1]] == ["old/session.py:9"]


def test_a_limit_says_what_it_cuts(cli: Cli, indexed: Repo) -> None:
    outcome = cli("usages", "--limit", "1", "make_signature", cwd=indexed.path)
    assert [line for line in outcome.out.splitlines() if line[0] != " "][:2] == [
        "definitions: 2, 1 shown",
        "callers: 2, 1 shown",
    ]


def test_a_name_that_nothing_has_is_no_result(cli: Cli, indexed: Repo) -> None:
    outcome = cli("usages", "no_such_name", cwd=indexed.path)
    assert (outcome.code, outcome.out) == (ExitCode.NO_RESULTS, "")
    assert outcome.err.endswith("nothing in this tree has the name `no_such_name`\n")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--relation", "callers", "src/cookies.py"], "`src/cookies.py` is a whole file"),
        (["docs/guide.md:3"], "no definition at or around"),
        (["src/cookies.py:999"], "no definition at or around"),
        (["src/cookies.py#nothing"], "no symbol `nothing`"),
        (["Nobody.make_signature"], "no definition of `Nobody.make_signature`"),
        ([""], "the name is empty"),
        (["x" * 501], "a name has at most 500 characters"),
        (["--depth", "0", "x"], "the depth is 0, it must be between 1 and 5"),
        (["--limit", "0", "x"], "the limit is 0, it must be between 1 and 1000"),
        (["--staged", "--rev", "v1", "x"], "--staged"),
        (["--rev", "nowhere", "x"], "unknown commit, tag or branch"),
    ],
)
def test_bad_input_is_refused_in_one_line(cli: Cli, indexed: Repo, args: list[str], message: str) -> None:
    assert_error(cli("usages", *args, cwd=indexed.path), ExitCode.USAGE, message)


def test_secrets_in_a_line_are_dots(cli: Cli, own: Repo) -> None:
    key = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" + "K1l2M3n4O5p6Q7r8"
    own.write({"src/login.py": f'def login(token):\n    return token\n\n\nlogin("{key}")\n'})
    shown = cli("usages", "-r", "callers", "login", cwd=own.path).out
    assert "src/login.py:5" in shown
    assert key not in shown
    assert key in cli("usages", "--show-secrets", "-r", "callers", "login", cwd=own.path).out


def test_a_range_shows_only_usages_on_its_changed_lines(cli: Cli, own: Repo) -> None:
    own.commit(
        {"src/login.py": "from cookies import make_signature\n\n\ndef log_in(user):\n    make_signature(user)\n"}
    )
    own.git("tag", "before")
    added = (own.path / "src/login.py").read_text() + "\n\ndef log_out(user):\n    make_signature(user)\n"
    own.commit({"src/login.py": added, "src/new.py": "from cookies import make_signature\n\nmake_signature('')\n"})
    args = ("usages", "--changed", "before..HEAD", "-r", "callers")
    outcome = cli(*args, "make_signature", cwd=own.path)
    assert [line.split()[0] for line in outcome.out.splitlines()[1:-1]] == ["src/login.py:9", "src/new.py:3"]
    none = cli(*args, "log_in", cwd=own.path)
    assert none.code == ExitCode.NO_RESULTS
    assert "no usages of `log_in` on the lines that before..HEAD changes" in none.err


def test_a_byte_order_mark_is_no_part_of_a_line(cli: Cli, tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"Settle.sql": "\ufeffCREATE PROCEDURE [dbo].[Settle]\nAS\nSELECT 1\nGO\n"})
    assert cli("index", cwd=repo.path).code == ExitCode.OK
    assert "  Settle.sql:1  Settle  CREATE PROCEDURE [dbo].[Settle]\n" in cli("usages", "Settle", cwd=repo.path).out
