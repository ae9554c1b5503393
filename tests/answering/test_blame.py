"""Hits with the commits that introduced and last changed them, and searches restricted by the last change."""

import math
from pathlib import Path
from typing import Any

import pytest

from gitmem.answering.answer import Answer, answer
from gitmem.answering.blame import Blame, describe_blame
from gitmem.answering.search_query import Query, SearchFilters
from gitmem.freshness.tree_selection import STAGED_TREE, TreeSelection
from gitmem.records.filters import parse_filters
from tests.gitrepo import Repo
from tests.indexes import index, workspace_of

pytestmark = pytest.mark.usefixtures("fake_model")

APPLE = "def peel_apple(apple):\n    return apple.without_skin()\n"
PEAR = "\n\ndef halve_pear(pear):\n    return pear[: len(pear) // 2]\n"
PLUM = "\n\ndef stone_plum(plum):\n    return plum.without_stone()\n"


def commit(repo: Repo, files: dict[str, str], subject: str, author: str, month: int) -> str:
    """Commit at the first day of a month of 2025."""
    repo.write(files)
    repo.git("add", "--all")
    date = f"2025-{month:02}-01T00:00:00+00:00"
    names = {"GIT_AUTHOR_NAME": author, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    repo.git("commit", "-q", "-m", subject, env=names)
    return repo.head()


@pytest.fixture
def commits(tmp_path: Path) -> dict[str, str]:
    """Three functions by two authors; the file moves last, which changes none of them."""
    repo = Repo.init(tmp_path / "repo")
    made = {
        "apple": commit(repo, {"fruit.py": APPLE}, "Peel apples", "Ada", 1),
        "pear": commit(repo, {"fruit.py": APPLE + PEAR}, "Halve pears", "Grace", 2),
        "apple again": commit(
            repo, {"fruit.py": APPLE.replace("skin()", "skin(thin=True)") + PEAR}, "Peel thinly", "Grace", 3
        ),
        "plum": commit(
            repo, {"fruit.py": APPLE.replace("skin()", "skin(thin=True)") + PEAR + PLUM}, "Stone plums", "Ada", 4
        ),
    }
    repo.git("mv", "fruit.py", "fruits.py")
    made["move"] = commit(repo, {}, "Move fruit", "Edsger", 5)
    index(repo)
    return made


@pytest.fixture
def repo(tmp_path: Path, commits: dict[str, str]) -> Repo:
    assert commits
    return Repo(tmp_path / "repo")


def ask(
    repo: Repo, text: str, selection: TreeSelection | None = None, seconds: float = math.inf, **filters: Any
) -> Answer:
    records = parse_filters(**filters)
    query = Query(text, 5, filters=SearchFilters(kinds=("code",), records=records), blame=seconds, min_score=0)
    return answer(workspace_of(repo), query, selection or TreeSelection())


def symbols(repo: Repo, text: str, **filters: Any) -> list[str]:
    return sorted(hit.symbol for hit, _ in ask(repo, text, **filters).hits)


def blame_of(found: Answer, symbol: str) -> Blame:
    names = [hit.symbol for hit, _ in found.hits]
    blame = found.blames[names.index(symbol)]
    assert blame is not None
    return blame


def test_a_hit_names_the_commits_that_introduced_and_last_changed_it(repo: Repo, commits: dict[str, str]) -> None:
    found = ask(repo, "peel_apple halve_pear stone_plum")
    apple, pear = blame_of(found, "peel_apple"), blame_of(found, "halve_pear")
    assert apple.introduced is not None
    assert apple.changed is not None
    assert (apple.introduced.commit, apple.changed.commit) == (commits["apple"], commits["apple again"])
    assert not apple.is_changed
    assert describe_blame(apple) == [
        f"introduced {commits['apple'][:9]} 2025-01-01 Peel apples (Ada)",
        f"last changed {commits['apple again'][:9]} 2025-03-01 Peel thinly (Grace)",
    ]
    assert describe_blame(pear) == [f"introduced {commits['pear'][:9]} 2025-02-01 Halve pears (Grace)"]


def test_when_the_time_is_over_a_note_says_what_is_left(repo: Repo) -> None:
    found = ask(repo, "peel_apple halve_pear", seconds=1e-9)
    assert found.blames == [None] * len(found.hits)
    assert found.notes == [f"the commits of {len(found.hits)} results are not traced yet: ask again"]


def test_uncommitted_changes_are_said_and_new_code_has_no_commits(repo: Repo, commits: dict[str, str]) -> None:
    text = "\n" + (repo.path / "fruits.py").read_text().replace("// 2", "// 3")
    repo.write({"fruits.py": text, "new.py": "def wash_grape(grape):\n    return grape.washed()\n"})
    found = ask(repo, "peel_apple halve_pear wash_grape")
    apple, pear, grape = (blame_of(found, name) for name in ("peel_apple", "halve_pear", "wash_grape"))
    assert (apple.is_changed, pear.is_changed, grape.is_changed) == (False, True, True)
    assert pear.introduced is not None
    assert pear.introduced.commit == commits["pear"]
    assert (grape.introduced, grape.changed) == (None, None)
    assert describe_blame(grape) == ["has changes that are not committed"]
    staged = ask(repo, "halve_pear", STAGED_TREE)
    assert not blame_of(staged, "halve_pear").is_changed
    repo.git("add", "--all")
    assert blame_of(ask(repo, "halve_pear", STAGED_TREE), "halve_pear").is_changed


def test_code_is_filtered_by_author_and_time_of_its_last_change(repo: Repo) -> None:
    text = "peel_apple halve_pear stone_plum"
    assert symbols(repo, text, author=["grace"]) == ["halve_pear", "peel_apple"]
    assert symbols(repo, text, author=["ada", "edsger"]) == ["stone_plum"]  # the move of the file changed no function
    assert symbols(repo, text, since="2025-03-01") == ["peel_apple", "stone_plum"]
    assert symbols(repo, text, until="2025-03-01") == ["halve_pear", "peel_apple"]
    assert symbols(repo, text, since="2025-02-15", until="2025-03-15", author=["Grace"]) == ["peel_apple"]
    assert symbols(repo, text, since="2026-01-01") == []


def test_uncommitted_code_was_changed_now_and_by_nobody(repo: Repo) -> None:
    repo.write({"new.py": "def wash_grape(grape):\n    return grape.washed()\n"})
    assert symbols(repo, "wash_grape", since="2026-01-01") == ["wash_grape"]
    assert symbols(repo, "wash_grape", until="2026-01-01", since="2025-01-01") != ["wash_grape"]
    assert "wash_grape" not in symbols(repo, "wash_grape", author=["a"])


def test_at_a_revision_the_commits_are_those_up_to_it(repo: Repo, commits: dict[str, str]) -> None:
    found = ask(repo, "peel_apple", TreeSelection(rev=commits["pear"]))
    apple = blame_of(found, "peel_apple")
    assert apple.changed is not None
    assert apple.changed.commit == commits["apple"]


def test_an_object_that_git_cannot_read_is_named(repo: Repo, commits: dict[str, str]) -> None:
    lost = repo.oid(f"{commits['pear']}:fruit.py")
    repo.loose_object(lost).unlink()
    found = ask(repo, "halve_pear")
    assert blame_of(found, "halve_pear").introduced is None
    (note,) = found.notes
    assert note.startswith(f"git cannot read 1 object ({lost[:12]})")
    assert note in ask(repo, "halve_pear", author=["grace"]).notes
