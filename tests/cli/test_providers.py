"""Index and search through other providers: a model in a folder, and a server on the loopback."""

import io
import json
import os
import re
from collections.abc import Iterator
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import pytest

from gitmem.errors import OtherModel
from gitmem.freshness.catch_up import catch_up
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.registry import OFF_VARIABLE, add_repository
from gitmem.resident.call import Call
from gitmem.resident.repositories import OpenRepositories
from gitmem.workspace import open_workspace
from tests.embedding.provider_server import ProviderServer, Received, Reply, error, normal, provider_server
from tests.embedding.tiny_model import write_tiny_model
from tests.gitrepo import MakeRepo, Repo
from tests.sample import Cli

KEY = "secret-key-0123456789abcdef"
NOTICE = "the text of every indexed chunk and record, keys and tokens masked, and every query go to"


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with provider_server() as server:
        yield server


@pytest.fixture
def remote(server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> ProviderServer:
    """Select the server as the provider."""
    monkeypatch.setenv("GITMEM_PROVIDER", "openai-compatible")
    monkeypatch.setenv("GITMEM_PROVIDER_URL", server.url)
    monkeypatch.setenv("GITMEM_PROVIDER_KEY", KEY)
    monkeypatch.setenv("GITMEM_MODEL", "small.v2")
    monkeypatch.setenv("GITMEM_USE_SERVER", "false")
    return server


@pytest.fixture
def repo(own: Repo) -> Repo:
    return own


def status_of(cli: Cli, repo: Repo) -> dict[str, Any]:
    status: dict[str, Any] = json.loads(cli("status", "--json", cwd=repo.path).out)
    return status


def test_a_remote_provider_is_announced_once_and_its_index_searched(
    cli: Cli, repo: Repo, remote: ProviderServer
) -> None:
    first = cli("index", cwd=repo.path)
    assert (first.code, first.err.count(NOTICE)) == (0, 1)
    assert f"`openai-compatible` at {remote.url} (on this machine)" in first.err
    assert "of 48 dimensions: an index of about" in first.err
    assert "rebuilt: the selected model has changed" in first.out
    assert max(len(request.body["input"]) for request in remote.received) <= 100
    texts = len(remote.texts)
    again = cli("index", cwd=repo.path)
    assert (again.code, again.err, len(remote.texts)) == (0, "", texts)
    answer = json.loads(cli("query", "sign a cookie", "--json", cwd=repo.path).out)
    assert answer["results"]
    assert remote.texts[texts:] == ["sign a cookie"]
    status = status_of(cli, repo)
    assert status["provider"]["name"] == "openai-compatible"
    assert NOTICE in status["provider"]["data"]
    assert status["model"].startswith("openai-compatible:small.v2:")
    assert status["state"] == "Up to Date"


def test_a_wait_for_the_first_answer_is_shown(cli: Cli, repo: Repo, remote: ProviderServer) -> None:
    remote.script = [error(429, "slow down", ("Retry-After", "1"))]
    outcome = cli("index", cwd=repo.path)
    assert outcome.code == 0
    assert outcome.err.count("openai-compatible: rate limit, waiting 1 s") == 1


def test_a_dry_run_sends_nothing(cli: Cli, repo: Repo, remote: ProviderServer) -> None:
    preview = cli("index", "--dry-run", cwd=repo.path)
    assert (preview.code, remote.received) == (0, [])
    assert "the selected model has changed" in preview.out
    assert cli("index", cwd=repo.path).code == 0
    sent = len(remote.received)
    assert "the selected model has changed" not in cli("index", "--dry-run", cwd=repo.path).out
    assert len(remote.received) == sent


def test_no_text_is_sent_twice(cli: Cli, repo: Repo, remote: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("index", cwd=repo.path)
    texts = remote.texts
    assert len(texts) == len(set(texts)) > 3
    assert cli("index", "--full", cwd=repo.path).code == 0
    monkeypatch.setenv("GITMEM_PROVIDER", "bundled")
    assert cli("index", cwd=repo.path).code == 0
    monkeypatch.setenv("GITMEM_PROVIDER", "openai-compatible")
    assert cli("index", cwd=repo.path).code == 0
    # Only the length of the vectors is asked for again.
    assert set(remote.texts[len(texts) :]) <= {"dimensions"}
    repo.commit({"new.py": "def entirely_new():\n    return 'something that was never there'\n"})
    before = len(remote.texts)
    assert cli("index", cwd=repo.path).code == 0
    assert len(remote.texts) == before + 1
    assert "entirely_new" in remote.texts[-1]


def test_an_interrupted_run_keeps_the_old_index_and_continues(cli: Cli, repo: Repo, remote: ProviderServer) -> None:
    def fail_after_the_first(request: Received, server: ProviderServer) -> Reply:
        return normal(request, server) if len(server.received) <= 2 else error(401)(request, server)

    repo.commit({f"part{at}.py": f"def part{at}():\n    return {at}\n" for at in range(120)})
    bundled = status_of(cli, repo)["model"]
    remote.always = fail_after_the_first
    failed = cli("index", cwd=repo.path)
    assert failed.code == 5
    assert "refuses the key (HTTP 401)" in failed.err
    status = status_of(cli, repo)
    assert (status["model"], status["provider"]["made_the_index"]) == (bundled, False)
    asked = len(remote.received)
    answer = json.loads(cli("query", "sign a cookie", "--json", cwd=repo.path).out)
    assert answer["results"]
    assert len(remote.received) == asked, "the first index answers with its own model"
    remote.always = None
    sent = {text for request in remote.received[:2] for text in request.body["input"]}
    before = len(remote.texts)
    assert cli("index", cwd=repo.path).code == 0
    assert not {text for text in remote.texts[before:] if text != "dimensions"} & sent
    assert status_of(cli, repo)["model"] != bundled


def test_a_refused_text_costs_its_file_alone_and_is_tried_again(cli: Cli, repo: Repo, remote: ProviderServer) -> None:
    def refuse_poison(request: Received, server: ProviderServer) -> Reply:
        poisoned = any("poison" in text for text in request.body["input"])
        return error(400, "too long")(request, server) if poisoned else normal(request, server)

    repo.commit({"bad.py": "def poison():\n    return 1\n", "good.py": "def antidote():\n    return 2\n"})
    remote.always = refuse_poison
    outcome = cli("index", cwd=repo.path)
    assert outcome.code == 5
    assert "bad.py: embedding failed: the provider `openai-compatible`" in outcome.err
    assert "good.py" not in outcome.err
    assert json.loads(cli("query", "antidote", "--json", cwd=repo.path).out)["results"][0]["path"] == "good.py"
    remote.always = None
    before = len(remote.texts)
    assert cli("index", cwd=repo.path).code == 0
    assert ["poison" in text for text in remote.texts[before:]] == [True]
    assert json.loads(cli("query", "poison", "--json", cwd=repo.path).out)["results"][0]["path"] == "bad.py"


def test_without_its_provider_a_query_is_answered_by_words(cli: Cli, repo: Repo, remote: ProviderServer) -> None:
    cli("index", cwd=repo.path)
    remote.always = error(401)
    answer = json.loads(cli("query", "sign a cookie", "--json", cwd=repo.path).out)
    assert answer["results"]
    assert any(note.endswith("the results are by words alone") for note in answer["stats"]["notes"])
    assert cli("query", "sign a cookie", "--mode", "semantic", cwd=repo.path).code == 5


def test_the_key_is_in_no_file_and_no_output(cli: Cli, repo: Repo, remote: ProviderServer, home: Path) -> None:
    remote.script = [normal, error(400, f"bad {KEY}")]
    outputs = [
        cli(*command, cwd=repo.path)
        for command in (["index"], ["query", "sign"], ["status"], ["config", "show", "--origin"], ["doctor"])
    ]
    assert all(request.headers["Authorization"] == f"Bearer {KEY}" for request in remote.received)
    assert not [outcome for outcome in outputs if KEY in outcome.out + outcome.err]
    files = [file for folder in (repo.path, home) for file in folder.rglob("*") if file.is_file()]
    assert not [file for file in files if KEY.encode() in file.read_bytes()]


def test_neither_a_repository_nor_a_key_selects_a_provider(
    cli: Cli, repo: Repo, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    (repo.path / ".env").write_text(f"GITMEM_PROVIDER=openai\nGITMEM_PROVIDER_URL={server.url}\n")
    repo.commit({"new.py": "def new(): ...\n"})
    assert cli("index", cwd=repo.path).code == 0
    assert status_of(cli, repo)["provider"]["name"] == "bundled"
    repo.git("config", "gitmem.provider", "openai")
    refused = cli("index", cwd=repo.path)
    assert refused.code == 2
    assert "`gitmem.provider` cannot be set in a repository (local)" in refused.err
    assert not server.received


@pytest.mark.parametrize(("settings", "message"), [
    ({"PROVIDER": "openai-compatible", "MODEL": "m"}, "needs `gitmem.providerUrl`"),
    ({"PROVIDER": "openai-compatible", "PROVIDER_URL": "http://127.0.0.1:1"}, "needs `gitmem.model`"),
    ({"PROVIDER": "ollama", "PROVIDER_URL": "file:///etc/passwd"}, "expected an address that begins with http"),
    ({"PROVIDER": "ollama", "PROVIDER_URL": "https://me:pass@example.invalid"}, "contains a user name, a password"),
    ({"PROVIDER": "ollama", "PROVIDER_URL": "ftp//me:pass@example.invalid"}, "contains a user name, a password"),
    ({"PROVIDER": "ollama", "PROVIDER_URL": "https://example.invalid/v1?key=pass@"}, "or a query"),
    ({"PROVIDER": "openai", "OPENAI_KEY": KEY + "\npass@"}, "has a character that no key has"),
    ({"PROVIDER": "ollama", "PROVIDER_URL": "http://example.invalid", "PROVIDER_KEY": KEY}, "unencrypted"),
    ({"PROVIDER": "onnx"}, "needs `gitmem.model`"),
    ({"PROVIDER": "onnx", "MODEL": "models/x"}, "expected an absolute path"),
    ({"PROVIDER": "onnx", "MODEL": "/nonexistent"}, "`/nonexistent/model.onnx` is missing"),
])  # fmt: skip
def test_a_wrong_provider_stops_a_command_before_it_writes(
    cli: Cli, repo: Repo, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], message: str
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(f"GITMEM_{name}", value)
    before = (repo.path / ".gitmem" / "manifest").read_bytes()
    outcome = cli("index", cwd=repo.path)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert "pass@" not in outcome.err
    assert KEY not in outcome.err
    assert (repo.path / ".gitmem" / "manifest").read_bytes() == before


def test_a_model_in_a_folder_indexes_and_searches_also_changed_files(
    cli: Cli, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITMEM_PROVIDER", "onnx")
    monkeypatch.setenv("GITMEM_MODEL", str(write_tiny_model(tmp_path / "tiny")))
    monkeypatch.setenv("GITMEM_USE_SERVER", "false")
    outcome = cli("index", cwd=repo.path)
    assert outcome.code == 0
    assert NOTICE not in outcome.err
    assert "of 24 dimensions" in outcome.err
    (repo.path / "changed.py").write_text("def parse_cookie(file):\n    # the cookie cookie cookie\n    return 1\n")
    answer = json.loads(cli("query", "cookie", "--mode", "semantic", "--json", cwd=repo.path).out)
    assert (answer["stats"]["files_missing"], answer["stats"]["notes"]) == (0, [])
    assert "changed.py" in [result["path"] for result in answer["results"]]
    assert status_of(cli, repo)["provider"]["data"] == "nothing leaves this machine"
    assert not (repo.path / ".gitmem" / "vectors").exists()


def test_status_mentions_a_key_that_is_not_used_but_never_shows_it(
    cli: Cli, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert status_of(cli, repo)["provider"]["data"] == "nothing leaves this machine"
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    outcome = cli("status", cwd=repo.path)
    assert "nothing leaves this machine; `gitmem.openaiKey` is set and not used (git config" in outcome.out
    assert "gitmem.providerKey" not in outcome.out
    assert KEY not in outcome.out + outcome.err


def test_only_gitmem_index_changes_the_model_of_an_index(cli: Cli, repo: Repo, remote: ProviderServer) -> None:
    bundled = status_of(cli, repo)["model"]
    repo.commit({"new.py": "def entirely_new():\n    return 1\n"})
    catch_up(open_workspace(repo.path, os.environ), "post-commit", os.environ)
    (repo.path / "changed.py").write_text("def changed():\n    return 1\n")
    assert cli("query", "entirely new", cwd=repo.path).code == 0
    assert cli("verify", "--repair", cwd=repo.path).code == 0
    assert status_of(cli, repo)["model"] == bundled
    assert not remote.received


def test_what_a_provider_made_is_not_replaced_without_it(
    cli: Cli, repo: Repo, remote: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("index", cwd=repo.path)
    model, asked = status_of(cli, repo)["model"], len(remote.received)
    monkeypatch.setenv("GITMEM_PROVIDER", "bundled")
    repo.commit({"new.py": "def entirely_new():\n    return 1\n"})
    refused = cli("query", "entirely new", cwd=repo.path)
    assert refused.code == 3
    assert f"the index was made with `{model}`, not with the selected provider `bundled`" in refused.err
    catch_up(open_workspace(repo.path, os.environ), "post-commit", os.environ)
    assert status_of(cli, repo)["model"] == model
    assert len(remote.received) == asked


def test_a_server_does_not_send_a_repository_to_another_provider(
    cli: Cli, repo: Repo, tmp_path: Path, remote: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITMEM_PROVIDER", "onnx")
    monkeypatch.setenv("GITMEM_MODEL", str(write_tiny_model(tmp_path / "tiny")))
    assert cli("index", cwd=repo.path).code == 0
    monkeypatch.setenv("GITMEM_PROVIDER", "openai-compatible")
    monkeypatch.setenv("GITMEM_MODEL", "small.v2")
    opened = OpenRepositories(repo.path, os.environ).get(repo.path)
    with pytest.raises(OtherModel):
        opened.with_tree(WORKING_TREE, (), Call(), lambda tree: tree.searcher.missing_files)
    opened.close(5.0)
    assert not remote.received


def test_a_query_does_not_wait_for_a_provider_as_long_as_a_run(cli: Cli, repo: Repo, remote: ProviderServer) -> None:
    cli("index", cwd=repo.path)
    (repo.path / "changed.py").write_text("def changed_thing():\n    return 1\n")
    asked = len(remote.received)
    remote.always = error(429, "slow down", ("Retry-After", "500"))
    answer = json.loads(cli("query", "sign a cookie", "--json", cwd=repo.path).out)
    assert answer["results"]
    assert len([note for note in answer["stats"]["notes"] if "try again in 500 s" in note]) == 2
    assert len(remote.received) == asked + 2, "once for the changed file, once for the query"


def test_each_repository_is_searched_with_its_own_model(
    cli: Cli, repo: Repo, remote: ProviderServer, make_repo: MakeRepo, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_repo("other")
    other.commit({"lib/backup.py": 'def rotate_backup():\n    """Sign the backup."""\n    return 1\n'})
    monkeypatch.delenv(OFF_VARIABLE)
    known = [add_repository({"HOME": str(home)}, one.path) for one in (repo, other)]
    names = [one.name for one in known if one is not None]
    monkeypatch.setenv("GITMEM_PROVIDER", "bundled")
    assert cli("index", cwd=other.path).code == 0
    monkeypatch.setenv("GITMEM_PROVIDER", "openai-compatible")
    assert cli("index", cwd=repo.path).code == 0
    repositories = [f"--repo={name}" for name in names]
    answer = json.loads(cli("query", "sign", "--json", *repositories, cwd=repo.path).out)
    assert {result["repository"] for result in answer["results"]} == set(names)
    note = f"each model searched its own repositories, and the lists are merged by rank: {names[0]}; {names[1]}"
    assert answer["stats"]["notes"] == [note]
    assert [result["repository"] for result in answer["results"][:2]] == names
    assert remote.texts[-1] == "sign"
    remote.always = error(401)
    notes = json.loads(cli("query", "rotate", "--json", *repositories, cwd=repo.path).out)["stats"]["notes"]
    assert [one.endswith("the results are by words alone") for one in notes] == [True, False]


def test_vectors_of_3072_dimensions_are_indexed_and_their_size_is_stated_first(
    cli: Cli, repo: Repo, remote: ProviderServer
) -> None:
    stated: list[str] = []

    def answer_late(request: Received, server: ProviderServer) -> Reply:
        if request.body["input"] != ["dimensions"] and not stated:
            stated.append(console.getvalue())
        return normal(request, server)

    remote.dimensions, remote.always = 3072, answer_late
    repo.commit({f"part{at}.py": f"def part{at}():\n    return {at}\n" for at in range(60)})
    with redirect_stderr(io.StringIO()) as console:
        assert cli("index", cwd=repo.path).code == 0
    [(chunks, kilobytes)] = re.findall(
        r"in about (\d+) chunks of 3072 dimensions: an index of about (\d+) kB", stated[0]
    )
    # Six bits for each dimension, and 330 bytes for the words.
    assert 1000 * int(kilobytes) == pytest.approx(int(chunks) * (6 * 384 + 330), abs=500)
    [segments] = [sum(file.stat().st_size for file in (repo.path / ".gitmem" / "segments").iterdir())]
    assert 1000 * int(kilobytes) == pytest.approx(segments, rel=0.3)
    answer = json.loads(cli("query", "part17", "--mode", "semantic", "--json", cwd=repo.path).out)
    assert answer["results"][0]["path"] == "part17.py"
    assert json.loads(cli("verify", "--json", cwd=repo.path).out)["problems"] == []
    health = json.loads(cli("health", "--embedding", "--json", cwd=repo.path).out)
    assert health["components"]["embedding"]["dimensions"] == 3072


def test_health_tries_the_provider_and_fails_with_it(cli: Cli, repo: Repo, remote: ProviderServer) -> None:
    degraded = cli("health", "--json", cwd=repo.path)
    report = json.loads(degraded.out)
    assert (degraded.code, report["status"], report["components"]["index"]["status"]) == (0, "degraded", "degraded")
    cli("index", cwd=repo.path)
    healthy = json.loads(cli("health", "--embedding", "--json", cwd=repo.path).out)
    embedding = healthy["components"].pop("embedding")
    assert (healthy["status"], healthy["components"]) == ("healthy", {})
    assert (embedding["provider"], embedding["model"], embedding["dimensions"], embedding["key_configured"]) == (
        "openai-compatible", "small.v2", 48, True,
    )  # fmt: skip
    assert embedding["latency_ms"] > 0
    remote.always = error(401)
    failed = cli("health", cwd=repo.path)
    assert failed.code == 5
    assert failed.out.startswith("unhealthy: ")
    assert "refuses the key (HTTP 401)" in failed.out


def test_health_of_the_bundled_model_needs_no_key(cli: Cli, indexed: Repo) -> None:
    outcome = cli("health", "--json", cwd=indexed.path)
    report = json.loads(outcome.out)
    assert (outcome.code, report["status"]) == (0, "healthy")
    assert report["components"]["embedding"]["key_configured"] is None
    assert report["components"]["embedding"]["dimensions"] == 256


def test_health_counts_one_chunk_as_one(cli: Cli, make_repo: MakeRepo) -> None:
    single = make_repo("single")
    single.commit({"a.py": "def only():\n    pass\n"})
    assert cli("index", cwd=single.path).code == 0
    assert "  index      healthy    1 chunk  " in cli("health").out
