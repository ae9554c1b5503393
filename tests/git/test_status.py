"""What is uncommitted, as git tells it: every state a path can be in, and what belongs to somebody else."""

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
    made = Repo.init(tmp_path / "repo")
    made.commit(FILES)
    return made


def entries(repo: Repo) -> dict[bytes, StatusEntry]:
    return {entry.path: entry for entry in read_status(locate(repo.path)).entries}


def staged(repo: Repo) -> dict[bytes, StatusEntry]:
    return {entry.path: entry for entry in read_staged(locate(repo.path))}


def test_a_clean_tree_has_nothing_uncommitted_and_names_its_commit(repo: Repo) -> None:
    found = read_status(locate(repo.path))
    assert (found.commit, found.entries) == (repo.oid("HEAD"), [])
    assert read_staged(locate(repo.path)) == []


def test_a_modified_file_must_be_hashed(repo: Repo) -> None:
    repo.write({"a.py": "changed\n"})
    assert entries(repo) == {b"a.py": StatusEntry(b"a.py", MODIFIED, FILE, None)}
    assert staged(repo) == {}


def test_a_staged_file_has_its_id(repo: Repo) -> None:
    repo.write({"a.py": "changed\n", "new.py": "new\n"})
    repo.git("add", "a.py", "new.py")
    wanted = {name: StatusEntry(name, STAGED, FILE, repo.oid(f":{name.decode()}")) for name in (b"a.py", b"new.py")}
    assert entries(repo) == wanted
    assert staged(repo) == wanted


def test_a_staged_file_that_was_changed_again_must_be_hashed(repo: Repo) -> None:
    repo.write({"a.py": "changed\n"})
    repo.git("add", "a.py")
    repo.write({"a.py": "changed again\n"})
    assert entries(repo)[b"a.py"] == StatusEntry(b"a.py", MODIFIED, FILE, None)
    assert staged(repo)[b"a.py"].oid == repo.oid(":a.py")


def test_deleted_files_are_gone(repo: Repo) -> None:
    (repo.path / "a.py").unlink()
    repo.git("rm", "--quiet", "b.py")
    assert entries(repo) == {b"a.py": StatusEntry(b"a.py", MODIFIED, None, None),
                             b"b.py": StatusEntry(b"b.py", STAGED, None, None)}  # fmt: skip
    assert staged(repo) == {b"b.py": StatusEntry(b"b.py", STAGED, None, None)}


def test_a_file_that_git_was_told_to_forget_is_untracked(repo: Repo) -> None:
    repo.git("rm", "--quiet", "--cached", "a.py")
    assert entries(repo) == {b"a.py": StatusEntry(b"a.py", UNTRACKED, FILE, None)}


def test_a_file_that_is_staged_and_deleted_is_gone(repo: Repo) -> None:
    repo.write({"new.py": "new\n"})
    repo.git("add", "new.py")
    (repo.path / "new.py").unlink()
    assert entries(repo)[b"new.py"].mode is None
    assert staged(repo)[b"new.py"].oid is not None


def test_every_untracked_file_is_listed_but_ignored_ones(repo: Repo) -> None:
    repo.write({"new/deep/x.py": "x\n", "new/y.py": "y\n", "skip.log": "z\n", ".gitignore": "*.log\n"})
    assert set(entries(repo)) == {b"new/deep/x.py", b"new/y.py", b".gitignore"}


def test_an_intention_to_add_is_untracked_and_not_staged(repo: Repo) -> None:
    repo.write({"new.py": "new\n"})
    repo.git("add", "--intent-to-add", "new.py")
    assert entries(repo) == {b"new.py": StatusEntry(b"new.py", UNTRACKED, FILE, None)}
    assert staged(repo) == {}


def test_names_that_would_break_a_line_are_whole(repo: Repo) -> None:
    (repo.path / os.fsdecode(ODD)).write_text("x\n")
    assert set(entries(repo)) == {ODD}
    repo.git("add", "--all")
    assert set(staged(repo)) == {ODD}


def test_a_rename_is_a_deletion_and_an_addition(repo: Repo) -> None:
    repo.git("config", "status.renames", "copies")
    repo.git("mv", "a.py", "z.py")
    found = entries(repo)
    assert found[b"a.py"].mode is None
    assert found[b"z.py"].oid == repo.oid("HEAD:a.py")


def test_a_conflict_is_what_the_file_holds_and_not_staged(repo: Repo) -> None:
    repo.git("switch", "--quiet", "--create", "side")
    repo.commit({"a.py": "theirs\n", "b.py": "theirs\n"})
    repo.git("switch", "--quiet", "main")
    repo.commit({"a.py": "ours\n"})
    repo.git("rm", "--quiet", "b.py")
    repo.commit()
    with pytest.raises(AssertionError):
        repo.git("merge", "side")
    found = entries(repo)
    assert found[b"a.py"] == StatusEntry(b"a.py", MODIFIED, FILE, None)
    assert found[b"b.py"].mode == FILE
    assert staged(repo) == {}


def test_links_and_modes_are_told(repo: Repo) -> None:
    (repo.path / "a.py").unlink()
    (repo.path / "a.py").symlink_to("b.py")
    (repo.path / "b.py").chmod(0o755)
    found = entries(repo)
    assert found[b"a.py"].mode == SYMLINK
    assert found[b"b.py"] == StatusEntry(b"b.py", MODIFIED, 0o100755, None)


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_what_git_was_told_not_to_look_at_is_as_the_index_has_it(repo: Repo, flag: str) -> None:
    repo.git("update-index", flag, "a.py")
    repo.write({"a.py": "changed\n"})
    assert entries(repo) == {}


def test_a_sparse_checkout_misses_nothing(repo: Repo) -> None:
    repo.git("sparse-checkout", "set", "--no-cone", "/a.py")
    assert not (repo.path / "lib/c.py").exists()
    assert entries(repo) == {}


def test_other_repositories_and_working_trees_inside_are_left_alone(repo: Repo) -> None:
    Repo.init(repo.path / "nested").write({"x.py": "x\n"})
    repo.git("worktree", "add", "--quiet", "-b", "one", str(repo.path / "linked"))
    repo.git("worktree", "add", "--quiet", "-b", "two", str(repo.path / ".claude/worktrees/two"))
    repo.write({".claude/worktrees/left-behind/y.py": "y\n", ".claude/settings.json": "{}\n"})
    assert set(entries(repo)) == {b".claude/settings.json"}
    assert entries(Repo(repo.path / "linked")) == {}


def test_a_submodule_is_not_looked_into(repo: Repo, tmp_path: Path) -> None:
    Repo.init(tmp_path / "other").commit({"x.py": "x\n"})
    repo.git("submodule", "--quiet", "add", str(tmp_path / "other"), "sub")
    assert entries(repo)[b"sub"].mode == GITLINK
    repo.commit()
    Repo(repo.path / "sub").write({"x.py": "changed\n", "new.py": "new\n"})
    assert entries(repo) == {}
    repo.write({"a.py": "changed\n"})
    Repo(repo.path / "sub").commit()
    assert entries(repo)[b"sub"] == StatusEntry(b"sub", MODIFIED, GITLINK, repo.oid("HEAD:sub"))


def test_before_the_first_commit_everything_is_new(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "unborn")
    repo.write({"a.py": "a\n", "b.py": "b\n"})
    repo.git("add", "a.py")
    found = read_status(locate(repo.path))
    assert found.commit is None
    assert {entry.path: entry.change for entry in found.entries} == {b"a.py": STAGED, b"b.py": UNTRACKED}
    assert set(staged(repo)) == {b"a.py"}


def test_objects_may_be_named_by_sha256(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "sha256", "--object-format=sha256")
    repo.write({"a.py": "a\n"})
    repo.git("add", "a.py")
    assert entries(repo)[b"a.py"].oid == staged(repo)[b"a.py"].oid == repo.oid(":a.py")


def test_a_working_tree_of_a_bare_repository_is_looked_at(repo: Repo, tmp_path: Path) -> None:
    repo.git("clone", "--quiet", "--bare", str(repo.path), str(tmp_path / "bare"))
    Repo(tmp_path / "bare").git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    linked = Repo(tmp_path / "linked")
    linked.write({"a.py": "changed\n"})
    assert set(entries(linked)) == {b"a.py"}


def test_the_index_is_neither_written_nor_locked(repo: Repo) -> None:
    index = repo.path / ".git" / "index"
    (repo.path / "a.py").touch()  # git would like to note that it is unchanged
    before = (index.read_bytes(), index.stat().st_mtime_ns)
    (repo.path / ".git" / "index.lock").touch()
    assert entries(repo) == {}
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before


def test_an_index_that_is_damaged_is_an_error(repo: Repo) -> None:
    (repo.path / ".git" / "index").write_bytes(b"DIRC" + bytes(40))
    with pytest.raises(GitFailed, match="git status failed"):
        read_status(locate(repo.path))


def test_a_process_that_is_not_asked_is_ended(repo: Repo) -> None:
    with StatusProcess(locate(repo.path)) as process:
        assert process._process.returncode is None
    assert process._process.returncode is not None


def test_an_answer_without_changes_is_read() -> None:
    assert parse_status(b"# branch.oid (initial)\0# branch.head main\0") == (None, [])
