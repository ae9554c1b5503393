"""Whether a path is tracked, and the line in `info/exclude` that comes and goes."""

import os
import shutil
from pathlib import Path

import pytest

from gitmem.errors import StorageFailed
from gitmem.git.locate import locate
from gitmem.git.tracking import add_exclude, is_tracked, remove_exclude
from tests.gitrepo import MakeRepo

LINE = "/.gitmem/"


def test_a_path_is_tracked_through_the_index_through_head_or_below_it(make_repo: MakeRepo, tmp_path: Path) -> None:
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


def test_a_tracked_name_that_differs_in_case_counts(make_repo: MakeRepo) -> None:
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


def test_a_bare_repository_and_a_linked_worktree_look_at_their_own(make_repo: MakeRepo, tmp_path: Path) -> None:
    repo = make_repo()
    repo.commit({"a": "x"})
    repo.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "linked"))
    repo.commit({".gitmem": "x"})
    repo.git("clone", "--quiet", "--bare", str(repo.path), str(tmp_path / "bare"))
    assert is_tracked(locate(repo.path), ".gitmem")
    assert not is_tracked(locate(tmp_path / "linked"), ".gitmem")
    assert is_tracked(locate(tmp_path / "bare"), ".gitmem")


@pytest.mark.parametrize(
    "before", [b"# as made by git\n", b"", b"*.o", b"*.o\n\n\n", b"a\r\nb\r\n", b"\xff\xfe\n", b"\n"]
)
def test_a_line_added_and_removed_leaves_the_file_byte_for_byte(make_repo: MakeRepo, before: bytes) -> None:
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


@pytest.mark.parametrize("folder_too", [False, True])
def test_a_file_that_was_not_there_is_gone_again(make_repo: MakeRepo, folder_too: bool) -> None:
    repo = make_repo()
    info = repo.path / ".git" / "info"
    shutil.rmtree(info, ignore_errors=True)
    if not folder_too:
        info.mkdir()
    location = locate(repo.path)
    assert not remove_exclude(location, LINE)
    assert add_exclude(location, LINE)
    assert repo.git("check-ignore", ".gitmem/x") == ".gitmem/x"
    assert (info / "exclude").stat().st_mode == (repo.path / ".git" / "HEAD").stat().st_mode
    assert remove_exclude(location, LINE)
    assert info.exists() is not folder_too
    assert not (info / "exclude").exists()


@pytest.mark.parametrize("before", [None, b"", b"*.o", b"*.o\n"])
def test_what_others_wrote_in_the_meantime_stays(make_repo: MakeRepo, before: bytes | None) -> None:
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


def test_a_line_the_person_wrote_is_neither_doubled_nor_removed(make_repo: MakeRepo) -> None:
    repo = make_repo()
    location = locate(repo.path)
    file = repo.path / ".git" / "info" / "exclude"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"/.gitmem/\r\n")
    assert not add_exclude(location, LINE)
    assert not remove_exclude(location, LINE)
    assert file.read_bytes() == b"/.gitmem/\r\n"


def test_a_linked_exclude_file_is_written_through(make_repo: MakeRepo, tmp_path: Path) -> None:
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


def test_an_exclude_file_that_cannot_be_read_is_named(make_repo: MakeRepo) -> None:
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
