"""Location of an index, and the checks before it is read."""

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from gitmem.errors import NoIndex, NotARepository, UnsafeIndex
from gitmem.paths import IndexPaths
from gitmem.workspace import create_index, find_index, open_workspace, remove_index, require_index
from tests.faults.dying_disk import DyingDisk
from tests.gitrepo import Repo
from tests.indexes import brief_hits, index, python_file, search, workspace_of

pytestmark = pytest.mark.usefixtures("fake_model")

FILES = {"src/cookies.py": python_file("sign_cookie")}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit(FILES)
    return repo


def first_path(repo: Repo) -> str:
    return brief_hits(search(repo, "sign_cookie"))[0][0]


def snapshot_of_files(root: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(root)): (stat.S_IMODE(path.lstat().st_mode), b"" if path.is_dir() else path.read_bytes())
        for path in root.rglob("*")
        if not path.is_symlink() and ".git/index" not in str(path)
    }


# -- location


def test_the_index_is_at_the_root_of_the_working_tree(repo: Repo) -> None:
    index(Repo(repo.path / "src"))
    assert workspace_of(Repo(repo.path / "src")).paths.root == repo.path / ".gitmem"
    assert first_path(Repo(repo.path / "src")) == "src/cookies.py"
    assert repo.git("status", "--porcelain") == ""


def test_linked_worktrees_share_the_index_of_the_main_one(repo: Repo, tmp_path: Path) -> None:
    index(repo)
    repo.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    side = Repo(tmp_path / "side")
    assert workspace_of(side).paths.root == repo.path / ".gitmem"
    side.commit({"extra.py": python_file("extra_thing")})
    assert index(side).embedded == 1
    assert brief_hits(search(side, "extra_thing"))[0][0] == "extra.py"
    assert "extra.py" not in [path for path, *_ in brief_hits(search(repo, "extra_thing"))]
    assert side.git("status", "--porcelain") == repo.git("status", "--porcelain") == ""


def test_without_a_main_working_tree_the_index_is_in_the_git_directory(repo: Repo, tmp_path: Path) -> None:
    repo.git("clone", "--quiet", "--bare", str(repo.path), str(tmp_path / "bare.git"))
    bare = Repo(tmp_path / "bare.git")
    index(bare)
    assert workspace_of(bare).paths.root == tmp_path / "bare.git" / "gitmem"
    assert first_path(bare) == "src/cookies.py"
    bare.git("worktree", "add", "--quiet", str(tmp_path / "tree"))
    assert workspace_of(Repo(tmp_path / "tree")).paths.root == tmp_path / "bare.git" / "gitmem"
    assert first_path(Repo(tmp_path / "tree")) == "src/cookies.py"


def test_a_separate_git_directory_holds_the_index(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "work", f"--separate-git-dir={tmp_path / 'elsewhere'}")
    repo.commit(FILES)
    index(repo)
    assert workspace_of(repo).paths.root == tmp_path / "elsewhere" / "gitmem"
    assert first_path(repo) == "src/cookies.py"
    assert repo.git("status", "--porcelain") == ""


def test_a_submodule_has_its_own_index_in_its_git_directory(repo: Repo, tmp_path: Path) -> None:
    outer = Repo.init(tmp_path / "outer")
    outer.git("submodule", "--quiet", "add", str(repo.path), "inner")
    outer.commit({"outer.py": python_file("outer_thing")})
    inner = Repo(outer.path / "inner")
    report = index(outer)
    assert report.skipped["submodule"] == 1
    index(inner)
    assert workspace_of(inner).paths.root == outer.path / ".git" / "modules" / "inner" / "gitmem"
    assert first_path(inner) == "src/cookies.py"
    assert [path for path, *_ in brief_hits(search(outer, "sign_cookie"))] in ([], ["outer.py"])
    assert inner.git("status", "--porcelain") == outer.git("status", "--porcelain") == ""


def test_a_missing_folder_or_index_is_a_clear_error(repo: Repo, tmp_path: Path) -> None:
    with pytest.raises(NotARepository):
        open_workspace(tmp_path / "nowhere", {})
    assert find_index(workspace_of(repo)) is None
    with pytest.raises(NoIndex):
        require_index(workspace_of(repo))


# -- ownership


def test_a_moved_repository_keeps_its_index(repo: Repo, tmp_path: Path, fake_model: object) -> None:
    index(repo)
    repo.path.rename(tmp_path / "moved")
    moved = Repo(tmp_path / "moved")
    assert index(moved).up_to_date
    assert first_path(moved) == "src/cookies.py"


def test_a_clone_has_no_index(repo: Repo, tmp_path: Path) -> None:
    index(repo)
    repo.git("clone", "--quiet", str(repo.path), str(tmp_path / "clone"))
    with pytest.raises(NoIndex):
        search(Repo(tmp_path / "clone"), "sign_cookie")


@pytest.mark.parametrize("tracked", [".gitmem/manifest", ".gitmem", ".gitmem/segments/x"])
def test_an_index_that_git_tracks_is_never_read(repo: Repo, tracked: str) -> None:
    index(repo)
    shutil.copytree(repo.path / ".gitmem", repo.path.parent / "kept")
    if tracked == ".gitmem":
        shutil.rmtree(repo.path / ".gitmem")
    repo.write({tracked: "hostile"})
    repo.git("add", "--force", tracked)
    repo.git("commit", "--quiet", "--no-verify", "-m", "hostile")
    for attempt in (lambda: search(repo, "sign_cookie"), lambda: index(repo), lambda: index(repo, full=True)):
        with pytest.raises(UnsafeIndex) as refusal:
            attempt()
        assert refusal.value.hint


def test_an_index_of_another_repository_is_refused(repo: Repo, tmp_path: Path) -> None:
    other = Repo.init(tmp_path / "other")
    other.commit({"x.py": python_file("hostile")})
    index(other)
    shutil.copytree(other.path / ".gitmem", repo.path / ".gitmem")
    for attempt in (lambda: search(repo, "hostile"), lambda: index(repo)):
        with pytest.raises(UnsafeIndex, match="not made by gitmem in this repository"):
            attempt()
    index(other)
    shutil.rmtree(repo.path / ".gitmem")
    index(repo)
    shutil.rmtree(repo.path / ".gitmem")
    shutil.copytree(other.path / ".gitmem", repo.path / ".gitmem")
    with pytest.raises(UnsafeIndex):
        search(repo, "hostile")


def test_an_index_that_is_a_link_is_refused_and_its_target_untouched(repo: Repo, tmp_path: Path) -> None:
    index(repo)
    (repo.path / ".gitmem").rename(tmp_path / "outside")
    (repo.path / ".gitmem").symlink_to(tmp_path / "outside")
    before = snapshot_of_files(tmp_path / "outside")
    for attempt in (lambda: search(repo, "sign_cookie"), lambda: index(repo), lambda: remove_index(workspace_of(repo))):
        with pytest.raises(UnsafeIndex, match="symbolic link"):
            attempt()
    assert snapshot_of_files(tmp_path / "outside") == before


@pytest.mark.parametrize("part", ["segments", "views", "graph", "state"])
def test_a_part_of_the_index_that_is_a_link_is_refused(repo: Repo, tmp_path: Path, part: str) -> None:
    index(repo)
    (repo.path / ".gitmem" / part).rename(tmp_path / "outside")
    (repo.path / ".gitmem" / part).symlink_to(tmp_path / "outside")
    before = snapshot_of_files(tmp_path / "outside")
    repo.commit({"more.py": python_file("more")})
    for attempt in (lambda: search(repo, "sign_cookie"), lambda: index(repo)):
        with pytest.raises(UnsafeIndex, match="symbolic link"):
            attempt()
    assert snapshot_of_files(tmp_path / "outside") == before


def test_an_index_of_another_user_is_rejected(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    index(repo)
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    with pytest.raises(UnsafeIndex, match="another user"):
        find_index(workspace_of(repo))


def test_a_folder_with_foreign_files_is_refused(repo: Repo) -> None:
    repo.write({".gitmem/thesis.txt": "years of work"})
    with pytest.raises(UnsafeIndex, match=r"thesis\.txt"):
        index(repo)
    assert (repo.path / ".gitmem" / "thesis.txt").read_text() == "years of work"


def test_leftovers_of_an_interrupted_first_run_are_reused(repo: Repo) -> None:
    workspace = workspace_of(repo)
    assert create_index(workspace)
    (workspace.paths.root / "gitmem-made-here").unlink()
    (workspace.paths.root / ".gitignore").unlink()
    (workspace.paths.root / ".manifest.1.tmp").write_bytes(b"half")
    assert find_index(workspace) is None
    index(repo)
    assert first_path(repo) == "src/cookies.py"
    assert not (workspace.paths.root / ".manifest.1.tmp").exists()


def test_files_of_the_index_are_accessible_only_to_their_owner(repo: Repo) -> None:
    before = os.umask(0)
    try:
        index(repo)
    finally:
        os.umask(before)
    for path in [repo.path / ".gitmem", *(repo.path / ".gitmem").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_removing_the_index_leaves_the_repository_unchanged(repo: Repo) -> None:
    before = snapshot_of_files(repo.path)
    index(repo)
    assert remove_index(workspace_of(repo))
    assert snapshot_of_files(repo.path) == before
    assert not remove_index(workspace_of(repo))


def test_a_deleted_index_is_rebuilt(repo: Repo) -> None:
    index(repo)
    shutil.rmtree(repo.path / ".gitmem")
    with pytest.raises(NoIndex):
        search(repo, "sign_cookie")
    index(repo)
    assert first_path(repo) == "src/cookies.py"


def index_content(repo: Repo) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in sorted((repo.path / ".gitmem").rglob("*")) if file.is_file()}


def test_queries_work_with_a_read_only_index(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    index(repo)
    repo.commit({"more.py": python_file("more_thing")})
    before = index_content(repo)
    monkeypatch.setattr("gitmem.fsio.disk", DyingDisk(0, OSError(errno.EROFS, os.strerror(errno.EROFS))))
    answer = search(repo, "sign_cookie")
    assert brief_hits(answer)[0][0] == "src/cookies.py"
    assert answer.view.stale
    assert any("Read-only" in note for note in answer.notes)
    assert index_content(repo) == before


class CompletedMeanwhile(type(Path())):  # type: ignore[misc]  # the flavour of the platform
    """Index folder that another first run completes whenever its names are listed."""

    def iterdir(self) -> Iterator[Path]:
        create_index(open_workspace(self.parent, {}))
        return cast(Iterator[Path], super().iterdir())


def test_a_first_run_that_another_completes_meanwhile_is_not_refused(repo: Repo) -> None:
    workspace = workspace_of(repo)
    workspace.paths.root.mkdir(mode=0o700)
    assert create_index(workspace._replace(paths=IndexPaths(CompletedMeanwhile(workspace.paths.root)))) is False
    index(repo)
    assert first_path(repo) == "src/cookies.py"
