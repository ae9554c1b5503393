"""Discovery of the repository of a path, for every kind of repository."""

import os
import shutil
from pathlib import Path

import pytest

from gitmem.errors import GitmemError, NotARepository
from gitmem.git.locate import describe_head, locate, main_worktree
from tests.gitrepo import MakeRepo, Repo


def test_a_repository_is_found_from_its_root_a_folder_and_a_file(make_repo: MakeRepo) -> None:
    repo = make_repo()
    commit = repo.commit({"a/b/c.txt": "x\n"})
    for start in (repo.path, repo.path / "a" / "b", repo.path / "a" / "b" / "c.txt"):
        location = locate(start)
        assert location.worktree == repo.path
        assert location.git_dir == location.common_dir == repo.path / ".git"
        assert (location.head_commit, location.head_tree) == (commit, repo.oid("HEAD^{tree}"))
        assert (location.branch, location.object_format) == ("main", "sha1")
        assert (location.bare, location.shallow, location.linked) == (False, False, False)
        assert main_worktree(location) == repo.path


def test_a_folder_with_a_line_feed_and_odd_bytes_in_its_name_is_found(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / os.fsdecode(b"new\nline \xff"))
    repo.commit({"a": "x"})
    (repo.path / "sub").mkdir()
    location = locate(repo.path / "sub")
    assert location.worktree == repo.path
    assert location.git_dir == repo.path / ".git"


def test_a_symbolic_link_is_resolved(make_repo: MakeRepo, tmp_path: Path) -> None:
    repo = make_repo()
    repo.commit({"sub/a": "x"})
    (tmp_path / "link").symlink_to(repo.path / "sub")
    assert locate(tmp_path / "link").worktree == repo.path


def test_a_path_inside_a_git_directory_means_its_working_tree(make_repo: MakeRepo, tmp_path: Path) -> None:
    repo = make_repo()
    repo.commit({"a": "x"})
    repo.git("worktree", "add", "--quiet", str(tmp_path / "other"))
    assert locate(repo.path / ".git" / "refs").worktree == repo.path
    assert locate(repo.path / ".git" / "worktrees" / "other").worktree == tmp_path / "other"


def test_an_unborn_branch_has_a_name_but_no_commit(make_repo: MakeRepo) -> None:
    location = locate(make_repo().path)
    assert (location.head_commit, location.head_tree, location.branch) == (None, None, "main")
    assert describe_head(location) == "main (no commit yet)"


def test_an_orphan_branch_counts_as_unborn(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"a": "x"})
    repo.git("checkout", "--quiet", "--orphan", "fresh/start")
    location = locate(repo.path)
    assert (location.head_commit, location.branch) == (None, "fresh/start")


def test_a_detached_head_has_a_commit_but_no_branch(make_repo: MakeRepo) -> None:
    repo = make_repo()
    commit = repo.commit({"a": "x"})
    assert describe_head(locate(repo.path)) == f"main {commit[:7]}"
    repo.git("checkout", "--quiet", "--detach")
    location = locate(repo.path)
    assert (location.head_commit, location.branch) == (commit, None)
    assert describe_head(location) == f"detached {commit[:7]}"


@pytest.mark.parametrize("name", ["bare.git", ".git", "plain"])
def test_a_bare_repository_has_no_working_tree(make_repo: MakeRepo, name: str) -> None:
    bare = make_repo(f"place/{name}", "--bare")
    for start in (bare.path, bare.path / "refs"):
        location = locate(start)
        assert location.bare
        assert location.worktree is None
        assert location.common_dir == bare.path
        assert main_worktree(location) is None


def test_linked_worktrees_share_the_common_directory_and_the_main_worktree(make_repo: MakeRepo, tmp_path: Path) -> None:
    repo = make_repo()
    repo.commit({"a": "x"})
    repo.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "linked"))
    location = locate(tmp_path / "linked")
    assert location.linked
    assert location.worktree == tmp_path / "linked"
    assert location.git_dir == repo.path / ".git" / "worktrees" / "linked"
    assert location.common_dir == repo.path / ".git"
    assert location.branch == "side"
    assert main_worktree(location) == repo.path


@pytest.mark.parametrize("name", ["store.git", "project/.git"])
def test_a_worktree_of_a_bare_repository_has_no_main_worktree(make_repo: MakeRepo, tmp_path: Path, name: str) -> None:
    source = make_repo()
    source.commit({"a": "x"})
    source.git("clone", "--quiet", "--bare", str(source.path), str(tmp_path / name))
    Repo(tmp_path / name).git("worktree", "add", "--quiet", str(tmp_path / "linked"), "main")
    location = locate(tmp_path / "linked")
    assert location.worktree == tmp_path / "linked"
    assert not location.bare
    assert main_worktree(location) is None


def test_worktree_configuration_does_not_hide_the_main_worktree(make_repo: MakeRepo, tmp_path: Path) -> None:
    repo = make_repo()
    repo.commit({"a": "x"})
    repo.git("config", "extensions.worktreeConfig", "true")
    repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    repo.git("config", "--worktree", "core.sparseCheckout", "false")
    assert main_worktree(locate(tmp_path / "linked")) == repo.path


def test_with_a_separate_git_directory_there_is_no_main_worktree(make_repo: MakeRepo, tmp_path: Path) -> None:
    repo = make_repo("repo", f"--separate-git-dir={tmp_path / 'elsewhere'}")
    repo.commit({"a": "x"})
    location = locate(repo.path)
    assert location.worktree == repo.path
    assert location.common_dir == tmp_path / "elsewhere"
    assert main_worktree(location) is None


def test_a_submodule_is_a_separate_repository(make_repo: MakeRepo) -> None:
    inner, outer = make_repo("inner"), make_repo("outer")
    inner.commit({"a": "x"})
    outer.git("submodule", "--quiet", "add", str(inner.path), "lib")
    location = locate(outer.path / "lib")
    assert location.worktree == outer.path / "lib"
    assert location.common_dir == outer.path / ".git" / "modules" / "lib"
    assert main_worktree(location) is None
    assert locate(location.git_dir).common_dir == location.common_dir


def test_a_removed_main_worktree_is_not_returned(make_repo: MakeRepo, tmp_path: Path) -> None:
    repo = make_repo()
    repo.commit({"a": "x"})
    repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    moved = tmp_path / "elsewhere"
    shutil.move(repo.path / ".git", moved)
    (tmp_path / "linked" / ".git").write_text(f"gitdir: {moved / 'worktrees' / 'linked'}\n")
    assert main_worktree(locate(tmp_path / "linked")) is None


def test_a_shallow_clone_is_recognised(make_repo: MakeRepo, tmp_path: Path) -> None:
    source = make_repo()
    source.commit({"a": "1"})
    source.commit({"a": "2"})
    source.git("clone", "--quiet", "--depth=1", source.path.as_uri(), str(tmp_path / "shallow"))
    assert locate(tmp_path / "shallow").shallow


def test_a_sha256_repository_has_its_object_format(make_repo: MakeRepo) -> None:
    repo = make_repo("repo", "--object-format=sha256")
    commit = repo.commit({"a": "x"})
    location = locate(repo.path)
    assert location.object_format == "sha256"
    assert location.head_commit == commit
    assert len(commit) == 64


def test_a_path_outside_a_repository_is_an_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(NotARepository, match="is not inside a git repository") as caught:
        locate(tmp_path / "plain")
    assert "git init" in caught.value.hint


def test_a_path_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotARepository, match="does not exist"):
        locate(tmp_path / "nothing")


def test_an_abandoned_worktree_is_refused(make_repo: MakeRepo, tmp_path: Path) -> None:
    (tmp_path / "abandoned").mkdir()
    (tmp_path / "abandoned" / ".git").write_text(f"gitdir: {tmp_path / 'gone'}\n")
    with pytest.raises(NotARepository):
        locate(tmp_path / "abandoned")


def test_an_unreadable_head_is_an_error_and_not_an_empty_repository(make_repo: MakeRepo) -> None:
    repo = make_repo()
    commit = repo.commit({"a": "x"})
    repo.loose_object(commit).unlink()
    with pytest.raises(GitmemError):
        locate(repo.path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
def test_dubious_ownership_gives_the_remedy_as_a_hint(make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = make_repo()
    repo.commit({"a": "x"})
    for path in (repo.path, repo.path / ".git"):
        os.chown(path, 12345, 12345)
    monkeypatch.delenv("SUDO_UID", raising=False)
    with pytest.raises(NotARepository, match="another user") as caught:
        locate(repo.path)
    assert caught.value.hint == f"git config --global --add safe.directory {repo.path}"
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "safe.directory")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(repo.path))
    assert locate(repo.path).worktree == repo.path


def test_a_refused_bare_repository_gives_the_remedy_as_a_hint(
    make_repo: MakeRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = make_repo("bare", "--bare")
    (tmp_path / "config").write_text("[safe]\n\tbareRepository = explicit\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    with pytest.raises(NotARepository) as caught:
        locate(bare.path)
    assert caught.value.hint == "git config --global safe.bareRepository all"


def test_each_working_tree_has_an_id_of_its_own(make_repo: MakeRepo, tmp_path: Path) -> None:
    repo = make_repo()
    repo.commit({"a": "x"})
    for name in ("one", "two"):
        repo.git("worktree", "add", "-q", "--detach", str(tmp_path / name))
    folders = (repo.path, tmp_path / "one", tmp_path / "two")
    assert [locate(folder).worktree_id for folder in folders] == ["main", "linked-one", "linked-two"]
