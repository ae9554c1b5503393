"""What commits with one parent say and changed, whatever stands in the files and in the configuration."""

from pathlib import Path

import pytest

from gitmem.errors import GitFailed
from gitmem.git.commit_diffs import LineSpan, read_changed_lines, read_commits, read_parent_trees
from gitmem.git.locate import locate
from tests.gitrepo import MakeRepo, Repo

TEN = "".join(f"line {number}\n" for number in range(1, 11))


def changed(repo: Repo, content: str, before: str = TEN) -> list[LineSpan]:
    """The lines that a commit changed in a file."""
    repo.commit({"file.txt": before})
    commit = repo.commit({"file.txt": content})
    found = read_changed_lines(locate(repo.path), [commit])[commit]
    assert list(found) == [repo.oid("HEAD^:file.txt")]
    return found[repo.oid("HEAD^:file.txt")]


def test_commits_come_newest_first_without_merges_and_the_first(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"a": "1"}, "first")
    second = repo.commit({"a": "2"}, "second\nline of the subject\n\nbody")
    repo.git("checkout", "-q", "-b", "side", "HEAD^")
    side = repo.commit({"b": "1"}, "side")
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-edit", "side")
    last = repo.commit({"b": "2"}, "last")
    found = read_commits(locate(repo.path), 10)
    assert found[0].oid == last
    assert {commit.oid: commit.subject for commit in found} == {
        last: "last", side: "side", second: "second line of the subject"
    }  # fmt: skip
    assert {commit.author for commit in found} == {"A Person <person@example.invalid>"}
    assert [commit.oid for commit in read_commits(locate(repo.path), 1)] == [last]


def test_a_change_knows_the_blob_that_was_there(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"kept.py": "1", "gone.py": "2", "moved.py": "3" * 100})
    repo.git("rm", "-q", "gone.py")
    repo.git("mv", "moved.py", "new.py")
    repo.commit({"kept.py": "4", 'caf\u00e9 "x"\n.py': "5"})
    found = read_commits(locate(repo.path), 10)[0]
    assert {(change.path, change.before) for change in found.changes} == {
        (b"kept.py", repo.oid("HEAD^:kept.py")),
        (b"gone.py", repo.oid("HEAD^:gone.py")),
        (b"moved.py", repo.oid("HEAD^:moved.py")),
        (b"new.py", None),
        ('caf\u00e9 "x"\n.py'.encode(), None),
    }


def test_a_commit_that_changes_nothing_is_left_out(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"a": "1"})
    repo.commit(message="empty")
    second = repo.commit({"a": "2"}, ": colon")
    repo.commit(message="empty")
    assert [(commit.oid, commit.subject) for commit in read_commits(locate(repo.path), 10)] == [(second, ": colon")]


def test_a_subject_in_another_encoding_is_read(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"a": "1"})
    repo.git("-c", "i18n.commitEncoding=latin-1", "commit", "-q", "--allow-empty", "-F", "-", stdin=b"caf\xe9")
    repo.write({"a": "2"})
    repo.git("add", "-A")
    repo.git("-c", "i18n.commitEncoding=latin-1", "commit", "-q", "-F", "-", stdin=b"gr\xfcn")
    assert read_commits(locate(repo.path), 10)[0].subject == "gr\u00fcn"


def test_lines_that_were_replaced_are_told(make_repo: MakeRepo) -> None:
    told = changed(make_repo(), TEN.replace("line 3\nline 4\n", "new\n").replace("line 9", "other"))
    assert told == [LineSpan(3, 2), LineSpan(9, 1)]


def test_of_lines_put_in_the_one_above_is_told(make_repo: MakeRepo) -> None:
    assert changed(make_repo(), TEN.replace("line 4\n", "line 4\nnew\nnew\n")) == [LineSpan(4, 0)]
    assert changed(make_repo("other"), "new\n" + TEN) == [LineSpan(0, 0)]


@pytest.mark.parametrize("line", ["@@ -1 +1 @@", "index 0000000..1111111 100644", "diff --git a/x b/x", "a" * 40])
def test_content_that_looks_like_a_patch_is_content(make_repo: MakeRepo, line: str) -> None:
    assert changed(make_repo(), f"{TEN}{line}\n", f"{TEN}{line}x\n") == [LineSpan(11, 1)]


def test_files_that_came_or_went_have_no_former_lines(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"gone.py": TEN})
    repo.git("rm", "-q", "gone.py")
    commit = repo.commit({"new.py": TEN + "more\n"})
    assert read_changed_lines(locate(repo.path), [commit]) == {commit: {}}


def test_binary_files_have_no_lines(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"data": b"\0\1"})
    commit = repo.commit({"data": b"\0\2"})
    assert read_changed_lines(locate(repo.path), [commit])[commit] == {repo.oid("HEAD^:data"): []}


def test_configuration_bends_nothing(make_repo: MakeRepo) -> None:
    plain, bent = make_repo("plain"), make_repo("bent")
    settings = {"diff.external": "false", "diff.noprefix": "true", "diff.renames": "copies", "color.ui": "always",
                "log.showSignature": "true", "diff.context": "9", "diff.algorithm": "patience",
                "diff.interHunkContext": "9", "diff.loud.textconv": "false"}  # fmt: skip
    for key, value in settings.items():
        bent.git("config", key, value)
    (bent.path / ".git" / "info" / "attributes").write_text("* diff=loud\n")
    for repo in (plain, bent):
        repo.commit({"old.py": TEN, "kept.py": TEN})
        repo.git("mv", "old.py", "new.py")
        repo.commit({"kept.py": TEN.replace("line 2", "x").replace("line 4", "y")})
    found = [read_commits(locate(repo.path), 10) for repo in (plain, bent)]
    assert found[0] == found[1]
    lines = [read_changed_lines(locate(repo.path), [found[0][0].oid]) for repo in (plain, bent)]
    assert lines[0] == lines[1]
    assert [*lines[0][found[0][0].oid].values()] == [[LineSpan(2, 1), LineSpan(4, 1)]]


def test_the_tree_before_a_commit_is_found(make_repo: MakeRepo) -> None:
    repo = make_repo()
    commits = [repo.commit({"a": str(number)}) for number in range(3)]
    found = read_parent_trees(locate(repo.path), commits[1:])
    assert found == [repo.oid(f"{commit}^{{tree}}") for commit in commits[:2]]
    with pytest.raises(GitFailed, match=f"parent of {commits[0]}"):
        read_parent_trees(locate(repo.path), commits[:1])


def test_a_repository_without_commits_has_no_history(make_repo: MakeRepo) -> None:
    location = locate(make_repo().path)
    assert read_commits(location, 10) == []
    assert read_changed_lines(location, []) == {}
    assert read_parent_trees(location, []) == []


def test_the_last_commit_of_a_shallow_clone_has_no_parent(make_repo: MakeRepo, tmp_path: Path) -> None:
    repo = make_repo()
    commits = [repo.commit({"a": str(number)}) for number in range(4)]
    repo.git("clone", "-q", "--depth", "2", f"file://{repo.path}", str(tmp_path / "shallow"))
    assert [commit.oid for commit in read_commits(locate(tmp_path / "shallow"), 10)] == commits[3:]


def test_a_partial_clone_is_told_to_get_the_rest(make_repo: MakeRepo, tmp_path: Path) -> None:
    repo = make_repo()
    commits = [repo.commit({"a": str(number)}) for number in range(3)]
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("clone", "-q", "--filter=blob:none", f"file://{repo.path}", str(tmp_path / "partial"))
    location = locate(tmp_path / "partial")
    assert [change.path for change in read_commits(location, 10)[0].changes] == [b"a"]
    with pytest.raises(GitFailed) as caught:
        read_changed_lines(location, commits[1:])
    assert "git fetch --refetch" in caught.value.hint
