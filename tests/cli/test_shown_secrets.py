"""Keys, tokens and passwords in output are dots, unless `--show-secrets` is on the command line."""

import json
from pathlib import Path

import pytest

from gitmem.freshness.run_log import FAILED, add_entry, read_entries
from gitmem.records.conversations import append_turn
from gitmem.records.documents import add_document
from gitmem.records.notes import add_note
from tests.gitrepo import Repo
from tests.indexes import workspace_of
from tests.sample import Cli, Outcome
from tests.secrets.samples import SAMPLES

TOKEN = SAMPLES["github, classic"]
URL = SAMPLES["database url"]
CODE = f'''def connect_database(pool):
    """Connect as müller."""
    pool.login("{TOKEN}")
    return pool.connect("{URL}")
'''


@pytest.fixture
def leaky(own: Repo) -> Repo:
    own.commit({"connect.py": CODE})
    return own


@pytest.mark.parametrize(
    "args",
    [
        ["query", "connect_database"],
        ["query", "--full", "connect_database"],
        ["query", "-C", "9", "connect_database"],
        ["query", "--json", "connect_database"],
        ["query", "--neighbors", "--jsonl", "connect_database"],
        ["related", "--full", "src/cookies.py:8", "-n", "50"],
    ],
)
def test_results_show_secrets_only_on_request(cli: Cli, leaky: Repo, args: list[str]) -> None:
    shown = cli(*args, cwd=leaky.path)
    assert TOKEN not in shown.out
    assert "T0p5ecretPw" not in shown.out
    assert "are shown as dots" in shown.out + shown.err
    open_ = cli(*args[:1], "--show-secrets", *args[1:], cwd=leaky.path)
    assert TOKEN in open_.out
    assert "are shown as dots" not in open_.out + open_.err


def test_records_show_secrets_only_on_request_and_documents_come_back_as_added(cli: Cli, own: Repo) -> None:
    workspace = workspace_of(own)
    note = add_note(workspace, f"The bot uses {TOKEN} — always.", allow_secrets=True).note
    document = add_document(workspace, f"# {TOKEN}\n", {"title": f"bot {TOKEN}"}, allow_secrets=True).document
    for args in (["memory", "show", note.id], ["memory", "list"], ["memory", "search", "bot"], ["doc", "list"],
                 ["memory", "diff"], ["memory", "show", document.id]):  # fmt: skip
        for form in ([], ["--json"]):
            assert TOKEN not in cli(*args, *form, cwd=own.path).out, args
            assert TOKEN in cli(*args, *form, "--show-secrets", cwd=own.path).out, args
    assert cli("doc", "get", document.id, cwd=own.path).out == f"# {TOKEN}\n"
    assert json.loads(cli("memory", "show", note.id, "--json", cwd=own.path).out)[0]["id"] == note.id


KEY_LINES = [f"{number:03}x7Yz/9QbTnKsWvLmCfRjGhDpA" + "0aZ" * 12 for number in range(180)]
LONG_KEY = "\n".join(["-----BEGIN RSA " + "PRIVATE KEY-----", *KEY_LINES, "-----END RSA " + "PRIVATE KEY-----"])


def _key_lines(outcome: Outcome) -> int:
    return sum(line in outcome.out for line in KEY_LINES)


@pytest.mark.parametrize("form", [["--full"], ["--json"], ["--neighbors"], ["-C", "3"]], ids=" ".join)
def test_a_later_part_of_a_long_private_key_is_masked_without_its_first_line(
    cli: Cli, own: Repo, form: list[str]
) -> None:
    own.commit({"deploy.txt": f"words\n{LONG_KEY}\nthe zebra deploys the parcels\n"})
    args = ["query", "zebra deploys the parcels", "-n", "1", *form]
    assert "zebra" in (shown := cli(*args, cwd=own.path)).out
    assert "BEGIN RSA" not in shown.out
    assert _key_lines(shown) == 0
    assert _key_lines(cli(*args, "--show-secrets", cwd=own.path)) > 3


def test_a_later_part_of_a_private_key_in_a_document_is_masked(cli: Cli, own: Repo) -> None:
    text = f"# Keys\n\n{LONG_KEY}\n\nthe zebra deploys the parcels\n"
    add_document(workspace_of(own), text, {}, allow_secrets=True)
    args = ["doc", "search", "zebra deploys the parcels", "-n", "1", "--full"]
    assert _key_lines(cli(*args, cwd=own.path)) == 0
    assert _key_lines(cli(*args, "--show-secrets", cwd=own.path)) > 3


def test_commands_that_store_or_list_records_show_no_secrets(cli: Cli, own: Repo) -> None:
    text = f"The bot uses {TOKEN}."
    shown = [
        cli("memory", "add", "--allow-secrets", "--json", text, cwd=own.path),
        cli("memory", "add", "--allow-secrets", text, cwd=own.path),  # lists the first one as similar
        cli("conversation", "append", "bots", "user", "--allow-secrets", "--json", text, cwd=own.path),
        cli("conversation", "get", "bots", cwd=own.path),
        cli("conversation", "get", "bots", "--json", cwd=own.path),
        cli("doc", "add", "-", "--title", text, "--allow-secrets", "--json", cwd=own.path, stdin=text.encode()),
        cli("memory", "log", cwd=own.path),
        cli("memory", "log", "--json", cwd=own.path),
        cli("memory", "delete", "conversation:bots", cwd=own.path),
        cli("memory", "restore", "conversation:bots", "--json", cwd=own.path),
        cli("memory", "purge", "--yes", "--json", cwd=own.path),
        cli("status", cwd=own.path),
        cli("doctor", cwd=own.path),
    ]
    assert [outcome.code for outcome in shown[:-1]] == [0] * (len(shown) - 1)
    assert not [outcome for outcome in shown if TOKEN in outcome.out + outcome.err]
    assert "similar to" in shown[1].out
    assert TOKEN in cli("conversation", "get", "bots", "--show-secrets", cwd=own.path).out


def test_an_export_is_complete(cli: Cli, own: Repo) -> None:
    append_turn(workspace_of(own), "bots", "user", TOKEN, None, allow_secrets=True)
    assert TOKEN in cli("memory", "export", cwd=own.path).out


def test_messages_that_quote_stored_or_foreign_text_show_no_secrets(cli: Cli, own: Repo, tmp_path: Path) -> None:
    line = json.dumps({"content": "x", "type": TOKEN})
    refused = cli("memory", "import", "--partial", "-", cwd=own.path, stdin=line.encode())
    assert "warning: line 1: " in refused.err
    assert "github" not in refused.err + refused.out
    assert TOKEN not in refused.err + refused.out
    own.git("config", "gitmem.jobs", TOKEN)
    invalid = cli("index", cwd=own.path)
    assert invalid.err.startswith("error: ")
    assert TOKEN not in invalid.err
    own.git("config", "--unset", "gitmem.jobs")
    add_entry(workspace_of(own).paths, "post-commit", tmp_path, FAILED, f"git: cannot open '{URL}'", 1)
    assert "T0p5ecretPw" not in read_entries(workspace_of(own).paths)[-1].message
    assert "cannot open" in cli("doctor", cwd=own.path).out
