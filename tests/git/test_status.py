"""Uncommitted changes: every state of a path, and nested repositories and working trees."""

import os
from pathlib import Path

import pytest

from gitmem.errors import GitFailed
from gitmem.git.locate import locate
from gitmem.git.status import (
    MODIFIED,
    STAGED,
    UNTRACKED,
    StatusEntry,
    StatusProcess,
    parse_status,
    read_staged,
    read_status,
)
from gitmem.git.trees import FILE, GITLINK, SYMLINK
from tests.gitrepo import Repo

FILES = {"a.py": "one\n", "b.py": "two\n", "lib/c.py": "three\n"}
ODD = b'li\nne "q" \\\xff.py'


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit(FILES)
    return repo


def entries(repo: Repo) -> dict[bytes, StatusEntry]:
    return {entry.path: entry for entry in read_status(locate(repo.path)).entries}


def staged(repo: Repo) -> dict[bytes, StatusEntry]:
    return {entry.path: entry for entry in read_staged(locate(repo.path))}


def test_a_clean_tree_has_no_changes_and_its_commit(repo: Repo) -> None:
    status = read_status(locate(repo.path))
    assert (status.commit, status.entries) == (repo.oid("HEAD"), [])
    assert read_staged(locate(repo.path)) == []


def test_a_modified_file_must_be_hashed(repo: Repo) -> None:
    repo.write({"a.py": "changed\n"})
    assert entries(repo) == {b"a.py": StatusEntry(b"a.py", MODIFIED, FILE, None)}
    assert staged(repo) == {}


def test_a_staged_file_has_its_id(repo: Repo) -> None:
    repo.write({"a.py": "changed\n", "new.py": "new\n"})
    repo.git("add", "a.py", "new.py")
    expected = {name: StatusEntry(name, STAGED, FILE, repo.oid(f":{name.decode()}")) for name in (b"a.py", b"new.py")}
    assert entries(repo) == expected
    assert staged(repo) == expected


def test_a_staged_file_that_is_modified_again_must_be_hashed(repo: Repo) -> None:
    repo.write({"a.py": "changed\n"})
    repo.git("add", "a.py")
    repo.write({"a.py": "changed again\n"})
    assert entries(repo)[b"a.py"] == StatusEntry(b"a.py", MODIFIED, FILE, None)
    assert staged(repo)[b"a.py"].oid == repo.oid(":a.py")


def test_a_deleted_file_has_no_mode(repo: Repo) -> None:
    (repo.path / "a.py").unlink()
    repo.git("rm", "--quiet", "b.py")
    assert entries(repo) == {b"a.py": StatusEntry(b"a.py", MODIFIED, None, None),
                             b"b.py": StatusEntry(b"b.py", STAGED, None, None)}  # fmt: skip
    assert staged(repo) == {b"b.py": StatusEntry(b"b.py", STAGED, None, None)}


def test_a_file_removed_from_the_index_is_untracked(repo: Repo) -> None:
    repo.git("rm", "--quiet", "--cached", "a.py")
    assert entries(repo) == {b"a.py": StatusEntry(b"a.py", UNTRACKED, FILE, None)}


def test_a_file_that_is_staged_and_deleted_has_no_mode(repo: Repo) -> None:
    repo.write({"new.py": "new\n"})
    repo.git("add", "new.py")
    (repo.path / "new.py").unlink()
    assert entries(repo)[b"new.py"].mode is None
    assert staged(repo)[b"new.py"].oid is not None


def test_untracked_files_are_listed_except_ignored_ones(repo: Repo) -> None:
    repo.write({"new/deep/x.py": "x\n", "new/y.py": "y\n", "skip.log": "z\n", ".gitignore": "*.log\n"})
    assert set(entries(repo)) == {b"new/deep/x.py", b"new/y.py", b".gitignore"}


def test_an_intention_to_add_is_untracked_and_not_staged(repo: Repo) -> None:
    repo.write({"new.py": "new\n"})
    repo.git("add", "--intent-to-add", "new.py")
    assert entries(repo) == {b"new.py": StatusEntry(b"new.py", UNTRACKED, FILE, None)}
    assert staged(repo) == {}


def test_names_with_line_feeds_and_quotes_are_intact(repo: Repo) -> None:
    (repo.path / os.fsdecode(ODD)).write_text("x\n")
    assert set(entries(repo)) == {ODD}
    repo.git("add", "--all")
    assert set(staged(repo)) == {ODD}


def test_a_rename_is_a_deletion_and_an_addition(repo: Repo) -> None:
    repo.git("config", "status.renames", "copies")
    repo.git("mv", "a.py", "z.py")
    changes = entries(repo)
    assert changes[b"a.py"].mode is None
    assert changes[b"z.py"].oid == repo.oid("HEAD:a.py")


def test_a_conflict_has_the_content_of_the_file_and_is_not_staged(repo: Repo) -> None:
    repo.git("switch", "--quiet", "--create", "side")
    repo.commit({"a.py": "theirs\n", "b.py": "theirs\n"})
    repo.git("switch", "--quiet", "main")
    repo.commit({"a.py": "ours\n"})
    repo.git("rm", "--quiet", "b.py")
    repo.commit()
    with pytest.raises(AssertionError):
        repo.git("merge", "side")
    changes = entries(repo)
    assert changes[b"a.py"] == StatusEntry(b"a.py", MODIFIED, FILE, None)
    assert changes[b"b.py"].mode == FILE
    assert staged(repo) == {}


def test_symbolic_links_and_modes_are_reported(repo: Repo) -> None:
    (repo.path / "a.py").unlink()
    (repo.path / "a.py").symlink_to("b.py")
    (repo.path / "b.py").chmod(0o755)
    changes = entries(repo)
    assert changes[b"a.py"].mode == SYMLINK
    assert changes[b"b.py"] == StatusEntry(b"b.py", MODIFIED, 0o100755, None)


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_files_that_git_assumes_unchanged_are_unchanged(repo: Repo, flag: str) -> None:
    repo.git("update-index", flag, "a.py")
    repo.write({"a.py": "changed\n"})
    assert entries(repo) == {}


def test_a_sparse_checkout_has_no_deleted_files(repo: Repo) -> None:
    repo.git("sparse-checkout", "set", "--no-cone", "/a.py")
    assert not (repo.path / "lib/c.py").exists()
    assert entries(repo) == {}


def test_nested_repositories_and_working_trees_are_ignored(repo: Repo) -> None:
    Repo.init(repo.path / "nested").write({"x.py": "x\n"})
    repo.git("worktree", "add", "--quiet", "-b", "one", str(repo.path / "linked"))
    repo.git("worktree", "add", "--quiet", "-b", "two", str(repo.path / ".claude/worktrees/two"))
    repo.write({".claude/worktrees/left-behind/y.py": "y\n", ".claude/settings.json": "{}\n"})
    assert set(entries(repo)) == {b".claude/settings.json"}
    assert entries(Repo(repo.path / "linked")) == {}


def test_a_submodule_is_not_entered(repo: Repo, tmp_path: Path) -> None:
    Repo.init(tmp_path / "other").commit({"x.py": "x\n"})
    repo.git("submodule", "--quiet", "add", str(tmp_path / "other"), "sub")
    assert entries(repo)[b"sub"].mode == GITLINK
    repo.commit()
    Repo(repo.path / "sub").write({"x.py": "changed\n", "new.py": "new\n"})
    assert entries(repo) == {}
    repo.write({"a.py": "changed\n"})
    Repo(repo.path / "sub").commit()
    assert entries(repo)[b"sub"] == StatusEntry(b"sub", MODIFIED, GITLINK, repo.oid("HEAD:sub"))


def test_before_the_first_commit_every_file_is_added(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "unborn")
    repo.write({"a.py": "a\n", "b.py": "b\n"})
    repo.git("add", "a.py")
    status = read_status(locate(repo.path))
    assert status.commit is None
    assert {entry.path: entry.change for entry in status.entries} == {b"a.py": STAGED, b"b.py": UNTRACKED}
    assert set(staged(repo)) == {b"a.py"}


def test_ids_may_be_sha256(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "sha256", "--object-format=sha256")
    repo.write({"a.py": "a\n"})
    repo.git("add", "a.py")
    assert entries(repo)[b"a.py"].oid == staged(repo)[b"a.py"].oid == repo.oid(":a.py")


def test_a_working_tree_of_a_bare_repository_is_supported(repo: Repo, tmp_path: Path) -> None:
    repo.git("clone", "--quiet", "--bare", str(repo.path), str(tmp_path / "bare"))
    Repo(tmp_path / "bare").git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    linked = Repo(tmp_path / "linked")
    linked.write({"a.py": "changed\n"})
    assert set(entries(linked)) == {b"a.py"}


def test_the_index_is_neither_written_nor_locked(repo: Repo) -> None:
    index = repo.path / ".git" / "index"
    (repo.path / "a.py").touch()  # git would refresh its stat data in the index
    before = (index.read_bytes(), index.stat().st_mtime_ns)
    (repo.path / ".git" / "index.lock").touch()
    assert entries(repo) == {}
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before


def test_a_damaged_index_is_an_error(repo: Repo) -> None:
    (repo.path / ".git" / "index").write_bytes(b"DIRC" + bytes(40))
    with pytest.raises(GitFailed, match="git status failed"):
        read_status(locate(repo.path))


def test_an_unused_process_is_killed(repo: Repo) -> None:
    with StatusProcess(locate(repo.path)) as process:
        assert process._process.returncode is None
    assert process._process.returncode is not None


def test_output_without_changes_is_parsed() -> None:
    assert parse_status(b"# branch.oid (initial)\0# branch.head main\0") == (None, [])
