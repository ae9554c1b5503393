"""What is being worked on: uncommitted files, and the commits since the branch left the default one."""

from gitmem.git.branch_work import BranchCommit, BranchWork, read_branch_work
from gitmem.git.locate import locate
from tests.gitrepo import MakeRepo, Repo

AUTHOR = "A Person <person@example.invalid>"


def work(repo: Repo) -> BranchWork:
    return read_branch_work(locate(repo.path))


def test_a_clean_default_branch_has_no_work(repo: Repo) -> None:
    assert work(repo) == BranchWork("", (), ())


def test_work_is_uncommitted_files_then_those_of_the_branch(repo: Repo) -> None:
    repo.git("switch", "--quiet", "--create", "fix/close")
    repo.commit({"b é.py": "1"}, "Close twice")
    repo.git("switch", "--quiet", "main")
    repo.commit({"main.py": "2"}, "Change main")
    repo.git("switch", "--quiet", "fix/close")
    repo.git("merge", "--quiet", "--no-edit", "main")
    repo.write({"new.py": "3"})
    # A merge brings in the files of the default branch, which are not the work of this one.
    assert work(repo) == BranchWork("fix/close", ("new.py", "b é.py"), (BranchCommit("Close twice", AUTHOR),))


def test_unpushed_commits_of_the_default_branch_are_work(repo: Repo, make_repo: MakeRepo) -> None:
    repo.git("branch", "--quiet", "--move", "trunk")
    clone = make_repo("clone")
    clone.git("remote", "add", "origin", str(repo.path))
    clone.git("fetch", "--quiet", "origin")
    clone.git("remote", "set-head", "origin", "--auto")
    clone.git("switch", "--quiet", "--create", "trunk", "origin/trunk")
    assert work(clone) == BranchWork("", (), ())
    clone.commit({"c.py": "4"}, "Add c")
    assert work(clone) == BranchWork("", ("c.py",), (BranchCommit("Add c", AUTHOR),))


def test_a_repository_without_commits_or_default_branch_has_uncommitted_files_only(make_repo: MakeRepo) -> None:
    repo = make_repo("empty")
    repo.git("symbolic-ref", "HEAD", "refs/heads/other")
    repo.write({"a.py": "1"})
    assert work(repo) == BranchWork("other", ("a.py",), ())
    repo.commit()
    assert work(repo) == BranchWork("other", (), ())
