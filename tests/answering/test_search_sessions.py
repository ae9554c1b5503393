"""Sessions of searches: kept by commands and servers, read with their text, and gone with their content."""

import json
from pathlib import Path

import pytest

from gitmem.answering.sessions import list_sessions
from tests.gitrepo import Repo
from tests.resident.served import ask, serving
from tests.sample import SIGN, Cli, assert_error, open_sample


def search(cli: Cli, repo: Repo, *args: str) -> str:
    """Search and return the id of the session."""
    session = json.loads(cli("query", "--json", *args, cwd=repo.path).out)["session"]
    assert isinstance(session, str)
    return session


def items(cli: Cli, repo: Repo, *args: str) -> list[dict[str, object]]:
    return json.loads(cli("get", "--json", *args, cwd=repo.path).out)["items"]  # type: ignore[no-any-return]


def test_the_last_ten_searches_are_kept(own: Repo, cli: Cli) -> None:
    names = [search(cli, own, f"cookie {number}") for number in range(11)]
    listed = json.loads(cli("report", "sessions", "--json", cwd=own.path).out)
    assert [session["id"] for session in listed] == names[:0:-1]
    assert [session["query"] for session in listed[:2]] == ["cookie 10", "cookie 9"]
    own.git("config", "gitmem.sessions", "2")
    assert cli("get", names[5], cwd=own.path).code == 0
    latest = search(cli, own, "cookie")
    assert [session.id for session in list_sessions(open_sample(own))] == [latest, names[5]]


def test_no_session_is_kept_with_the_setting_0(own: Repo, cli: Cli) -> None:
    own.git("config", "gitmem.sessions", "0")
    assert json.loads(cli("query", "--json", SIGN, cwd=own.path).out)["session"] is None
    assert cli("report", "sessions", cwd=own.path).out == ""


def test_a_session_has_the_results_with_their_text(own: Repo, cli: Cli) -> None:
    answer = json.loads(cli("query", "--json", "-n", "7", SIGN, cwd=own.path).out)
    found = items(cli, own, answer["session"])
    assert found[0]["query"] == SIGN
    assert (found[0]["total_results"], found[0]["returned_results"]) == (len(answer["results"]), 5)
    for result, item in zip(answer["results"], found[1:], strict=False):
        assert {name: item[name] for name in ("id", "path", "start_line", "end_line", "score", "blob")} == {
            name: result[name] for name in ("id", "path", "start_line", "end_line", "score", "blob")
        }
        assert item["content"]
    assert len(items(cli, own, "-n", "2", answer["session"])) == 3
    second = search(cli, own, "router")
    assert {item.get("session") for item in items(cli, own, answer["session"], second)} == {
        None, answer["session"], second,
    }  # fmt: skip


def test_the_text_is_that_of_the_search(own: Repo, cli: Cli) -> None:
    own.write({"src/new.py": "def zanzibar_of_today():\n    return 1\n"})
    name = search(cli, own, "-n", "1", "zanzibar_of_today")
    own.commit()
    own.commit({"src/new.py": "# moved\n\n\ndef zanzibar_of_tomorrow():\n    return 2\n"})
    assert items(cli, own, name)[1]["content"] == "def zanzibar_of_today():\n    return 1"
    own.write({"src/lost.py": "def never_committed():\n    return 1\n"})
    name = search(cli, own, "-n", "1", "never_committed")
    assert items(cli, own, name)[1]["content"] == "def never_committed():\n    return 1"
    own.write({"src/lost.py": "def other():\n    return 1\n"})
    assert items(cli, own, name)[1]["content"] == ""
    assert "this text no longer exists" in cli("get", name, cwd=own.path).out


def test_deleted_records_do_not_come_back(own: Repo, cli: Cli) -> None:
    note = cli("memory", "add", "The zanzibar key rotates weekly.", cwd=own.path).out.split()[1]
    name = search(cli, own, "--kind", "notes", "zanzibar")
    assert "rotates weekly" in str(items(cli, own, name))
    assert cli("memory", "delete", note, cwd=own.path).code == 0
    assert "rotates weekly" not in str(items(cli, own, name))
    assert not any(b"rotates weekly" in file.read_bytes() for file in state(own))


def test_a_session_holds_no_secret(own: Repo, cli: Cli) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    name = search(cli, own, f"token {key}")
    assert key not in str(items(cli, own, name))
    assert not any(key.encode() in file.read_bytes() for file in state(own))


def state(repo: Repo) -> list[Path]:
    return list((repo.path / ".gitmem" / "state").glob("search-*"))


def test_servers_and_commands_see_the_same_sessions(own: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    first = search(cli, own, SIGN)
    monkeypatch.chdir(own.path)
    with serving(own.path):
        answer = ask("query", "--json", "router")
        assert answer is not None
        second = json.loads(answer.out)["session"]
        repeated = ask("query", "--json", "router")
        assert repeated is not None
        third = json.loads(repeated.out)["session"]
        read = ask("get", "--json", first)
        assert read is not None
        assert len(json.loads(read.out)["items"]) > 1
    assert [session.id for session in list_sessions(open_sample(own))] == [first, third, second]


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"version":1}', b"\xff", b'{"version":2}', b"[" * 99_999])
def test_damaged_sessions_are_skipped(own: Repo, cli: Cli, content: bytes) -> None:
    name = search(cli, own, SIGN)
    (file,) = state(own)
    file.write_bytes(content)
    assert cli("report", "sessions", cwd=own.path).out == ""
    outcome = cli("get", name, cwd=own.path)
    assert (outcome.code, outcome.out) == (2, "")
    assert f"no such session: `{name}`" in outcome.err
    assert search(cli, own, SIGN)


def test_an_unknown_session_is_named(own: Repo, cli: Cli) -> None:
    outcome = cli("get", "search_00000000", cwd=own.path)
    assert_error(outcome, 2, "no such session: `search_00000000`", "gitmem report sessions")


def test_a_session_leads_to_no_other_file(own: Repo, cli: Cli, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("zanzibar\n")
    blob = own.git("hash-object", str(secret)).strip()
    name = search(cli, own, SIGN)
    (file,) = state(own)
    value = json.loads(file.read_bytes())
    for path in ("../secret.txt", str(secret)):
        value["results"] = [["code", path, 1, 1, "text", "", "text", 0.5, blob, True]]
        file = next(iter(state(own)))
        file.write_text(json.dumps(value))
        assert "zanzibar" not in cli("get", name, cwd=own.path).out
