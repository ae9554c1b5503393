"""Tracked paths, and adding and removing a line of `info/exclude`."""

import os
import shutil
from pathlib import Path

import pytest

from gitmem.errors import StorageFailed
from gitmem.git.locate import locate
from gitmem.git.tracking import add_exclude, is_tracked, remove_exclude
from tests.gitrepo import MakeRepo

LINE = "/.gitmem/"


def test_a_path_is_tracked_by_the_index_by_head_or_by_a_file_below(make_repo: MakeRepo, tmp_path: Path) -> None:
    repo = make_repo()
    assert not is_tracked(locate(repo.path), ".gitmem")
    repo.write({".gitmem/manifest": "x"})
    assert not is_tracked(locate(repo.path), ".gitmem")
    repo.git("add", "--force", ".gitmem")
    assert is_tracked(locate(repo.path), ".gitmem")
    repo.commit()
    repo.git("rm", "-r", "--quiet", "--cached", ".gitmem")
    (repo.path / "sub").mkdir()
    assert is_tracked(locate(repo.path / "sub"), ".gitmem")
    repo.git("commit", "--quiet", "-m", "gone")
    assert not is_tracked(locate(repo.path), ".gitmem")
    assert not is_tracked(locate(repo.path), "sub/.gitmem")


def test_a_tracked_name_in_another_case_counts(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({".GitMem/manifest": "x"})
    assert is_tracked(locate(repo.path), ".gitmem")


def test_similar_names_and_patterns_do_not_count(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({".gitmemignore": "x", "a/.gitmem/b": "x", "other": "x"})
    location = locate(repo.path)
    assert not is_tracked(location, ".gitmem")
    assert not is_tracked(location, "oth*")
    assert is_tracked(location, "a/.gitmem")


def test_a_bare_repository_and_a_linked_worktree_use_their_own_head_and_index(
    make_repo: MakeRepo, tmp_path: Path
) -> None:
    repo = make_repo()
    repo.commit({"a": "x"})
    repo.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "linked"))
    repo.commit({".gitmem": "x"})
    repo.git("clone", "--quiet", "--bare", str(repo.path), str(tmp_path / "bare"))
    assert is_tracked(locate(repo.path), ".gitmem")
    assert not is_tracked(locate(tmp_path / "linked"), ".gitmem")
    assert is_tracked(locate(tmp_path / "bare"), ".gitmem")


@pytest.mark.parametrize(
    "before", [b"# created by git\n", b"", b"*.o", b"*.o\n\n\n", b"a\r\nb\r\n", b"\xff\xfe\n", b"\n"]
)
def test_adding_and_removing_a_line_restores_the_file_byte_for_byte(make_repo: MakeRepo, before: bytes) -> None:
    repo = make_repo()
    location = locate(repo.path)
    file = repo.path / ".git" / "info" / "exclude"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(before)
    file.chmod(0o640)
    assert add_exclude(location, LINE)
    assert not add_exclude(location, LINE)
    assert repo.git("check-ignore", ".gitmem/x") == ".gitmem/x"
    assert remove_exclude(location, LINE)
    assert not remove_exclude(location, LINE)
    assert file.read_bytes() == before
    assert file.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("with_folder", [False, True])
def test_a_file_created_for_the_line_is_removed_with_it(make_repo: MakeRepo, with_folder: bool) -> None:
    repo = make_repo()
    info = repo.path / ".git" / "info"
    shutil.rmtree(info, ignore_errors=True)
    if not with_folder:
        info.mkdir()
    location = locate(repo.path)
    assert not remove_exclude(location, LINE)
    assert add_exclude(location, LINE)
    assert repo.git("check-ignore", ".gitmem/x") == ".gitmem/x"
    assert (info / "exclude").stat().st_mode == (repo.path / ".git" / "HEAD").stat().st_mode
    assert remove_exclude(location, LINE)
    assert info.exists() is not with_folder
    assert not (info / "exclude").exists()


@pytest.mark.parametrize("before", [None, b"", b"*.o", b"*.o\n"])
def test_lines_that_others_add_in_the_meantime_remain(make_repo: MakeRepo, before: bytes | None) -> None:
    repo = make_repo()
    location = locate(repo.path)
    file = repo.path / ".git" / "info" / "exclude"
    shutil.rmtree(file.parent, ignore_errors=True)
    if before is not None:
        file.parent.mkdir()
        file.write_bytes(before)
    add_exclude(location, LINE)
    with file.open("ab") as opened:
        opened.write(b"mine\n")
    assert remove_exclude(location, LINE)
    assert file.read_bytes().splitlines() == [*(before or b"").splitlines(), b"mine"]


def test_a_line_of_the_user_is_neither_duplicated_nor_removed(make_repo: MakeRepo) -> None:
    repo = make_repo()
    location = locate(repo.path)
    file = repo.path / ".git" / "info" / "exclude"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"/.gitmem/\r\n")
    assert not add_exclude(location, LINE)
    assert not remove_exclude(location, LINE)
    assert file.read_bytes() == b"/.gitmem/\r\n"


def test_a_symbolic_link_to_the_exclude_file_is_followed(make_repo: MakeRepo, tmp_path: Path) -> None:
    repo = make_repo()
    file = repo.path / ".git" / "info" / "exclude"
    file.parent.mkdir(exist_ok=True)
    file.unlink(missing_ok=True)
    (tmp_path / "shared-exclude").write_bytes(b"*.o\n")
    file.symlink_to(os.path.relpath(tmp_path / "shared-exclude", file.parent))
    location = locate(repo.path)
    assert add_exclude(location, LINE)
    assert file.is_symlink()
    assert remove_exclude(location, LINE)
    assert (tmp_path / "shared-exclude").read_bytes() == b"*.o\n"


def test_an_unusable_exclude_file_is_named_in_the_error(make_repo: MakeRepo) -> None:
    repo = make_repo()
    shutil.rmtree(repo.path / ".git" / "info", ignore_errors=True)
    (repo.path / ".git" / "info").write_text("in the way")
    with pytest.raises(StorageFailed, match="exclude"):
        add_exclude(locate(repo.path), LINE)


def test_linked_worktrees_share_the_exclude_file(make_repo: MakeRepo, tmp_path: Path) -> None:
    repo = make_repo()
    repo.commit({"a": "x"})
    repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    assert add_exclude(locate(tmp_path / "linked"), LINE)
    assert repo.git("check-ignore", ".gitmem/x") == ".gitmem/x"
