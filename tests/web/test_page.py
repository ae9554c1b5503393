"""The page: what it shows, that all of it is escaped, and that its forms do what the API does."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.freshness.refresh import refresh
from gitmem.records.code_notes import read_file_notes
from gitmem.web.page.charts import Point, growth, share_bar, shares_of
from gitmem.web.page.highlight import MAX_LINE, highlight
from gitmem.web.page.templates import address
from gitmem.words import terms_of
from tests.gitrepo import Repo
from tests.indexes import workspace_of
from tests.web.served import BEARER, ORIGIN, Served, serving

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[Served]:
    """A repository with markup in the name of a file, in a symbol, in a branch and in a note."""
    repo = Repo.init(tmp_path / "repo")
    name = 'a<b onclick="x">&.py'
    repo.commit({name: f'def sign_cookie(value):\n    """{HOSTILE} signs a cookie."""\n    return value\n'})
    repo.git("branch", 'x"<b>')
    refresh(workspace_of(repo), repo.git("rev-parse", "HEAD^{tree}"))
    with serving(tmp_path, {"sample": repo.path}) as served:
        served.send("POST", "/repositories/sample/notes", 201, content=f"{HOSTILE} about cookies", paths=[name])
        yield served


def submit(served: Served, operation: str, status: int = 303, /, **fields: str) -> str:
    """Submit a form, and return the address that it leads to, or the page that says why not."""
    answer = served.client.post(
        f"/do/{operation}", data=fields, headers={**BEARER, "Origin": ORIGIN}, follow_redirects=False
    )
    assert answer.status_code == status, answer.text
    return answer.headers.get("location", answer.text)


def test_hostile_text_is_shown_as_text_everywhere(hostile: Served) -> None:
    name = 'a<b onclick="x">&.py'
    (note,) = hostile.get("/repositories/sample/notes")["items"]
    pages = [
        hostile.page("/", query="sign cookie", repository="sample"),
        hostile.page("/", query=HOSTILE, rev=HOSTILE),
        hostile.page("/results", query="sign cookie"),
        hostile.page("/file", repository="sample", path=name, first="1"),
        hostile.page("/similar", repository="sample", location=f"{name}:1"),
        hostile.page("/memory", repository="sample"),
        hostile.page("/memory", repository="sample", query="cookies"),
        hostile.page("/memory", repository="sample", kind="history"),
        hostile.page("/record", repository="sample", id=note["id"]),
        hostile.page("/file", 400, repository="sample", path=HOSTILE),
        hostile.page("/repository", 404, name=HOSTILE),
    ]
    for page in pages:
        assert "<script>alert" not in page
        assert "<b onclick" not in page
        assert "<b>" not in page
    assert "&lt;" in pages[3]


def test_no_markup_has_inline_style_or_script(reading: Served) -> None:
    for path in (
        "/",
        "/repositories",
        "/repository?name=sample",
        "/memory?repository=sample",
        "/configuration?name=sample",
    ):
        page = reading.page(path)
        assert not re.search(r"<[^>]+\s(style|on\w+)=", page)
        assert not re.search(r"<script(?![^>]*\ssrc=)", page)
        assert "://" not in re.sub(r'xmlns="[^"]*"', "", page)


def test_a_search_shows_the_words_that_match_and_leads_to_the_lines(reading: Served) -> None:
    page = reading.page("/", query="sign the cookie", repository="sample")
    assert "<mark>" in page
    assert 'class="c-' in page
    link = re.search(r'class="place" href="([^"]+)"', page)
    assert link is not None
    target = link[1].replace("&amp;", "&")
    assert target.startswith("/file?repository=sample&path=src%2Fcookies.py&first=")
    opened = reading.page(target.partition("#")[0])
    assert 'class="wanted"' in opened
    assert "Code like this" in opened


def test_the_address_reproduces_the_search(reading: Served) -> None:
    page = reading.page("/", query="cookie", repository="sample", language="python", rev="v1", chunk_type="function")
    assert 'value="cookie"' in page
    assert 'name="rev" list="revisions" value="v1"' in page
    assert "<option selected>function</option>" in page
    assert 'value="sample" checked' in page or "In sample" in page
    assert "old/session.py" in page


@pytest.mark.parametrize("query", [{"query": "x", "min_score": "5"}, {"query": "x", "rev": "nope"}])
def test_a_problem_of_a_search_is_shown_in_its_place(reading: Served, query: dict[str, str]) -> None:
    page = reading.page("/", **query)
    assert 'class="bad"' in page
    assert 'id="query"' in page


def test_the_page_of_a_repository_has_its_content_and_its_charts(reading: Served) -> None:
    page = reading.page("/repository", name="sample")
    assert "Up to Date" in page
    assert 'aria-label="Chunks by language"' in page
    assert "python" in page
    assert "gitmem.searchMaxLimit" in reading.page("/configuration", name="sample")
    assert "Embedded" in page


def test_a_note_is_added_edited_deleted_and_restored_with_forms(writing: Served) -> None:
    base = {"repository": "sample", "to": "/memory?repository=sample"}
    submit(writing, "addNote", **base, content="First line.\r\nSecond.", type="decision", paths="src, README.md")
    (note,) = writing.get("/repositories/sample/notes")["items"]
    assert (note["content"], note["paths"]) == ("First line.\nSecond.", ["src", "README.md"])
    beside = writing.page("/file", repository="sample", path="src/cookies.py")
    assert "First line." in beside
    record = f"/record?repository=sample&id={note['id']}"
    target = submit(writing, "changeNote", repository="sample", id=note["id"], content="Changed.", paths="", to=record)
    assert target == record
    page = writing.page(record)
    assert "Changed." in page
    assert '<span class="minus">-First line.' in page
    submit(writing, "deleteRecords", repository="sample", id=note["id"], to=record)
    assert "Deleted" in writing.page(record)
    submit(writing, "restoreRecord", repository="sample", id=note["id"], to=record)
    assert "Changed." in writing.page(record)


def test_a_record_whose_history_is_damaged_is_shown_with_the_reason(writing: Served, own: Repo) -> None:
    base = {"repository": "sample", "to": "/memory?repository=sample"}
    submit(writing, "addNote", **base, content="The former text.", type="decision", paths="")
    (note,) = writing.get("/repositories/sample/notes")["items"]
    former = own.git("rev-parse", "refs/gitmem/memory^{commit}").strip()
    record = f"/record?repository=sample&id={note['id']}"
    submit(writing, "changeNote", repository="sample", id=note["id"], content="Changed.", paths="", to=record)
    spoil(own, former)
    page = writing.page(record)
    assert "Changed." in page
    assert former in page


def spoil(repository: Repo, oid: str) -> None:
    """Replace a loose object of a repository by noise."""
    file = repository.path / ".git" / "objects" / oid[:2] / oid[2:]
    file.chmod(0o600)
    file.write_bytes(b"noise")


def test_documents_and_conversations_are_added_with_forms(writing: Served) -> None:
    base = {"repository": "sample", "to": "/memory"}
    submit(writing, "addDocument", **base, content="All about cookies.", title="Cookies", type="doc", source="")
    submit(writing, "appendTurn", **base, conversation="plan", role="user", content="What is next?")
    assert "Cookies" in writing.page("/memory", repository="sample", kind="documents")
    page = writing.page("/memory", repository="sample", kind="conversations")
    assert "conversation%3Aplan" in page
    assert "What is next?" in writing.page("/record", repository="sample", id="conversation:plan")


def test_a_form_renames_and_removes(writing: Served) -> None:
    assert submit(writing, "renameRepository", repository="sample", name="other", to="/repositories") == "/repositories"
    assert "other" in writing.page("/repositories")
    page = submit(writing, "renameRepository", 400, repository="other", name="no/name")
    assert "invalid name" in page
    submit(writing, "removeRepository", repository="other", to="/repositories")
    assert "No repository yet" in writing.page("/repositories")


@pytest.mark.parametrize(
    "target", ["//evil.example", "https://evil.example", "/\\evil.example", "/\t/evil.example", "x"]
)
def test_a_form_leads_only_to_this_page(writing: Served, target: str) -> None:
    assert submit(writing, "cancelRun", repository="sample", to=target) == "/"


@pytest.mark.parametrize("operation", ["search", "unknown", "showRecord", "../x"])
def test_only_operations_that_change_something_have_forms(reading: Served, operation: str) -> None:
    answer = reading.client.post(f"/do/{operation}", data={"repository": "sample"}, headers=BEARER)
    assert answer.status_code == 404


def test_a_form_must_be_a_form_and_bounded(reading: Served) -> None:
    for content, kind, status in ((b"x", "text/plain", 415), (b"a=1&" * 300, None, 400), (b"x" * (2 << 20), None, 413)):
        headers = {**BEARER, "Content-Type": kind or "application/x-www-form-urlencoded"}
        assert reading.client.post("/do/addNote", content=content, headers=headers).status_code == status


def test_without_repositories_the_page_says_how_to_begin(tmp_path: Path) -> None:
    with serving(tmp_path, {}) as served:
        for path in ("/", "/repositories", "/memory"):
            assert "gitmem init" in served.page(path)


def test_notes_about_a_symbol_are_beside_the_files_that_have_it(writing: Served) -> None:
    writing.send("POST", "/repositories/sample/notes", 201, content="About signing.", symbols=["Cookies.sign_cookie"])
    workspace = writing.service.workspace("sample")
    assert [note.content for note in read_file_notes(workspace, "any.py", {"sign_cookie"})] == ["About signing."]
    assert read_file_notes(workspace, "any.py", {"other"}) == []


def test_highlighting_keeps_every_character() -> None:
    lines = ['x = "<a&b>"  # it\'s', "", "\tdef f(): \x1b[31m", "é\x0cü"]
    shown = [re.sub(r"<[^>]*>", "", str(line)) for line in highlight(lines, "python", ["def"])]
    assert shown[0] == "x = &#34;&lt;a&amp;b&gt;&#34;  # it&#39;s"
    assert "\\e[31m" in shown[2]
    assert len(shown) == len(lines)


def test_marks_cross_the_borders_of_tokens() -> None:
    (line,) = highlight(["return sign_cookie(value)"], "python", terms_of("cookie"))
    assert "<mark>sign_cookie</mark>" in re.sub(r"</?span[^>]*>", "", str(line)).replace("</mark><mark>", "")


@pytest.mark.parametrize("lines", [["(" * (MAX_LINE + 1)], ["x"] * 60_000, ["a"]])
@pytest.mark.parametrize("language", ["python", "klingon", ""])
def test_long_and_unknown_text_is_shown_without_colours(lines: list[str], language: str) -> None:
    assert [str(line) for line in highlight(lines, language)][:1] == lines[:1] or language == "python"
    assert len(highlight(lines, language)) == len(lines)


def test_shares_add_up_to_the_whole() -> None:
    shares = shares_of({f"l{number}": number for number in range(1, 20)})
    assert len(shares) == 8
    assert shares[-1].name == "other"
    assert sum(share.number for share in shares) == sum(range(1, 20))
    assert share_bar(shares, 'a"b').count("<rect") == 8
    assert 'aria-label="a&#34;b"' in share_bar(shares, 'a"b')


def test_growth_needs_two_runs() -> None:
    assert growth([Point("2026-01-31T12:00:00Z", 5)], "x") == ""
    chart = growth([Point("2026-01-31T12:00:00Z", 0), Point("2026-02-01T12:00:00Z", 10)], "x")
    assert chart.count("<circle") == 2
    assert "2026-02-01 12:00:00: 10" in chart


def test_addresses_are_encoded() -> None:
    assert address("/file", path="a b&c", rev="", first=1) == "/file?path=a+b%26c&first=1"
    assert address("/", repository=["a", "b"]) == "/?repository=a&repository=b"
