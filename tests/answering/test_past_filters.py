"""Filters of a search of the past, each by itself, and the end of a shallow clone."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from gitmem.answering.past_json import life_lines
from gitmem.answering.past_search import PastAnswer
from gitmem.errors import UsageError
from gitmem.freshness.past_run import index_past
from tests.gitrepo import Repo
from tests.indexes import index, workspace_of
from tests.past_histories import ENCODER, PARSE, RETRY, ask, symbols_of

pytestmark = pytest.mark.usefixtures("fake_model")

_COMMITS: Final = (
    ("src/wire.py", ENCODER, "Ada", "2020-01-01"),
    ("src/net.py", RETRY, "Grace", "2021-01-01"),
    ("lib/head.py", PARSE, "Ada", "2022-01-01"),
)
_DEFINITIONS: Final = {"JsonEncoder", "retry_request", "parse_header"}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Make a history in which two people add three definitions in three years; the first one is removed."""
    repo = Repo.init(tmp_path / "repo")
    for path, text, author, date in _COMMITS:
        repo.write({path: text})
        _commit(repo, f"Add {path}", author, date)
    repo.git("rm", "-q", "src/wire.py")
    _commit(repo, "Remove the encoder", "Grace", "2023-01-01")
    index(repo)
    index_past(workspace_of(repo))
    return repo


def _commit(repo: Repo, message: str, author: str, date: str) -> None:
    when = f"{date}T00:00:00+00:00"
    names = {"GIT_AUTHOR_NAME": author, "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
    repo.git("add", "--all")
    repo.git("commit", "-q", "-m", message, env=names)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, _DEFINITIONS),
        ({"author": "Ada"}, {"JsonEncoder", "parse_header"}),
        ({"author": "Grace"}, {"retry_request"}),
        ({"since": "2021-01-01"}, {"retry_request", "parse_header"}),
        ({"until": "2021-06-01"}, {"JsonEncoder", "retry_request"}),
        ({"path": "lib/"}, {"parse_header"}),
        ({"introduced": "HEAD~2"}, {"retry_request"}),
        ({"introduced": "HEAD~3..HEAD~1"}, {"retry_request", "parse_header"}),
        ({"removed": "HEAD"}, {"JsonEncoder"}),
        ({"removed": "HEAD~3..HEAD~1"}, set()),
        ({"author": "Ada", "since": "2021-01-01", "path": "lib/", "introduced": "HEAD~1"}, {"parse_header"}),
        ({"author": "Ada", "removed": "HEAD"}, {"JsonEncoder"}),
        ({"author": "Grace", "removed": "HEAD"}, set()),
    ],
)
def test_each_filter_leaves_the_definitions_that_pass_it(
    repo: Repo, options: dict[str, str], expected: set[str]
) -> None:
    assert _names(ask(repo, "json encoder retry request parse header", **options)) == expected


def test_a_range_outside_of_the_indexed_history_is_named(repo: Repo) -> None:
    index_past(workspace_of(repo), since=int(datetime(2022, 6, 1, tzinfo=UTC).timestamp()))
    answer = ask(repo, "json encoder", introduced="HEAD~3..HEAD~1")
    assert not answer.hits
    assert answer.notes == ["no commit of `HEAD~3..HEAD~1` is in the indexed history, which begins on 2022-06-01"]
    assert not ask(repo, "json encoder", removed="HEAD~1..HEAD").notes


@pytest.mark.parametrize("text", ["HEAD^{tree}", "HEAD^{tree}..HEAD", "HEAD~1..HEAD^{tree}"])
def test_a_tree_has_no_commits(repo: Repo, text: str) -> None:
    with pytest.raises(UsageError, match="is a tree without history"):
        ask(repo, "json encoder", removed=text)


def _names(answer: PastAnswer) -> set[str]:
    return {symbol.partition(".")[0] for symbol in symbols_of(answer)}


def test_a_shallow_clone_says_where_its_history_ends(repo: Repo, tmp_path: Path) -> None:
    repo.git("clone", "-q", "--depth=2", f"file://{repo.path}", str(tmp_path / "shallow"))
    clone = Repo(tmp_path / "shallow")
    end = clone.oid("HEAD~1")
    index(clone)
    index_past(workspace_of(clone))
    answer = ask(clone, "parse header line")
    assert answer.notes == [
        f"the clone is shallow and ends at {end[:9]}: what came before is unknown (git fetch --unshallow)"
    ]
    # git shows the last commit of a shallow clone as one that adds all of its files.
    assert life_lines(answer.hits[0])[0] == "older than the indexed history"
    assert not ask(clone, "parse header line", introduced="HEAD~1").hits


def test_a_completed_clone_is_indexed_again(repo: Repo, tmp_path: Path) -> None:
    repo.git("clone", "-q", "--depth=2", f"file://{repo.path}", str(tmp_path / "shallow"))
    clone = Repo(tmp_path / "shallow")
    index(clone)
    index_past(workspace_of(clone))
    clone.git("fetch", "-q", "--unshallow")
    assert "the clone was shallow and ended at" in ask(clone, "parse header line").notes[0]
    index_past(workspace_of(clone))
    answer = ask(clone, "parse header line")
    assert not answer.notes
    assert [hit.introduced.commit for hit in answer.hits[:1] if hit.introduced] == [repo.oid("HEAD~1")]
