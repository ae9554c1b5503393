"""Commit messages are searched with the code on request, by words, author and time."""

from pathlib import Path
from typing import Any

import pytest

from gitmem.answering.answer_json import hit_json
from gitmem.answering.hit_text import named_hit
from gitmem.errors import NoIndex, UsageError
from gitmem.freshness.commit_run import index_commits
from gitmem.mcp.tools.text_output import render_answer
from gitmem.records.filters import parse_filters
from tests.commit_messages import Message, import_messages
from tests.gitrepo import Repo
from tests.indexes import index, python_file, search, workspace_of
from tests.sample import Cli

pytestmark = pytest.mark.usefixtures("fake_model")

BODY = """Drop Python 3.8

Its end of life was in October.
Pears need the match statement.

Reviewed-by: Grace Hopper <grace@example.invalid>
Fixes: #421
"""
MESSAGES = (
    Message("Add a parser for apples"),
    Message(BODY),
    Message("Harvest pears (#87)", "Grace Hopper <grace@example.invalid>"),
)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    import_messages(repo, MESSAGES)
    repo.commit({"src/python.py": python_file("drop_python")}, "Say nothing")
    index(repo)
    index_commits(workspace_of(repo))
    return repo


def subjects(repo: Repo, text: str, **filters: Any) -> list[str]:
    answer = search(repo, text, kinds=("commits",), **filters)
    return [answer.records[hit.blob]["subject"] for hit, _ in answer.hits]


def test_a_commit_is_found_by_the_words_of_its_body_and_trailers(repo: Repo) -> None:
    for text in ("end of life", "match statement", "421", "Drop Python"):
        answer = search(repo, text, kinds=("commits",), limit=1)
        hit, lines = answer.hits[0]
        assert lines == BODY.splitlines()
        assert (hit.start_line, hit.end_line) == (1, len(lines))
        fields = answer.records[hit.blob]
        assert fields["author"] == "Ada Lovelace <ada@example.invalid>"
        assert (fields["time"], fields["subject"]) == ("2023-11-15T22:13:20Z", "Drop Python 3.8")


def test_a_message_of_one_line_is_shown_once(repo: Repo, cli: Cli) -> None:
    words = "Add a parser for apples"
    outcome = cli("query", "--kind", "commits", "-n", "1", words, cwd=repo.path)
    assert outcome.out.count(words) == 1
    text = render_answer(search(repo, words, kinds=("commits",), limit=1), "snippet")
    assert text.count(words) == 1
    assert cli("query", "--kind", "commits", "-n", "1", "end of life", cwd=repo.path).out.count("end of life") == 1


def test_commits_are_searched_only_on_request(repo: Repo) -> None:
    assert {hit.chunk_type for hit, _ in search(repo, "drop python").hits} == {"function"}
    both = search(repo, "drop python", kinds=("code", "commits")).hits
    assert {hit.chunk_type for hit, _ in both} == {"function", "commit"}


def test_a_commit_is_named_by_its_id(repo: Repo) -> None:
    answer = search(repo, "Harvest pears", kinds=("commits",), limit=1, details=True)
    values = hit_json(answer, 0)
    commit = repo.oid("main~1")
    assert named_hit(answer.hits[0][0]).path == commit[:12]
    assert (values["kind"], values["id"], values["blob"]) == ("commits", f"{commit[:12]}:1-1", commit)
    assert values["record"]["id"] == commit
    assert values["total_chunks"] == 1


def test_filters_on_author_and_time(repo: Repo) -> None:
    def found(**values: Any) -> list[str]:
        return sorted(subjects(repo, "pears apples python", records=parse_filters(**values)))

    assert found(author=("GRACE",)) == ["Harvest pears (#87)"]
    assert found(author=("ada@", "grace@")) == ["Add a parser for apples", "Drop Python 3.8", "Harvest pears (#87)"]
    assert found(since="2023-11-15", until="2023-11-15") == ["Drop Python 3.8"]
    assert found(until="2023-11-14") == ["Add a parser for apples"]
    assert found(source=("mail",)) == []
    with pytest.raises(UsageError, match="do not apply to code"):
        search(repo, "pears", kinds=("code",), records=parse_filters(source=("mail",)))


def test_a_revision_has_only_the_commits_before_it(repo: Repo) -> None:
    assert {*subjects(repo, "pears apples python", rev="main~2")} == {"Drop Python 3.8", "Add a parser for apples"}
    with pytest.raises(UsageError, match="has no commits"):
        subjects(repo, "pears", rev=repo.oid("main^{tree}"))


def test_new_commits_are_found_at_once_and_nothing_is_written_without_refresh(repo: Repo) -> None:
    repo.commit({}, "Sell plums at the market")
    history = workspace_of(repo).paths.history
    before = history.manifest.read_bytes()
    stale = search(repo, "plums", kinds=("commits",), refresh=False)
    assert stale.notes == ["1 commit message not indexed yet (gitmem index --history)"]
    assert history.manifest.read_bytes() == before
    fresh = search(repo, "plums at the market", kinds=("commits",), limit=1)
    assert fresh.hits[0][0].symbol == "Sell plums at the market"
    assert fresh.notes == []


def test_messages_that_were_never_indexed(tmp_path: Path, repo: Repo) -> None:
    other = Repo.init(tmp_path / "other")
    other.commit({"a.py": python_file("drop_python")})
    index(other)
    with pytest.raises(NoIndex, match="commit messages are not indexed"):
        search(other, "drop python", kinds=("commits",))
    answer = search(other, "drop python", kinds=("code", "commits"))
    assert answer.hits
    assert answer.notes == ["commit messages are not indexed (gitmem index --history)"]


def test_a_message_in_another_encoding_is_read_in_it(repo: Repo) -> None:
    message = "Erkläre Äpfel\n\nGrößere Früchte zuerst.\n".encode("latin-1")
    tree = repo.oid("main^{tree}")
    lines = f"tree {tree}\nparent {repo.head()}\nauthor J\xf6rg <j@x> 1700000000 +0000\n".encode("latin-1")
    lines += b"committer J <j@x> 1700000000 +0000\nencoding ISO-8859-1\n\n" + message
    commit = repo.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=lines)
    repo.git("reset", "--quiet", "--hard", commit)
    answer = search(repo, "Größere Früchte", kinds=("commits",), limit=1)
    assert answer.hits[0][1] == ["Erkläre Äpfel", "", "Größere Früchte zuerst."]
    assert answer.records[commit]["author"] == "Jörg <j@x>"


def test_a_long_message_is_found_by_passage_and_shown_once(repo: Repo) -> None:
    sections = [f"Section {number}\n\n" + f"word{number} " * 120 for number in range(8)]
    repo.commit({}, "Long story\n\n" + "\n\n".join(sections))
    answer = search(repo, "word6", kinds=("commits",))
    hits = [hit for hit, _ in answer.hits if hit.symbol == "Long story"]
    assert len(hits) == 1
    assert hits[0].start_line > 3
    assert any("word6" in line for line in answer.hits[0][1])
