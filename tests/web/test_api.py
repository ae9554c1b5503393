"""The API, tested from its own description: every operation answers as described, and refuses what is not."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from gitmem.indexing.run import Progress
from gitmem.web.api.routes import DESCRIPTION, OPERATIONS
from gitmem.web.index_jobs import DONE, IndexJob
from tests.gitrepo import Repo
from tests.web.served import BEARER, Served, serving

ONE: Final = "/repositories/sample"
METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
GOOD: Final[dict[str, dict[str, Any]]] = {
    "serverStatus": {},
    "describe": {},
    "listRepositories": {},
    "showRepository": {},
    "renameRepository": {"name": "other"},
    "removeRepository": {"all_data": "false"},
    "updateIndex": {"full": False},
    "cancelRun": {},
    "listRuns": {"limit": 5},
    "listRevisions": {"limit": 5},
    "showConfiguration": {},
    "search": {"query": "sign the cookie", "repository": "sample", "limit": 3, "neighbors": "true"},
    "readItems": {"id": ["src/cookies.py:1-3", "README.md"], "rev": "HEAD"},
    "related": {"location": "src/cookies.py:1"},
    "usages": {"name": "sign_cookie"},
    "usagesOfRepositories": {"name": "sample:src/cookies.py#make_signature", "repository": ["sample"]},
    "map": {"query": "sign the cookie", "tokens": 500},
    "impact": {"range": "v1..HEAD", "other": ["*"]},
    "history": {"location": "src/cookies.py:1"},
    "changes": {"range": "v1..HEAD"},
    "listNotes": {"type": "decision"},
    "addNote": {"content": "Cookies are signed.", "type": "decision", "paths": ["src/cookies.py"]},
    "changeNote": {"content": "Cookies are signed and dated."},
    "listStaleNotes": {"limit": 5},
    "confirmNote": {},
    "expireNote": {"at": "2999-01-31"},
    "listDocuments": {},
    "addDocument": {"content": "How the cookies came to be.", "title": "History"},
    "listConversations": {},
    "appendTurn": {"conversation": "plan", "role": "user", "content": "What is next?"},
    "showRecord": {},
    "deleteRecords": {},
    "restoreRecord": {},
    "logRecords": {"limit": 3},
    "diffRecords": {},
    "listSessions": {},
    "keepSearch": {"query": "sign the cookie", "limit": 3},
    "listTemplates": {},
    "createReport": {"variables": {"query": "x", "overall_summary": "y", "sections": []}, "template": "basic"},
    "listReports": {},
    "readReport": {"name": "20260131_120000_x.md"},
}
"""Arguments of a call of each operation that succeeds; the id of a note is added where one is needed."""

NEEDS_ID: Final = ("changeNote", "confirmNote", "expireNote", "showRecord", "deleteRecords", "restoreRecord")


def described() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield path, method and description of each operation, but the stream of events."""
    for path, methods in DESCRIPTION["paths"].items():
        for method, about in methods.items():
            if about["operationId"] != "watchRepository":
                yield path, method.upper(), about


def call(served: Served, name: str, given: dict[str, Any], repository: str = "sample") -> Any:
    """Send a request as the description says."""
    path, method, about = next(one for one in described() if one[2]["operationId"] == name)
    in_query = {one["name"] for one in about["parameters"] if one["in"] == "query"}
    query = {key: value for key, value in given.items() if key in in_query}
    body = {key: value for key, value in given.items() if key not in in_query}
    return served.client.request(
        method, path.replace("{repository}", repository), params=query, headers=BEARER,
        json=body if "requestBody" in about else None,
    )  # fmt: skip


def validate(name: str, answer: Any) -> None:
    """Compare an answer with the schema of its status."""
    about = next(about for _, _, about in described() if about["operationId"] == name)
    described_answer = about["responses"][str(answer.status_code)]
    schema = next(iter(described_answer["content"].values()))["schema"]
    Draft202012Validator({**schema, "components": DESCRIPTION["components"]}).validate(answer.json())


def test_every_operation_is_tested() -> None:
    assert {about["operationId"] for _, _, about in described()} == set(GOOD)


def test_the_description_is_valid_and_names_all_operations(reading: Served) -> None:
    assert reading.get("/openapi.json") == json.loads(json.dumps(DESCRIPTION))
    for _, _, about in described():
        for parameter in about["parameters"]:
            Draft202012Validator.check_schema(parameter["schema"])
        for one in about["responses"].values():
            for content in one["content"].values():
                Draft202012Validator.check_schema(content["schema"])
    assert len({one.name for one in OPERATIONS}) == len(OPERATIONS)


def test_every_operation_answers_as_described(writing: Served) -> None:
    last = ("updateIndex", "renameRepository", "removeRepository")
    note = writing.send("POST", f"{ONE}/notes", 201, content="A note to begin with.")["id"]
    for name in [*(name for name in GOOD if name not in last), *last]:
        given = {**GOOD[name], **({"id": note} if name in NEEDS_ID else {})}
        if name == "readReport":
            given["name"] = writing.get(f"{ONE}/reports")["items"][0]["name"]
        answer = call(writing, name, given, "other" if name == "removeRepository" else "sample")
        assert answer.status_code < 300, (name, answer.text)
        validate(name, answer)


@pytest.mark.parametrize("name", [name for name in GOOD if name not in ("serverStatus", "describe")])
def test_unknown_and_wrong_arguments_are_refused_before_anything_happens(reading: Served, name: str) -> None:
    given = {**GOOD[name], **({"id": "mem_000000000000"} if name in NEEDS_ID else {})}
    path, method, about = next(one for one in described() if one[2]["operationId"] == name)
    has_body = "requestBody" in about
    in_query = {one["name"] for one in about["parameters"]} & set(given)
    for wrong in ({"unknown": "x"}, {"limit": "many"} if "limit" in given else {"unknown": 1}):
        query = {key: given[key] for key in in_query} | ({} if has_body else wrong)
        body = {key: value for key, value in given.items() if key not in in_query} | wrong
        answer = reading.client.request(
            method, path.replace("{repository}", "sample"), params=query, headers=BEARER,
            json=body if has_body else None,
        )  # fmt: skip
        assert answer.status_code == 400, (name, wrong, answer.text)
        validate(name, answer)
    assert reading.get(f"{ONE}/records/log") == {"entries": []}


@pytest.mark.parametrize("name", [name for name in GOOD if "{repository}" in next(
    path for path, _, about in described() if about["operationId"] == name)])  # fmt: skip
@pytest.mark.parametrize("repository", ["unknown", "..", "%2e%2e", "a%2Fb", "%00", "x" * 200])
def test_an_unknown_repository_is_refused(reading: Served, name: str, repository: str) -> None:
    given = {**GOOD[name], **({"id": "mem_000000000000"} if name in NEEDS_ID else {})}
    answer = call(reading, name, given, repository)
    # The client itself removes `..`, and `/usages` is another operation.
    expected = (200,) if (repository, name) == ("..", "usages") else (307, 400, 404, 405)
    assert answer.status_code in expected, answer.text
    assert reading.environment["HOME"] not in answer.text


@pytest.mark.parametrize("path", [
    "/usages?name=sign&repository=org:web", "/map?repository=org:*", "/repositories/sample/impact?other=org:web",
    "/usages?name=org:web:sign",
])  # fmt: skip
def test_repositories_on_a_server_are_only_searched(reading: Served, path: str) -> None:
    answer = reading.client.get(f"/api/v1{path}", headers=BEARER)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_argument")
    assert "is on the server of an organisation, which answers only searches" in answer.json()["error"]["message"]


def test_the_page_says_that_it_does_not_search_a_server(reading: Served) -> None:
    assert "is on the server of an organisation, which the page does not search" in reading.page(
        "/", query="sign", repository="org:web"
    )


@pytest.mark.parametrize("path", ["/unknown", "/repositories/sample/unknown", ""])
def test_unknown_addresses_are_errors_of_the_same_form(reading: Served, path: str) -> None:
    answer = reading.client.get(f"/api/v1{path}", headers=BEARER)
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"


def test_a_wrong_method_is_refused(reading: Served) -> None:
    answer = reading.client.put("/api/v1/repositories", headers=BEARER)
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "method_not_allowed")


def test_a_path_with_several_methods_names_all_of_them(reading: Served) -> None:
    answer = reading.client.options("/api/v1/repositories/sample/notes", headers=BEARER)
    assert answer.status_code == 405
    assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD", "PATCH", "POST"}
    assert reading.client.head("/api/v1/repositories/sample/notes", headers=BEARER).status_code == 200


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", {}, 400),
        (b"[]", {}, 400),
        (b'"x"', {}, 400),
        (b"[" * 100_000, {}, 400),
        (b"\xff\xfe", {}, 400),
        (b'{"content": "x"}', {"Content-Type": "text/plain"}, 415),
        (b'{"content": 5}', {}, 400),
        (b'{"content": "\\ud800"}', {}, 400),
        (b'{"content": "a\\u0000b"}', {}, 400),
        (b"x" * (1 << 20) + b"x", {}, 413),
    ],
)
def test_bad_bodies_are_refused(reading: Served, body: bytes, headers: dict[str, str], status: int) -> None:
    answer = reading.client.post(
        f"/api/v1{ONE}/notes", content=body, headers={**BEARER, "Content-Type": "application/json", **headers}
    )
    assert answer.status_code == status, answer.text
    assert set(answer.json()["error"]) == {"code", "message", "details"}


def test_search_names_repositories_revisions_and_filters(reading: Served) -> None:
    found = reading.get("/search", query="sign the cookie", limit=1)
    assert found["results"][0]["path"] == "src/cookies.py"
    assert found["results"][0]["repository"] == "sample"
    assert found["terms"]
    assert reading.get("/search", query="sign the cookie", rev="v1")["results"][0]["path"] == "old/session.py"
    assert not reading.get("/search", query="sign the cookie", language="rust")["results"]
    assert all(one["path"].endswith(".md") for one in reading.get("/search", query="cookie", path="*.md")["results"])


def test_the_answer_is_that_of_the_command_line(reading: Served, cli: Any, indexed: Any) -> None:
    asked = json.loads(cli("query", "sign the cookie", "--json", cwd=indexed.path).out)
    found = reading.get("/search", query="sign the cookie", repository="sample")
    places = [(one["path"], one["start_line"], one["content"]) for one in asked["results"]]
    assert [(one["path"], one["start_line"], one["content"]) for one in found["results"]] == places


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"query": "x", "repository": "unknown"}, "unknown_repository"),
        ({"query": "x", "rev": "unknown"}, "unknown_revision"),
        ({"query": "x", "min_score": "2"}, "invalid_argument"),
        ({"query": "x", "language": "klingon"}, "invalid_argument"),
        ({"query": "x", "neighbors": "perhaps"}, "invalid_argument"),
        ({"query": "x" * 32_001}, "invalid_argument"),
        ({"query": "  "}, "invalid_argument"),
        ({}, "invalid_argument"),
    ],
)
def test_bad_searches_say_why(reading: Served, query: dict[str, str], code: str) -> None:
    answer = reading.client.get("/api/v1/search", params=query, headers=BEARER)
    assert answer.status_code in (400, 404)
    assert answer.json()["error"]["code"] == code
    assert answer.json()["error"]["message"]


def test_limits_of_a_search_follow_the_configuration(
    own: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Those of the only repository count, else those of the user. Both are read again after a change.
    users = tmp_path / "users.gitconfig"
    users.touch()
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(users))
    other = Repo.init(tmp_path / "other")
    with serving(tmp_path, {"sample": own.path, "other": other.path}) as served:

        def status(*repositories: str) -> int:
            query: dict[str, Any] = {"query": "sign the cookie", "limit": 60, "repository": list(repositories)}
            return int(served.client.get("/api/v1/search", params=query, headers=BEARER).status_code)

        assert status("sample") == 400
        own.git("config", "gitmem.searchMaxLimit", "60")
        assert status("sample") == 200
        assert status("sample", "other") == 400
        users.write_text("[gitmem]\n\tsearchMaxLimit = 70\n")
        assert status("sample", "other") == 200


def test_a_note_is_changed_deleted_and_restored(writing: Served) -> None:
    note = writing.send("POST", f"{ONE}/notes", 201, content="First.", type="decision", symbols=["sign_cookie"])
    changed = writing.send("PATCH", f"{ONE}/notes", query={"id": note["id"]}, content="Second.")
    assert (changed["content"], changed["type"], changed["symbols"]) == ("Second.", "decision", ["sign_cookie"])
    assert [one["content"] for one in writing.get(f"{ONE}/notes")["items"]] == ["Second."]
    writing.send("DELETE", f"{ONE}/records", query={"id": note["id"]})
    assert writing.get(f"{ONE}/notes")["items"] == []
    writing.send("POST", f"{ONE}/records/restore", id=note["id"])
    assert [one["content"] for one in writing.get(f"{ONE}/notes")["items"]] == ["Second."]
    assert len(writing.get(f"{ONE}/records/log", id=note["id"])["entries"]) == 4


def test_a_note_is_replaced_expired_and_confirmed(writing: Served) -> None:
    old = writing.send("POST", f"{ONE}/notes", 201, content="First.", paths=["src/cookies.py"])
    new = writing.send("POST", f"{ONE}/notes", 201, content="Second.", supersedes=[old["id"]], expires="2020-01-01")
    states = {one["id"]: one["state"] for one in writing.get(f"{ONE}/notes")["items"]}
    assert states[old["id"]]["superseded_by"] == [new["id"]]
    assert states[new["id"]]["expired"]
    assert writing.send("POST", f"{ONE}/notes/confirm", id=new["id"])["items"][0]["expires"] == ""
    writing.send("POST", f"{ONE}/notes/expire", id=old["id"], at="2020-01-01")
    marks = [one["state"]["marks"] for one in writing.get(f"{ONE}/notes")["items"]]
    assert marks == [[], [f"superseded by {new['id']}", "expired 2020-01-01"]]
    assert writing.get(f"{ONE}/notes/stale")["items"] == []


def test_a_secret_is_neither_stored_nor_shown(writing: Served) -> None:
    secret = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
    refused = writing.send("POST", f"{ONE}/notes", 400, content=f"The token is {secret}.")
    assert secret not in json.dumps(refused)
    stored = writing.send("POST", f"{ONE}/notes", 201, content=f"The token is {secret}.", allow_secrets=True)
    assert secret not in json.dumps(stored)
    assert secret not in json.dumps(writing.get(f"{ONE}/notes"))


def test_removing_the_memory_needs_the_name_again(writing: Served) -> None:
    writing.send("POST", f"{ONE}/notes", 201, content="Keep this.")
    refused = writing.send("DELETE", ONE, 400, query={"all_data": "true", "confirm": "other"})
    assert "confirm" in refused["error"]["message"]
    assert writing.get(f"{ONE}/notes")["items"]
    removed = writing.send("DELETE", ONE)
    assert (removed["index_removed"], removed["records_kept"], removed["records_removed"]) == (True, 1, 0)
    assert writing.get("/repositories")["repositories"] == []


def test_an_index_run_reports_its_progress_and_its_end(writing: Served) -> None:
    started = writing.send("POST", f"{ONE}/update", 202, full=True)
    assert started["state"] == "running"
    with writing.client.stream("GET", f"/api/v1{ONE}/events", headers=BEARER) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        events = "".join(answer.iter_text())
    *_, last = [json.loads(line.removeprefix("data: ")) for line in events.splitlines() if line.startswith("data: ")]
    assert last["state"] == "done"
    assert last["percent"] == 100
    assert last["files_total"] > 0
    assert "event: end" in events
    assert writing.get(f"{ONE}/runs")["runs"][0]["event"] == "web"
    assert writing.get(ONE)["job"]["state"] == "done"


def test_the_progress_says_for_what_a_run_waits() -> None:
    job = IndexJob("sample", full=True)
    job.follow(Progress(10, 5, 7, 100, "waiting 20 s for the provider", "src/app.py"))
    shown = job.as_json()
    assert (shown["percent"], shown["chunks"], shown["waiting"]) == (50.0, 7, "waiting 20 s for the provider")
    assert shown["path"] == "src/app.py"
    job.state = DONE
    assert job.as_json()["waiting"] == job.as_json()["path"] == ""


def test_events_of_an_unknown_repository_are_refused(reading: Served) -> None:
    answer = reading.client.get("/api/v1/repositories/unknown/events", headers=BEARER)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_repository")


def test_a_repository_without_an_index_is_not_indexed_by_a_search(writing: Served) -> None:
    writing.service.workspace("sample")
    writing.send("DELETE", ONE)
    answer = writing.client.get("/api/v1/search", params={"query": "x"}, headers=BEARER)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "no_index")
