"""The working tree and the git directory are found as git finds them, or not at all."""

import os
import sys
from pathlib import Path

import pytest

from gitmem.errors import NotARepository
from gitmem.git.locate import locate
from gitmem.resident.socket_path import MAX_PATH_BYTES, find_repository, socket_folders, socket_name, socket_paths
from tests.gitrepo import MakeRepo, Repo


def agrees_with_git(folder: Path) -> bool:
    """Return whether the place was found, after comparing it with git's; else git alone knows it."""
    found = find_repository(os.path.realpath(folder))
    if found is None:
        return False
    root, common_dir = map(Path, found)
    location = locate(folder)
    assert location.worktree is not None
    assert root.samefile(location.worktree)
    assert common_dir.samefile(location.common_dir)
    return True


def test_ordinary_places_are_found(repo: Repo, tmp_path: Path) -> None:
    (repo.path / "a/b").mkdir(parents=True)
    linked, separate = tmp_path / "linked", tmp_path / "separate"
    repo.git("worktree", "add", "-q", "--detach", os.fspath(linked))
    repo.git("worktree", "add", "-q", "--detach", os.fspath(repo.path / "a/inside"))
    repo.git("clone", "-q", f"--separate-git-dir={tmp_path / 'git-dir'}", ".", os.fspath(separate))
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", os.fspath(separate), "sub")
    (repo.path / "a/empty/.git").parent.mkdir()
    for folder in (".", "a", "a/b", "a/inside", "a/empty", "sub", "../linked", "../separate"):
        assert agrees_with_git(repo.path / folder), folder
    link = tmp_path / "link"
    link.symlink_to(repo.path / "a/b")
    assert agrees_with_git(link)


def test_unusual_places_are_left_to_git(repo: Repo, make_repo: MakeRepo, tmp_path: Path) -> None:
    bare = make_repo("bare", "--bare").path
    (repo.path / "damaged/.git").mkdir(parents=True)
    (repo.path / "linked").mkdir()
    (repo.path / "linked/.git").symlink_to(repo.path / ".git")
    for folder in (bare, bare / "objects", repo.path / ".git", repo.path / ".git/refs", repo.path / "damaged",
                   repo.path / "linked"):  # fmt: skip
        assert not agrees_with_git(folder), folder
    assert not agrees_with_git(tmp_path)
    with pytest.raises(NotARepository):
        locate(tmp_path)


def test_a_moved_working_tree_whose_pointer_is_broken_has_no_socket(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/.git").write_text("gitdir: /nowhere/at/all\n")
    found = find_repository(os.fspath(tmp_path / "broken"))
    assert found is not None
    with pytest.raises(FileNotFoundError):
        socket_name(found[1])


def test_a_named_pipe_does_not_block(tmp_path: Path) -> None:
    (tmp_path / "evil").mkdir()
    (tmp_path / ".git").write_text("gitdir: evil\n")
    os.mkfifo(tmp_path / "evil/commondir")
    found = find_repository(os.fspath(tmp_path))
    assert found is not None
    assert Path(found[1]).samefile(tmp_path / "evil")


def test_every_path_to_a_repository_leads_to_one_socket(repo: Repo, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(repo.path)
    assert socket_name(os.fspath(link / ".git")) == socket_name(os.fspath(repo.path / ".git"))
    other = Repo.init(tmp_path / "other")
    assert socket_name(os.fspath(other.path / ".git")) != socket_name(os.fspath(repo.path / ".git"))


def test_a_path_that_is_too_long_for_a_socket_is_passed_over() -> None:
    long, short = "/" + "x" * MAX_PATH_BYTES, "/run/mine"
    assert not [path for path in socket_paths({"XDG_RUNTIME_DIR": long, "TMPDIR": long}, "1-2") if long in path]
    assert socket_paths({"XDG_RUNTIME_DIR": short, "TMPDIR": long}, "1-2")[0] == "/run/mine/gitmem/1-2"
    assert max(map(len, socket_paths({"TMPDIR": "/t"}, "f" * 33))) <= MAX_PATH_BYTES


def test_a_relative_folder_is_never_used() -> None:
    folders = socket_folders({"XDG_RUNTIME_DIR": "here", "TMPDIR": "there"})
    assert folders == socket_folders({})
    assert all(folder.startswith("/") for folder in folders)
    assert f"/tmp/gitmem-{os.geteuid()}" in folders
    assert ("/run/user" in folders[0]) == (sys.platform == "linux")


def test_a_chosen_folder_replaces_the_others() -> None:
    chosen = {"GITMEM_RUNTIME_DIR": "/run/chosen", "XDG_RUNTIME_DIR": "/run/mine", "TMPDIR": "/run/temporary"}
    assert socket_paths(chosen, "1-2") == ["/run/chosen/1-2"]
    assert len(socket_folders({**chosen, "GITMEM_RUNTIME_DIR": "relative"})) > 1
