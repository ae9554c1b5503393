"""A search of the past: which definitions are found, and when they lived."""

import math
from pathlib import Path

import pytest

from gitmem.answering.past_hit import PastHit
from gitmem.answering.past_json import life_lines, past_json
from gitmem.errors import NoIndex, UnknownRevision, UsageError
from gitmem.freshness.past_run import index_past
from tests.gitrepo import Repo
from tests.indexes import index, workspace_of
from tests.past_histories import ENCODER, PARSE, RETRY_WITH_JITTER, PastRepo, ask, make_past, symbols_of

pytestmark = pytest.mark.usefixtures("fake_model")


@pytest.fixture
def past(tmp_path: Path) -> PastRepo:
    past = make_past(Repo.init(tmp_path / "repo"))
    index(past.repo)
    index_past(workspace_of(past.repo))
    return past


def find(past: PastRepo, text: str, symbol: str, *, blame: float = 0.0) -> PastHit:
    hits = [found for found in ask(past.repo, text, blame).hits if found.hit.symbol.startswith(symbol)]
    assert len(hits) == 1, "each definition is listed once"
    return hits[0]


def commits_of(found: PastHit) -> tuple[str | None, str | None]:
    return tuple(details and details.commit for details in (found.introduced, found.removed))  # type: ignore[return-value]


def test_removed_code_is_found_with_its_interval(past: PastRepo) -> None:
    found = find(past, "encode dates as json", "JsonEncoder")
    assert commits_of(found) == (past.commits["encoder"], past.commits["removal"])
    assert (found.is_alive, found.hit.path) == (False, "src/wire.py")
    assert "isoformat" in "\n".join(found.lines)
    assert any("removed" in line and "Leave the encoding" in line for line in life_lines(found))


def test_a_former_version_is_found_by_its_own_words(past: PastRepo) -> None:
    found = find(past, "attempt in range sleep send", "retry_request")
    assert commits_of(found) == (past.commits["first"], None)
    assert found.is_alive
    assert not found.is_current
    assert found.versions == 2
    assert found.since is not None
    assert found.until is not None
    assert (found.since.commit, found.until.commit) == (past.commits["first"], past.commits["jitter"])


def test_a_rename_of_the_file_ends_no_life(past: PastRepo) -> None:
    found = find(past, "policy random jitter transmit", "retry_request")
    assert found.is_current
    assert commits_of(found) == (past.commits["first"], None)


def test_filters_restrict_the_versions(past: PastRepo) -> None:
    repo, commits = past
    assert symbols_of(ask(repo, "encode dates", removed=f"{commits['first']}..HEAD"))
    assert not ask(repo, "encode dates", removed=f"{commits['first']}..{commits['jitter']}").hits
    (symbol,) = symbols_of(ask(repo, "encode dates", introduced=commits["encoder"]))
    assert symbol.startswith("JsonEncoder")
    assert not ask(repo, "encode dates", author="nobody").hits
    assert not ask(repo, "encode dates", until="2001-01-01").hits
    assert ask(repo, "encode dates", since="2001-01-01").hits
    assert {found.hit.path for found in ask(repo, "encode dates", path="src/wire.py").hits} == {"src/wire.py"}


def test_the_newest_come_first_on_request(past: PastRepo) -> None:
    found = ask(past.repo, "encode dates", newest_first=True)  # type: ignore[arg-type]
    alive = [hit.is_alive for hit in found.hits]
    assert alive == sorted(alive, reverse=True)


def test_code_that_comes_back_is_alive(past: PastRepo) -> None:
    past.repo.commit({"src/wire.py": ENCODER}, "Encode dates again")
    index_past(workspace_of(past.repo))
    found = find(past, "encode dates as json", "JsonEncoder")
    assert commits_of(found) == (past.commits["encoder"], None)
    assert found.is_alive


def test_a_trace_finds_when_code_came_back(past: PastRepo) -> None:
    again = past.repo.commit({"src/wire.py": ENCODER}, "Encode dates again")
    index_past(workspace_of(past.repo))
    found = find(past, "encode dates as json", "JsonEncoder", blame=math.inf)
    assert commits_of(found) == (again, None)


def test_a_trace_begins_where_a_definition_ends(past: PastRepo) -> None:
    repo = past.repo
    again = repo.commit({"src/wire.py": ENCODER}, "Encode dates again")
    # The index shows the version of the first commit. At the end the file has another text, and then it is gone.
    repo.commit({"src/wire.py": ENCODER + "\n\n" + PARSE}, "Parse there")
    index_past(workspace_of(repo))
    assert commits_of(find(past, "encode dates as json", "JsonEncoder", blame=math.inf)) == (again, None)
    repo.git("rm", "-q", "src/wire.py")
    removal = repo.commit({}, "Leave it again")
    index_past(workspace_of(repo))
    assert commits_of(find(past, "encode dates as json", "JsonEncoder", blame=math.inf)) == (again, removal)


def test_a_trace_begins_at_the_tip_of_the_index(past: PastRepo) -> None:
    repo = past.repo
    again = repo.commit({"src/wire.py": ENCODER}, "Encode dates again")
    index_past(workspace_of(repo))
    repo.git("rm", "-q", "src/wire.py")
    repo.commit({}, "Leave it again")
    # The index is behind HEAD, in which the definition is gone. The shown version is that of its first life.
    assert commits_of(find(past, "encode dates as json", "JsonEncoder", blame=math.inf)) == (again, None)


def test_a_trace_of_code_at_another_path_begins_at_the_version(past: PastRepo) -> None:
    found = find(past, "attempt in range sleep send", "retry_request", blame=math.inf)
    assert commits_of(found) == (past.commits["first"], None)


def test_results_that_are_not_traced_in_time_are_counted(past: PastRepo) -> None:
    answer = ask(past.repo, "encode dates", 1e-9)
    assert f"the commits of {len(answer.hits)} results are not traced yet: ask again" in answer.notes
    assert answer.hits == ask(past.repo, "encode dates").hits


def test_a_moved_and_changed_function_stays_the_same_definition(past: PastRepo) -> None:
    changed = RETRY_WITH_JITTER.replace("client.transmit(request)", "return channel.deliver_message(request)")
    past.repo.git("rm", "-q", "src/client.py")
    past.repo.commit({"src/channels/queue.py": "import channel\n" * 40 + changed}, "Deliver through channels")
    index_past(workspace_of(past.repo))
    found = find(past, "channel deliver message policy", "retry_request")
    assert commits_of(found) == (past.commits["first"], None)


def test_what_a_merge_brings_about_belongs_to_the_merge(past: PastRepo) -> None:
    repo = past.repo
    repo.git("switch", "-q", "-c", "topic")
    repo.commit({"src/sums.py": "def add_numbers(first, second):\n    return first + second\n"}, "Add numbers")
    repo.git("switch", "-q", "main")
    repo.commit({"src/sums.py": "def multiply_matrix(rows, columns):\n    return rows @ columns\n"}, "Multiply")
    repo.git("merge", "-q", "--no-commit", "-s", "ours", "topic")
    both = "def divide_polynomial(dividend, divisor):\n    return long_division(dividend, divisor)\n"
    merge = repo.commit({"src/sums.py": both}, "Merge both")
    index_past(workspace_of(repo))
    assert find(past, "divide polynomial", "divide_polynomial").is_alive
    gone = find(past, "add numbers", "add_numbers")
    assert not gone.is_alive
    assert gone.removed is not None
    assert gone.removed.commit == merge


def test_what_the_index_lacks_is_noted(past: PastRepo) -> None:
    past.repo.commit({"a.py": "x = 1\n"})
    (note,) = ask(past.repo, "encode dates").notes
    assert "1 commit behind (gitmem index --history)" in note


def test_json_has_the_interval_and_the_text(past: PastRepo) -> None:
    value = past_json(ask(past.repo, "encode dates as json"))
    result = next(found for found in value["results"] if found["symbol"].startswith("JsonEncoder"))
    assert result["removed"]["commit"] == past.commits["removal"]
    assert result["version"] == {"since": result["introduced"], "until": result["removed"], "current": False}
    assert (result["alive"], result["versions"], result["start_line"]) == (False, 1, 1)
    assert value["history"] == {"commit": past.commits["removal"], "commits": 5}


def test_bad_requests_are_refused(past: PastRepo) -> None:
    repo = past.repo
    with pytest.raises(UnknownRevision):
        ask(repo, "encode", removed="nowhere..HEAD")
    with pytest.raises(UsageError, match="empty"):
        ask(repo, " ")
    workspace = workspace_of(repo)
    workspace.paths.past.lifetimes.unlink()
    with pytest.raises(NoIndex, match="the code of the past is not indexed"):
        ask(repo, "encode dates")
