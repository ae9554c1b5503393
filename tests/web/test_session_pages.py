"""Searches that are kept, reports, and doubtful notes: over the API and on the page."""

from pathlib import Path

import pytest

from tests.gitrepo import Repo
from tests.web.served import BEARER, Served
from tests.web.test_page import spoil, submit

ONE = "/repositories/sample"


def keep(served: Served, query: str = "sign the cookie", **filters: object) -> str:
    """Keep a search; return the id of its session."""
    body = {"query": query, "limit": 3, **filters}
    answer = served.client.post(f"/api/v1{ONE}/sessions", json=body, headers=BEARER)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def test_a_damaged_record_of_a_search_is_not_called_gone(writing: Served, own: Repo) -> None:
    note = writing.send("POST", f"{ONE}/notes", 201, content="How the cookie is signed.", type="fact")
    session = keep(writing, kind=["notes"])
    items = writing.get(f"{ONE}/items", id=session)["items"]
    assert "How the cookie is signed." in str(items), "the note is among the results"
    path = next(line for line in own.git("ls-tree", "-r", "refs/gitmem/memory").splitlines() if note["id"] in line)
    spoil(own, path.split()[2])
    problems = [item.get("problem", "") for item in writing.get(f"{ONE}/items", id=session)["items"]]
    assert any(path.split()[2] in problem for problem in problems)
    assert "this text no longer exists" not in problems


def test_a_kept_search_is_listed_read_and_reported(writing: Served, own: Repo) -> None:
    session = keep(writing)
    (listed,) = writing.get(f"{ONE}/sessions")["items"]
    assert (listed["id"], listed["query"]) == (session, "sign the cookie")
    heading, *results = writing.get(f"{ONE}/items", id=session)["items"]
    assert heading["total_results"] == len(results)
    assert results[0]["path"] == "src/cookies.py"
    assert "def sign_cookie" in results[0]["content"]
    written = writing.send(
        "POST", f"{ONE}/reports", 201, session=[session], variables={"overall_summary": "With HMAC."}, file_name="a"
    )
    assert Path(written["path"]).parent == own.path / "rag-reports"
    (report,) = writing.get(f"{ONE}/reports")["items"]
    assert (report["name"], report["bytes"]) == (written["id"], written["bytes"])
    text = writing.get(f"{ONE}/reports/text", name=report["name"])["content"]
    assert "With HMAC." in text
    assert "def sign_cookie" in text
    # A second one of the same second and name gets a number: nothing is replaced.
    again = writing.send(
        "POST", f"{ONE}/reports", 201, session=[session], variables={"overall_summary": "Else."}, file_name="a"
    )
    assert again["id"] != written["id"]
    assert writing.get(f"{ONE}/reports/text", name=report["name"])["content"] == text
    assert {one["name"] for one in writing.get(f"{ONE}/templates")["items"]} >= {"basic", "paper", "bullet_points"}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"variables": {"query": "x"}}, 400),  # variables of the template are missing
        ({"variables": {"query": {"deep": "x"}}}, 400),
        ({"variables": "x"}, 400),
        ({"template": "../secret"}, 400),
        ({"session": ["../x"]}, 400),
        ({"session": ["search_00000000"]}, 404),
        ({"folder": "../outside"}, 400),
        ({"folder": ".git"}, 400),
        ({"folder": "/"}, 400),
        ({"unknown": 1}, 400),
    ],
)
def test_a_refused_report_writes_nothing(writing: Served, own: Repo, body: dict[str, object], status: int) -> None:
    before = sorted(own.path.rglob("*"))
    given = {"variables": {"query": "x", "overall_summary": "y", "sections": []}, **body}
    writing.send("POST", f"{ONE}/reports", status, **given)
    assert [path for path in sorted(own.path.rglob("*")) if path not in before and "state" not in path.parts] == []


@pytest.mark.parametrize(
    "name", ["../cookies.py", "20260131_120000_../../x.md", "README.md", "20260131_120000_link.md"]
)
def test_only_reports_are_read(writing: Served, own: Repo, name: str) -> None:
    (own.path / "rag-reports").mkdir()
    (own.path / "rag-reports" / "README.md").write_text("not a report")
    (own.path / "rag-reports" / "20260131_120000_link.md").symlink_to(own.path / "src" / "cookies.py")
    assert writing.get(f"{ONE}/reports")["items"] == []
    answer = writing.client.get(f"/api/v1{ONE}/reports/text", params={"name": name}, headers=BEARER)
    assert answer.status_code >= 400
    assert "sign_cookie" not in answer.text


def test_the_page_keeps_a_search_and_writes_a_report(writing: Served) -> None:
    assert "Keep for a report" in writing.page("/results", query="sign the cookie", repository="sample")
    target = submit(
        writing, "keepSearch", repository="sample", query="sign the cookie", to="/session?repository=sample&id={id}"
    )
    page = writing.page(target)
    assert "sign_cookie" in page
    assert 'name="variables.overall_summary"' in page
    (session,) = writing.get(f"{ONE}/sessions")["items"]
    assert session["id"] in writing.page("/memory", repository="sample", kind="searches")
    fields = {"variables.query": "x", "variables.overall_summary": "<script>alert(1)</script>"}
    to = "/report?repository=sample&name={id}"
    report = submit(writing, "createReport", repository="sample", session=session["id"], to=to, **fields)
    assert "&lt;script&gt;" in writing.page(report)
    assert "<script>alert" not in writing.page(report)
    name = report.rpartition("=")[2]
    assert name in writing.page("/memory", repository="sample", kind="reports")
    refused = submit(writing, "createReport", 400, repository="sample", session=session["id"], to=to)
    assert "overall_summary" in refused
    writing.page("/session", 404, repository="sample", id="search_00000000")
    writing.page("/session", 404, repository="sample", id="../x")
    writing.page("/report", 404, repository="sample", name="../x")


def test_doubtful_notes_are_marked_and_decided(writing: Served, own: Repo) -> None:
    old, new = (
        writing.send("POST", f"{ONE}/notes", 201, content=f"{word} about cookies.", paths=["src/cookies.py"])["id"]
        for word in ("First", "Second")
    )
    own.commit({"src/cookies.py": "def sign_cookie(value):\n    return value\n"})
    mark = "written about `src/cookies.py`, changed since"
    for page in (
        writing.page("/memory", repository="sample"),
        writing.page("/memory", repository="sample", kind="review"),
        writing.page("/memory", repository="sample", query="cookies"),
        writing.page("/file", repository="sample", path="src/cookies.py"),
        writing.page("/results", query="sign the cookie", repository="sample"),
        writing.page("/record", repository="sample", id=old),
    ):
        assert mark in page
    assert f"{mark}: 1 commit" in writing.page("/record", repository="sample", id=old)
    submit(writing, "confirmNote", repository="sample", id=old, to="/")
    assert mark not in writing.page("/record", repository="sample", id=old)
    submit(writing, "expireNote", repository="sample", id=new, to="/")
    assert "expired" in writing.page("/record", repository="sample", id=new)
    assert "No note is about a file" in writing.page("/memory", repository="sample", kind="review")
    assert f'value="{old}"' in writing.page("/memory", repository="sample", add="1", supersedes=old)
    submit(writing, "addNote", repository="sample", content="Third about cookies.", supersedes=old, to="/")
    assert "superseded by" in writing.page("/record", repository="sample", id=old)
    assert "Open the note that replaces it" in writing.page("/record", repository="sample", id=old)


def test_documents_and_turns_are_edited_with_their_history(writing: Served) -> None:
    document = writing.send("POST", f"{ONE}/documents", 201, content="One.", title="Plan", source_id="a")["id"]
    assert "Edit the document" in writing.page("/record", repository="sample", id=document)
    submit(writing, "addDocument", repository="sample", source="manual", source_id="a", content="Two.", to="/")
    page = writing.page("/record", repository="sample", id=document)
    assert "Two." in page
    assert "-One." in page
    writing.send("POST", f"{ONE}/conversations", 201, conversation="talk", content="Hello.")
    assert "Edit turn 0" in writing.page("/record", repository="sample", id="conversation:talk")
    turn = {"conversation": "talk", "turn": "0", "role": "user", "content": "Bye."}
    submit(writing, "appendTurn", repository="sample", to="/", **turn)
    page = writing.page("/record", repository="sample", id="conversation:talk")
    assert "Bye." in page
    assert "-Hello." in page
