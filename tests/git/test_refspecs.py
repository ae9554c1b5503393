"""Remotes whose fetch would write to a ref are found."""

import pytest

from gitmem.git.locate import locate
from gitmem.git.refspecs import find_fetching_remotes
from tests.gitrepo import MakeRepo


@pytest.mark.parametrize(
    ("specs", "writes"),
    [
        (["+refs/heads/*:refs/remotes/origin/*"], False),
        (["+refs/*:refs/*"], True),
        (["refs/gitmem/*:refs/gitmem/*"], True),
        (["+refs/gitmem/memory:refs/gitmem/memory"], True),
        (["+refs/gitmem/memory:refs/gitmem/remotes/origin/memory"], False),
        (["+refs/gitmem/memory"], False),
        (["+refs/*:refs/*", "^refs/gitmem/memory"], False),
        (["^refs/heads/*", "+refs/*:refs/*"], True),
    ],
)
def test_a_remote_that_writes_to_the_ref_is_found(make_repo: MakeRepo, specs: list[str], writes: bool) -> None:
    repo = make_repo()
    for spec in specs:
        repo.git("config", "--add", "remote.Up.stream.fetch", spec)
    assert find_fetching_remotes(locate(repo.path), "refs/gitmem/memory") == (["Up.stream"] if writes else [])
