"""The versions of files in a history."""

from itertools import pairwise

import pytest

from gitmem.errors import GitFailed
from gitmem.git.locate import locate
from gitmem.git.version_log import read_versions
from tests.gitrepo import MakeRepo


def test_versions_follow_each_other_and_share_their_ids(make_repo: MakeRepo) -> None:
    repo = make_repo()
    for number in range(3):
        repo.commit({"src/app.py": f"number = {number}\n"}, f"commit {number}")
    versions = read_versions(locate(repo.path), repo.oid("HEAD"), 10)
    files = [commit.files[0] for commit in versions]
    assert [commit.commit.commit for commit in versions] == repo.git("rev-list", "--reverse", "HEAD").split()
    assert [file.before for file in files[1:]] == [(file.after,) for file in files[:-1]]
    # One copy of each text: a list of a million versions is the largest thing in memory.
    assert all(old.after is new.before[0] and old.path is new.path for old, new in pairwise(files))


def test_a_commit_that_git_lacks_is_an_error(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"a.py": "a = 1\n"}, "first")
    with pytest.raises(GitFailed, match="git cannot read the history: bad object"):
        read_versions(locate(repo.path), "1" * 40, 10)
