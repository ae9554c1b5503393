"""Searches of published and local repositories together: one list, and a server that never fails the local part."""

import json
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

import psycopg
import pytest
from mcp.client.client import Client

from gitmem.cli.ask_server import served_folder
from gitmem.registry import OFF_VARIABLE, add_repository
from tests.cli.test_startup import imported_modules
from tests.gitrepo import MakeRepo, Repo
from tests.mcp.clients import ask, refused, talk
from tests.org.conftest import user_dsn
from tests.sample import SIGN, Cli, Json, assert_error
from tests.web.served import serving

JOBS = {
    "lib/jobs.py": 'def sign_job_cookie(job, secret):\n    """Sign the cookie of a job."""\n    return job + secret\n'
}
OTHER_VERSION = "org:shop: published by another version of gitmem or with another model; publish it again"


@pytest.fixture
def jobs(make_repo: MakeRepo, cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """Make, index and register a repository of this machine."""
    monkeypatch.delenv(OFF_VARIABLE)
    repo = make_repo("jobs")
    repo.commit(JOBS)
    assert cli("-C", str(repo.path), "-q", "init", "--no-hooks", "--no-mcp").code == 0
    add_repository({"HOME": str(home)}, repo.path)
    return repo


@pytest.fixture
def both(jobs: Repo, published: str, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """Publish `shop` in the database of the setting, and return the local repository."""
    monkeypatch.setenv("GITMEM_ORG", published)
    return jobs


def search(cli: Cli, repo: Repo, *names: str, text: str = SIGN) -> Json:
    options = [item for name in names for item in ("--repo", name)]
    outcome = cli("-C", str(repo.path), "query", *options, "--json", text)
    assert outcome.out, outcome.err
    value: Json = json.loads(outcome.out)
    return value


def names_of(answer: Json, part: str) -> list[str]:
    return [one["name"] for one in answer[f"repositories_{part}"]]


def places(results: Sequence[Json]) -> set[tuple[str, int]]:
    return {(hit["path"], hit["start_line"]) for hit in results}


def test_a_long_function_of_a_published_repository_is_shown_whole(
    dsn: str, jobs: Repo, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = Repo.init(tmp_path / "billing")
    body = "".join(f"    total_{number} = settle(invoice({number}), euros)\n" for number in range(50))
    repo.commit({"billing.py": f"def settle_invoices(customer):\n{body}"})
    assert cli("-q", "-C", str(repo.path), "index").code == 0
    assert cli("-q", "org", "init", dsn).code == 0
    assert cli("-q", "-C", str(repo.path), "org", "publish", "--name", "billing", "--dsn", dsn).code == 0
    monkeypatch.setenv("GITMEM_ORG", dsn)
    found = search(cli, jobs, "org:billing", text="settle the invoices of a customer in euros")["results"]
    lines = [(hit["start_line"], hit["end_line"]) for hit in found if hit["symbol"] == "settle_invoices"]
    assert lines == [(1, 51)]


def test_a_quotation_is_read_on_the_server(
    dsn: str, jobs: Repo, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = Repo.init(tmp_path / "billing")
    line = "total = add(price, tax)"
    others = "".join(
        f"def add_total_{number}(price, tax):\n    return add(tax, price, total)\n\n" for number in range(9)
    )
    repo.commit({"add_total.py": others, "order.py": f"def cost(price, tax):\n    {line}\n    return total\n"})
    assert cli("-q", "-C", str(repo.path), "index").code == 0
    assert cli("-q", "org", "init", dsn).code == 0
    assert cli("-q", "-C", str(repo.path), "org", "publish", "--name", "billing", "--dsn", dsn).code == 0
    monkeypatch.setenv("GITMEM_ORG", dsn)
    results = {
        text: search(cli, jobs, "org:billing", text=text)["results"] for text in (line, "total = add(tax, price)")
    }
    assert {text: found[0]["path"] for text, found in results.items()} == {
        line: "order.py",
        "total = add(tax, price)": "add_total.py",
    }


def test_published_and_local_repositories_are_one_list(both: Repo, cli: Cli) -> None:
    answer = search(cli, both, "jobs", "org:*")
    assert names_of(answer, "searched") == ["jobs", "org:shop"]
    assert {hit["repository"] for hit in answer["results"]} == {"jobs", "org:shop"}
    scores = [hit["score"] for hit in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    assert [hit["id"].startswith(hit["repository"] + ":") for hit in answer["results"]] == [True] * len(scores)
    local = search(cli, both, "jobs")["results"]
    own = [hit for hit in answer["results"] if hit["repository"] == "jobs"]
    # A local hit has the score that it has without the server, and its own repository precedes those elsewhere.
    assert [(hit["id"], hit["score"]) for hit in own] == [(hit["id"], hit["score"]) for hit in local]
    server = [hit for hit in answer["results"] if hit["repository"] == "org:shop"]
    alone = search(cli, both, "org:shop")["results"]
    assert places(server) <= places(alone)
    assert server[0]["score"] < alone[0]["score"]
    text = cli("-C", str(both.path), "query", "--repo", "jobs", "--repo", "org:shop", SIGN)
    assert "org:shop:src/" in text.out
    assert "2 repositories" in text.out


def test_a_published_copy_of_a_local_repository_adds_no_second_hit(
    both: Repo, indexed: Repo, cli: Cli, home: Path
) -> None:
    add_repository({"HOME": str(home)}, indexed.path)
    answer = search(cli, indexed, indexed.path.name, "org:shop", text="sign_cookie")
    assert {hit["repository"] for hit in answer["results"]} == {indexed.path.name}
    first = answer["results"][0]
    assert f"org:shop:{first['path']}" in first["copies"]


def test_a_revision_is_that_of_each_repository(both: Repo, indexed: Repo, cli: Cli) -> None:
    assert cli("-C", str(indexed.path), "-q", "org", "publish", "--name", "shop", "--rev", "v1").code == 0
    both.git("tag", "v1")
    outcome = cli("-C", str(both.path), "query", "--repo", "jobs", "--repo", "org:shop", "--rev", "v1", "--json", SIGN)
    assert {hit["path"] for hit in json.loads(outcome.out)["results"]} == {"lib/jobs.py", "old/session.py"}


def test_what_the_server_cannot_search_is_named_and_the_rest_is_answered(
    both: Repo, cli: Cli, roles: Callable[..., list[str]], published: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = search(cli, both, "jobs", "org:shop", "org:none")
    assert names_of(answer, "searched") == ["jobs", "org:shop"]
    lacking = {"name": "org:none", "reason": "no repository `none` that this role may read"}
    assert answer["repositories_skipped"] == [lacking]
    for name in ("org:\udcff", "org:no\0ne"):
        assert_error(cli("-C", str(both.path), "query", "--repo", name, SIGN), 3, "that this role may read")
    # A name that is hidden from a role reads like one that nobody has.
    roles("alice")
    monkeypatch.setenv("GITMEM_ORG", user_dsn(published, "alice"))
    with psycopg.connect(published, autocommit=True) as admin:
        admin.execute("GRANT gitmem_reader TO alice")
    hidden = search(cli, both, "jobs", "org:shop", "org:*")["repositories_skipped"]
    assert [one["reason"] for one in hidden] == [
        "no repository `shop` that this role may read",
        "no repository that this role may read is published",
    ]
    assert_error(cli("-C", str(both.path), "query", "--repo", "org:shop", SIGN), 3, "org:shop: no repository `shop`")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("UPDATE gitmem.producers SET fingerprint = 'older'", OTHER_VERSION),
        ("INSERT INTO gitmem.schema_version (version) VALUES (99)", "org:shop: the database has schema 99"),
        ("DROP SCHEMA gitmem CASCADE", "org:shop: the database has no schema of gitmem"),
    ],
)
def test_rows_and_schemas_of_other_versions_are_skipped(
    both: Repo, cli: Cli, published: str, change: str, reason: str
) -> None:
    with psycopg.connect(published, autocommit=True) as admin:
        admin.execute(change)
    outcome = cli("-C", str(both.path), "query", "--repo", "jobs", "--repo", "org:shop", SIGN)
    assert outcome.code == 0
    assert "jobs:lib/jobs.py" in outcome.out
    assert f"skipped {reason}" in outcome.err
    assert_error(cli("-C", str(both.path), "query", "--repo", "org:shop", SIGN), 3, reason)


def test_a_server_that_is_gone_or_silent_fails_no_local_search(
    jobs: Repo, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runtime_folder: Path
) -> None:
    local = search(cli, jobs, "jobs")["results"]
    monkeypatch.setenv("GITMEM_ORG", f"postgresql:///x?host={tmp_path}")
    gone = search(cli, jobs, "jobs", "org:*", "org:shop")
    assert gone["results"] == local
    assert names_of(gone, "skipped") == ["org:*", "org:shop"]
    assert "check the DSN" in gone["repositories_skipped"][0]["reason"]
    # It accepts a connection and says nothing; two seconds is the least timeout of libpq.
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(runtime_folder / ".s.PGSQL.5432"))
        silent.listen()
        monkeypatch.setenv("GITMEM_ORG", f"postgresql:///x?host={runtime_folder}&connect_timeout=2")
        slow = search(cli, jobs, "jobs", "org:shop")
    assert slow["results"] == local
    assert "timeout" in slow["repositories_skipped"][0]["reason"]
    monkeypatch.setenv("GITMEM_ORG", "postgresql:///x?host=/nowhere&connect_timeout=soon")
    wrong = search(cli, jobs, "jobs", "org:shop")
    assert wrong["results"] == local
    assert "connect_timeout" in wrong["repositories_skipped"][0]["reason"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--staged"], "`--staged` applies to working trees"),
        (["--changed", "HEAD"], "`--changed` applies to one repository"),
        (["--since", "2020-01-01"], "the last change of a file is read from repositories of this machine"),
        (["--kind", "notes"], "only code is published"),
        (["--neighbors"], "the chunks around a result are read from repositories of this machine"),
        (["--blame"], "the commits of a result are read from repositories of this machine"),
        (["-C", "2"], "`-C` needs the files of the repository"),
        (["--repo", "org:"], "`org:` names no repository"),
    ],
)
def test_what_makes_no_sense_on_the_server_is_refused(
    jobs: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch, options: list[str], problem: str
) -> None:
    monkeypatch.setenv("GITMEM_ORG", "postgresql:///x?host=/nowhere")
    query = ("-C", str(jobs.path), "query", "--repo", "org:shop")
    assert_error(cli(*query, *options, SIGN), 2, problem)


def test_without_a_database_the_name_is_refused(jobs: Repo, cli: Cli) -> None:
    outcome = cli("-C", str(jobs.path), "query", "--repo", "jobs", "--repo", "org:shop", SIGN)
    assert_error(outcome, 2, "no database is configured", "gitmem.org")


def test_agents_search_the_server_and_their_repositories_together(both: Repo) -> None:
    async def action(client: Client) -> None:
        text = await ask(client, "search", query=SIGN, repositories=["*", "org:*", "org:none"])
        assert "jobs:lib/jobs.py" in text
        assert "org:shop:src/" in text
        assert "skipped org:none: no repository `none` that this role may read" in text
        assert "2 repositories, 1 skipped" in text
        found = await ask(client, "search", query=SIGN, repositories=["org:shop"], format="json")
        assert names_of(json.loads(found), "searched") == ["org:shop"]
        first = json.loads(found)["results"][0]
        got = json.loads(await ask(client, "get", ids=[first["id"], "org:none:a.py"], format="json"))
        assert [item["id"] for item in got["items"]] == [first["id"]]
        assert "no repository `none`" in " ".join(got["notes"])
        assert "only code is published" in await refused(
            client, "search", query=SIGN, repositories=["org:shop"], kind="notes"
        )

    talk(both.path, action)


def test_get_reads_what_a_search_printed(both: Repo, indexed: Repo, cli: Cli) -> None:
    here = ("-C", str(both.path))
    first = search(cli, both, "org:shop", text="sign_cookie")["results"][0]
    got = json.loads(cli(*here, "get", "--json", first["id"], "lib/jobs.py").out)
    assert [item["id"] for item in got["items"]] == [first["id"], "lib/jobs.py:1-3"]
    assert got["items"][0]["content"] == first["content"]
    assert got["items"][0]["repository"] == "org:shop"
    assert got["tree"].startswith("org:shop: main ")
    whole = cli(*here, "get", "org:shop:src/cookies.py")
    assert whole.out == cli("-C", str(indexed.path), "get", "--rev", "HEAD", "src/cookies.py").out
    assert cli("-C", str(indexed.path), "-q", "org", "publish", "--name", "shop", "--rev", "v1").code == 0
    assert "sign_cookie" in cli(*here, "get", "--rev", "v1", "org:shop:old/session.py").out


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("org:shop:none.py", "no such file in `main`: `none.py`"),
        ("org:shop:src/cookies.py#sign_cookie", "cannot be read from the server"),
        ("org:shop:src/cookies.py:900", "line 900 does not exist"),
        ("org:*:src/cookies.py", "no repository `*` that this role may read"),
        ("org:none:src/cookies.py", "no repository `none` that this role may read"),
    ],
)
def test_get_says_why_a_published_file_cannot_be_read(both: Repo, cli: Cli, name: str, problem: str) -> None:
    outcome = cli("-C", str(both.path), "get", name)
    assert outcome.code != 0
    assert problem in outcome.err
    assert len(outcome.err.splitlines()) <= 2


@pytest.mark.parametrize("args", [["get", "org:a:b.py"], ["query", "--repo", "org:a", "x"], ["query", "--repo=org:*"]])
def test_no_other_process_answers_with_its_own_rights(args: list[str]) -> None:
    assert served_folder(args) is None
    assert served_folder([arg.replace("org:", "web") for arg in args]) == ""


def test_http_searches_the_server_and_its_page_does_not(both: Repo, published: str, tmp_path: Path) -> None:
    with serving(tmp_path, {"jobs": both.path}, GITMEM_ORG=published) as served:
        answer = served.get("/search", query=SIGN, repository=["jobs", "org:*", "org:none"])
        assert names_of(answer, "searched") == ["jobs", "org:shop"]
        assert names_of(answer, "skipped") == ["org:none"]
        assert {hit["repository"] for hit in answer["results"]} == {"jobs", "org:shop"}
        assert served.get("/search", query=SIGN, repository="org:shop")["results"]
        page = served.page("/", query=SIGN, repository="org:shop")
        assert "`org:shop` is on the server of an organisation, which the page does not search" in page


def test_a_search_without_published_names_imports_no_client_of_a_database(jobs: Repo) -> None:
    modules = imported_modules(jobs.path, "query", "--repo", "jobs", SIGN)
    assert "gitmem.answering.federated_search" in modules
    assert not {name for name in modules if name.split(".")[0] == "psycopg" or name.startswith("gitmem.org")}
