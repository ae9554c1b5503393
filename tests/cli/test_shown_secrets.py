"""Keys, tokens and passwords in output are dots, unless `--show-secrets` is on the command line."""

import json

import pytest

from gitmem.records.documents import add_document
from gitmem.records.notes import add_note
from tests.gitrepo import Repo
from tests.indexes import workspace_of
from tests.sample import Cli
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
