"""Which commits of a range are suspected, and what limits the range."""

from pathlib import Path

import pytest

from gitmem.answering import bisect_hint
from gitmem.answering.bisect_hint import BisectHint, read_bisect_hint
from gitmem.errors import NoIndex, UsageError
from gitmem.git.bisect_range import find_range
from gitmem.git.locate import locate
from tests.gitrepo import MakeRepo, Repo
from tests.indexes import index, workspace_of

RETRY = """def retry(request):
    for attempt in range(5):
        sleep(2**attempt)
        send(request)
"""
PARSE = "def parse_header(line):\n    name, value = line.split(':')\n    return name.strip(), value.strip()\n"
SAVE = "def save_settings(file, settings):\n    file.write(json.dumps(settings))\n"
SYMPTOM = "the pause between two attempts of a request is far too long"


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repo:
    """A range of which one commit makes the pauses longer, and one removes the limit of attempts."""
    repo = make_repo("repo")
    limit = "def limit_attempts(count):\n    return min(count, 5)\n"
    repo.commit({"src/net.py": f"{RETRY}\n\n{limit}", "src/http.py": PARSE, "src/save.py": SAVE}, "start")
    repo.git("tag", "good")
    repo.commit({"src/http.py": PARSE.replace("':'", "':', 1")}, "accept colons in values")
    repo.commit({"src/net.py": f"{RETRY.replace('2**attempt', '60 * 2**attempt')}\n\n{limit}"}, "tidy up")
    repo.commit({"src/save.py": SAVE.replace("settings)", "settings, indent=2)")}, "indent the settings")
    repo.commit({"src/net.py": RETRY.replace("2**attempt", "60 * 2**attempt")}, "remove unused code")
    index(repo)
    return repo


def ask(repo: Repo, symptom: str = SYMPTOM, text: str = "good..HEAD") -> BisectHint:
    return read_bisect_hint(workspace_of(repo), symptom, text)


def test_the_commit_that_changed_the_described_code_comes_first(repo: Repo) -> None:
    hint = ask(repo)
    assert (hint.since, hint.until, hint.total, hint.notes) == ("good", "HEAD", 4, [])
    first = hint.suspects[0]
    assert first.commit.subject == "tidy up"
    assert [(chunk.path, chunk.symbol, chunk.kinds) for chunk in first.chunks] == [("src/net.py", "retry", ("body",))]
    assert first.score > 1.5 * hint.suspects[2].score


def test_code_that_the_range_removed_leads_to_the_commit_that_did(repo: Repo) -> None:
    first = ask(repo, "the number of attempts has no limit any more").suspects[0]
    assert first.commit.subject == "remove unused code"
    assert ("limit_attempts", ("removed",)) in [(chunk.symbol, chunk.kinds) for chunk in first.chunks]


def test_a_message_counts_too(repo: Repo) -> None:
    for number, message in enumerate(("update", "ship the translation of the weather report")):
        repo.commit({f"{number}.bin": b"\0\1"}, message)
    places = [suspect.place for suspect in ask(repo, "weather report in another language").suspects]
    assert places.index(0) < places.index(1)


def test_merges_are_left_out_and_equal_commits_are_newest_first(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "side", "good")
    repo.commit({"side.txt": "x\n"}, "side")
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "merge side", "side")
    hint = ask(repo, "qqqq")
    assert hint.total == 5
    assert sorted(suspect.place for suspect in hint.suspects) == list(range(5))
    assert "merge side" not in [suspect.commit.subject for suspect in hint.suspects]


def test_only_the_newest_commits_of_a_long_range_are_ranked(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bisect_hint, "MAX_COMMITS", 2)
    hint = ask(repo)
    assert {suspect.commit.subject for suspect in hint.suspects} == {"indent the settings", "remove unused code"}
    assert hint.total == 4
    assert hint.notes == ["the newest 2 commits of 4 are ranked: name a shorter range"]


def test_without_a_range_it_is_that_of_the_bisection_or_the_last_commits(repo: Repo) -> None:
    location = locate(repo.path)
    assert find_range(location, "").goods == ()
    assert ask(repo, text="").total == 5
    repo.git("bisect", "start", "--term-new=slow", "--term-old=fast")
    repo.git("bisect", "slow", "HEAD~1")
    assert find_range(location, "").goods == ()
    repo.git("bisect", "fast", "good")
    found = find_range(location, "")
    assert found.goods == (repo.oid("good"),)
    assert found.bad == repo.oid("main~1")
    assert ask(repo, text="").total == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("HEAD..good", "no commits in HEAD..good"),
        ("good..HEAD^{tree}", "`HEAD^{tree}` is a tree without history"),
        ("good", "not a range of revisions: `good`"),
    ],
)
def test_a_bad_range_is_explained(repo: Repo, text: str, message: str) -> None:
    with pytest.raises(UsageError, match="^" + message.replace("^", r"\^").replace("{", r"\{")):
        ask(repo, text=text)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("HEAD..HEAD", "both ends are the same commit"),
        ("HEAD..main", "both ends are the same commit"),
        ("HEAD..good", "the older end comes first: good..HEAD"),
    ],
)
def test_the_hint_for_an_empty_range_says_why_it_is_empty(repo: Repo, text: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        ask(repo, text=text)
    assert caught.value.hint == hint


def test_a_shallow_clone_and_a_missing_index_are_said(repo: Repo, tmp_path: Path) -> None:
    repo.git("clone", "-q", "--depth=3", f"file://{repo.path}", str(tmp_path / "shallow"))
    clone = Repo(tmp_path / "shallow")
    with pytest.raises(NoIndex):
        ask(clone, text="HEAD~1..HEAD")
    index(clone)
    assert "the clone is shallow" in ask(clone, text="HEAD~2..HEAD").notes[0]


def test_a_call_can_be_stopped_and_reports_its_progress(repo: Repo) -> None:
    class StoppedError(Exception):
        pass

    def stop() -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        read_bisect_hint(workspace_of(repo), SYMPTOM, "good..HEAD", stop)
    steps: list[tuple[int, int]] = []
    read_bisect_hint(workspace_of(repo), SYMPTOM, "good..HEAD", report=lambda *step: steps.append(step))
    assert steps == sorted(steps)
    assert steps[0][0] == 0
    assert all(done < total for done, total in steps)
