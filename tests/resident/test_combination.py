"""Searches over several open trees are made once a minute, and never answered from a tree that has changed."""

from collections.abc import Sequence

import pytest

from gitmem.answering.federated_search import Member
from gitmem.answering.search_query import Query, SearchFilters
from gitmem.answering.searcher import open_searcher
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.resident.combination import Combination
from tests.gitrepo import MakeRepo
from tests.indexes import index, python_file, workspace_of


@pytest.fixture
def members(make_repo: MakeRepo, fake_model: object) -> Sequence[Member]:
    opened = []
    for name in ("web", "jobs"):
        repo = make_repo(name)
        repo.commit({"code.py": python_file(f"run_{name}")})
        index(repo)
        opened.append(Member(name, open_searcher(workspace_of(repo), WORKING_TREE)))
    return opened


def test_an_identical_query_is_searched_once(members: Sequence[Member]) -> None:
    combination = Combination(members, 60)
    first = combination.find(Query("run_web"), 10)
    assert first.hits
    assert combination.find(Query("run_web"), 10) is first
    assert combination.find(Query("run_web"), 9) is not first
    without = Combination(members, 0)
    assert without.find(Query("run_web"), 10) is not without.find(Query("run_web"), 10)
    # The index of commits is not part of a tree, so no tree changes with it.
    commits = Query("run_web", filters=SearchFilters(kinds=("code", "commits")))
    assert combination.find(commits, 10) is not combination.find(commits, 10)


def test_a_tree_that_was_opened_again_makes_another_combination(members: Sequence[Member]) -> None:
    combination = Combination(members, 60)
    assert combination.is_of(members, 60)
    assert not combination.is_of(members, 0)
    assert not combination.is_of(members[:1], 60)
    again = open_searcher(members[0].searcher.workspace, WORKING_TREE)
    assert not combination.is_of([members[0]._replace(searcher=again), members[1]], 60)
