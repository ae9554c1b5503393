"""`gitmem get` as users and programs see it."""

import json
import shutil
from pathlib import Path

import pytest

from gitmem.errors import ExitCode
from tests.gitrepo import Repo
from tests.sample import Cli, assert_error


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Register repositories in a folder of the test."""
    monkeypatch.delenv("GITMEM_NO_REGISTRY")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.mark.usefixtures("registry")
def test_every_form_of_an_id_is_read_without_an_index(cli: Cli, own: Repo) -> None:
    shutil.rmtree(own.path / ".gitmem")
    (own.path / "plan.md").write_text("First line.\nSecond line.\n")
    note = json.loads(cli("memory", "add", "--json", "Cookies are signed.", cwd=own.path).out)["id"]
    document = json.loads(cli("doc", "add", "--json", "plan.md", cwd=own.path).out)["id"]
    cli("conversation", "append", "planning", "user", "When?", cwd=own.path)
    cli("repos", "add", "--name", "site", cwd=own.path)
    blob = own.oid("HEAD:src/cookies.py")
    whole = (own.path / "src/cookies.py").read_text()
    for name, content in (
        ("src/cookies.py", whole.removesuffix("\n")),
        ("src/cookies.py:4", "class CookieSession:"),
        ("src/cookies.py#L1-L2", '"""Sessions kept in signed cookies."""\n'),
        ("src/cookies.py#make_signature", "\n".join(whole.splitlines()[15:])),
        (f"{blob}:0", whole.splitlines()[0]),
        (note, "Cookies are signed."),
        (document, "First line.\nSecond line.\n"),
        (f"{document}:2-2", "Second line.\n"),
        ("conversation:planning", "When?"),
        ("conversation:planning 0", "When?"),
        ("site:src/cookies.py:4", "class CookieSession:"),
        (f"site:{note}", "Cookies are signed."),
    ):
        outcome = cli("get", "--json", name, cwd=own.path)
        assert outcome.code == ExitCode.OK, name
        (item,) = json.loads(outcome.out)["items"]
        assert item["content"] == content, name
        assert cli("get", name, cwd=own.path).out.rstrip("\n") == content.rstrip("\n")
    (row,) = json.loads(cli("get", "--json", "repository:site", cwd=own.path).out)["items"]
    assert (row["kind"], row["name"]) == ("repository", "site")
    assert not (own.path / ".gitmem" / "manifest").exists(), "no index is made"


def test_paths_are_relative_to_the_root_or_the_current_folder_and_of_any_revision(cli: Cli, indexed: Repo) -> None:
    line = cli("get", "src/cookies.py:1", cwd=indexed.path).out
    assert cli("get", "cookies.py:1", cwd=indexed.path / "src").out == line
    assert cli("get", "--rev", "v1", "old/session.py:1", cwd=indexed.path).out == line
    assert_error(cli("get", "--rev", "v1", "src/cookies.py", cwd=indexed.path), ExitCode.USAGE, "no such file")


def test_several_texts_have_headings_and_a_wrong_id_spoils_only_itself(cli: Cli, indexed: Repo) -> None:
    outcome = cli("get", "notes.txt", "nosuch.py", "src/cookies.py:1", cwd=indexed.path)
    assert outcome.code == ExitCode.FAILED
    assert outcome.out == (
        "==> notes.txt:1-1 <==\nRemember to rotate the signing key every quarter.\n"
        '\n==> src/cookies.py:1-1 <==\n"""Sessions kept in signed cookies."""\n'
    )
    assert "error: no such file in this tree: `nosuch.py`" in outcome.err
    value = json.loads(cli("get", "--json", "notes.txt", "nosuch.py", cwd=indexed.path).out)
    assert [item["id"] for item in value["items"]] == ["notes.txt:1"]
    assert [error["code"] for error in value["errors"]] == [ExitCode.USAGE]
    assert_error(cli("get", "nosuch.py", "nosuch.rs", cwd=indexed.path), ExitCode.USAGE, "no such file")


@pytest.mark.usefixtures("registry")
def test_outside_of_a_repository_only_named_ones_are_read(cli: Cli, own: Repo) -> None:
    cli("repos", "add", "--name", "site", cwd=own.path)
    away = own.path.parent
    assert cli("get", "site:notes.txt", cwd=away).out == "Remember to rotate the signing key every quarter.\n"
    assert_error(cli("get", "notes.txt", cwd=away), ExitCode.USAGE, "not in a git repository")
    assert_error(cli("get", "site:nosuch.py", cwd=away), ExitCode.USAGE, "no such file")
    outcome = cli("get", "sitee:notes.txt", cwd=away)
    assert_error(outcome, ExitCode.USAGE, "unknown repository `sitee`")
    assert "did you mean `site`?" in outcome.err
    for lines in ("notes.txt:12", "notes.txt:chunk_0", "conversation:x"):
        assert_error(cli("get", lines, cwd=away), ExitCode.USAGE, f"not in a git repository, so `{lines}`")


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("sitee:notes.txt", "unknown repository `sitee`: `sitee:notes.txt`", "did you mean `site`?"),
        ("v1:old/session.py", "no such file in this tree: `v1:old/session.py`", "gitmem get --rev v1 old/session.py"),
        ("notes.txt:nowhere", "no such file in this tree: `notes.txt:nowhere`", "did you mean `notes.txt`?"),
        ("src:cookies", "no such file in this tree: `src:cookies`", "did you mean `src/cookies.py`?"),
        ("C:/cookies", "no such file in this tree: `C:/cookies`", "did you mean `src/cookies.py`?"),
        ("site:sitee:notes.txt", "no such file in this tree: `sitee:notes.txt`", "did you mean `notes.txt`?"),
    ],
)
def test_the_error_says_what_precedes_a_colon(cli: Cli, indexed: Repo, name: str, message: str, hint: str) -> None:
    cli("repos", "add", "--name", "site", cwd=indexed.path)
    outcome = cli("get", name, cwd=indexed.path)
    assert_error(outcome, ExitCode.USAGE, message)
    assert hint in outcome.err


def test_a_document_is_read_listed_and_deleted_by_the_id_its_user_gave(cli: Cli, own: Repo) -> None:
    (own.path / "plan.md").write_text("Rotate the keys.\n")
    first = json.loads(cli("doc", "add", "--id", "my plan:1", "--json", "plan.md", cwd=own.path).out)["id"]
    other = ("doc", "add", "--source", "wiki", "--id", "my plan:1", "--json", "plan.md")
    second = json.loads(cli(*other, cwd=own.path).out)["id"]
    assert first != second
    for name, identity in (("my plan:1", first), ("manual:my plan:1", first), ("wiki:my plan:1", second)):
        assert cli("doc", "get", name, cwd=own.path).out == "Rotate the keys.\n"
        assert json.loads(cli("get", "--json", name, cwd=own.path).out)["items"][0]["id"] == identity
        listed = json.loads(cli("doc", "list", "--json", "--id", name, cwd=own.path).out)
        assert [document["id"] for document in listed] == [identity]
    assert cli("doc", "list", "--id", "my plan", cwd=own.path).out == ""
    # A file of that name has precedence, and adding with the same id replaces.
    (own.path / "plan.md").write_text("Rotate them twice.\n")
    cli("doc", "add", "--id", "my plan:1", "plan.md", cwd=own.path)
    own.write({"my plan": "in the tree\n"})
    assert cli("get", "my plan:1", cwd=own.path).out == "in the tree\n"
    assert cli("doc", "get", "my plan:1", cwd=own.path).out == "Rotate them twice.\n"
    assert cli("doc", "delete", "my plan:1", cwd=own.path).out.startswith(f"deleted {first}")
    for command in (("doc", "get"), ("doc", "delete")):
        assert_error(cli(*command, "my plan:1", cwd=own.path), ExitCode.USAGE, "no such document")
    assert cli("doc", "get", "wiki:my plan:1", cwd=own.path).code == ExitCode.OK


def test_secrets_are_dots(cli: Cli, own: Repo) -> None:
    token = "ghp_" + "x7Kq2mZ9" + "wB4tR8sY" + "1cV6nD3f" + "H5jL0pQa" + "4eTu"
    own.write({"config.py": f'TOKEN = "{token}"\n'})
    outcome = cli("get", "config.py", cwd=own.path)
    assert (outcome.code, token in outcome.out) == (ExitCode.OK, False)


def test_a_commit_is_read_by_its_id(cli: Cli, own: Repo) -> None:
    own.commit({}, "Drop Python 3.8\n\nIts end of life was in October.\n\nFixes: #421")
    commit = own.head()
    for name in (commit, commit[:12], commit[:7]):
        assert cli("get", name, cwd=own.path).out.rstrip("\n") == own.git("log", "-1", "--format=%B").rstrip("\n")
    assert cli("get", f"{commit[:12]}:3-3", cwd=own.path).out.strip() == "Its end of life was in October."
    item = json.loads(cli("get", "--json", commit[:9], cwd=own.path).out)["items"][0]
    assert (item["kind"], item["id"], item["author"]) == ("commits", commit, "A Person <person@example.invalid>")
    assert (item["subject"], item["time"]) == ("Drop Python 3.8", "2024-01-02T03:04:05Z")
    assert_error(cli("get", f"{commit[:12]}:9-9", cwd=own.path), ExitCode.USAGE, "has 5 lines, line 9 does not exist")
    assert_error(cli("get", "0123456789ab", cwd=own.path), ExitCode.USAGE)


@pytest.mark.usefixtures("registry")
def test_a_template_is_read_by_its_id(cli: Cli, own: Repo, tmp_path: Path) -> None:
    schema = json.loads(cli("report", "schema", "paper", cwd=own.path).out)
    assert json.loads(cli("get", "template:paper").out) == schema
    value = json.loads(cli("get", "--json", "template:paper", "template:none").out)
    assert [(item["id"], item["kind"]) for item in value["items"]] == [("template:paper", "template")]
    assert [error["message"] for error in value["errors"]] == ["no such template: `none`"]
    outside = cli("get", "template:paper", cwd=tmp_path)
    assert_error(outside, ExitCode.USAGE, "not in a git repository, so `template:paper` cannot be read")
    # The word is reserved, but a repository may have had the name before.
    assert_error(cli("repos", "add", "--name", "template", cwd=own.path), ExitCode.USAGE, "cannot be the name")
    (own.path / "template").write_text("First line.\n")
    assert cli("get", "template:1").out == "First line.\n"
