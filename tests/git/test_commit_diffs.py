"""Commits with one parent: subjects, changed paths and changed lines, independent of content and configuration."""

from pathlib import Path

import pytest

from gitmem.errors import GitFailed
from gitmem.git.commit_diffs import LineSpan, read_changed_lines, read_commits, read_new_lines, read_parent_trees
from gitmem.git.locate import locate
from tests.gitrepo import MakeRepo, Repo

TEN = "".join(f"line {number}\n" for number in range(1, 11))


def changed_lines(repo: Repo, content: str, before: str = TEN) -> list[LineSpan]:
    """Return the lines that a commit changes in a file."""
    repo.commit({"file.txt": before})
    commit = repo.commit({"file.txt": content})
    spans = read_changed_lines(locate(repo.path), [commit])[commit]
    assert list(spans) == [repo.oid("HEAD^:file.txt")]
    return spans[repo.oid("HEAD^:file.txt")]


def test_commits_are_newest_first_without_merges_and_root_commit(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"a": "1"}, "first")
    second = repo.commit({"a": "2"}, "second\nline of the subject\n\nbody")
    repo.git("checkout", "-q", "-b", "side", "HEAD^")
    side = repo.commit({"b": "1"}, "side")
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-edit", "side")
    last = repo.commit({"b": "2"}, "last")
    commits = read_commits(locate(repo.path), 10)
    assert commits[0].oid == last
    assert {commit.oid: commit.subject for commit in commits} == {
        last: "last", side: "side", second: "second line of the subject"
    }  # fmt: skip
    assert {commit.author for commit in commits} == {"A Person <person@example.invalid>"}
    assert [commit.oid for commit in read_commits(locate(repo.path), 1)] == [last]


def test_a_change_has_the_blob_before_it(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"changed.py": "1", "deleted.py": "2", "moved.py": "3" * 100})
    repo.git("rm", "-q", "deleted.py")
    repo.git("mv", "moved.py", "new.py")
    repo.commit({"changed.py": "4", 'caf\u00e9 "x"\n.py': "5"})
    commit = read_commits(locate(repo.path), 10)[0]
    assert {(change.path, change.before) for change in commit.changes} == {
        (b"changed.py", repo.oid("HEAD^:changed.py")),
        (b"deleted.py", repo.oid("HEAD^:deleted.py")),
        (b"moved.py", repo.oid("HEAD^:moved.py")),
        (b"new.py", None),
        ('caf\u00e9 "x"\n.py'.encode(), None),
    }


def test_an_empty_commit_is_left_out(make_repo: MakeRepo) -> None:
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


def test_replaced_lines_are_changed_lines(make_repo: MakeRepo) -> None:
    spans = changed_lines(make_repo(), TEN.replace("line 3\nline 4\n", "new\n").replace("line 9", "other"))
    assert spans == [LineSpan(3, 2), LineSpan(9, 1)]


def test_inserted_lines_give_the_line_before_them(make_repo: MakeRepo) -> None:
    assert changed_lines(make_repo(), TEN.replace("line 4\n", "line 4\nnew\nnew\n")) == [LineSpan(4, 0)]
    assert changed_lines(make_repo("other"), "new\n" + TEN) == [LineSpan(0, 0)]


@pytest.mark.parametrize("line", ["@@ -1 +1 @@", "index 0000000..1111111 100644", "diff --git a/x b/x", "a" * 40])
def test_content_that_looks_like_a_patch_is_not_parsed_as_one(make_repo: MakeRepo, line: str) -> None:
    assert changed_lines(make_repo(), f"{TEN}{line}\n", f"{TEN}{line}x\n") == [LineSpan(11, 1)]


def test_added_and_deleted_files_have_no_changed_lines(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"deleted.py": TEN})
    repo.git("rm", "-q", "deleted.py")
    commit = repo.commit({"new.py": TEN + "more\n"})
    assert read_changed_lines(locate(repo.path), [commit]) == {commit: {}}


def test_binary_files_have_no_changed_lines(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"data": b"\0\1"})
    commit = repo.commit({"data": b"\0\2"})
    assert read_changed_lines(locate(repo.path), [commit])[commit] == {repo.oid("HEAD^:data"): []}


def test_the_new_lines_of_a_range_are_those_of_all_hunks_and_files(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"a": TEN, "b": TEN, "gone": "x\n", "moved": f"{TEN}more\n", "same": TEN, "data": b"\0a"})
    old = repo.oid("HEAD")
    repo.git("mv", "moved", "renamed")
    repo.git("rm", "-q", "gone")
    edited = TEN.replace("line 2\n", "two\n").replace("line 9\n", "line 9\nnine\nmore\n")
    repo.commit({"a": edited, "b": TEN.replace("line 5\n", ""), "new": "n\n", "renamed": f"{TEN}other\n",
                 "data": b"\0b"})  # fmt: skip
    assert read_new_lines(locate(repo.path), old, repo.oid("HEAD")) == {
        b"a": [LineSpan(2, 1), LineSpan(10, 2)],
        b"b": [LineSpan(4, 0)],
        b"data": [],
        b"new": None,
        b"renamed": [LineSpan(11, 1)],
    }


def test_configuration_does_not_affect_the_result(make_repo: MakeRepo) -> None:
    plain, configured = make_repo("plain"), make_repo("configured")
    settings = {"diff.external": "false", "diff.noprefix": "true", "diff.renames": "copies", "color.ui": "always",
                "log.showSignature": "true", "diff.context": "9", "diff.algorithm": "patience",
                "diff.interHunkContext": "9", "diff.loud.textconv": "false"}  # fmt: skip
    for key, value in settings.items():
        configured.git("config", key, value)
    (configured.path / ".git" / "info" / "attributes").write_text("* diff=loud\n")
    for repo in (plain, configured):
        repo.commit({"old.py": TEN, "changed.py": TEN})
        repo.git("mv", "old.py", "new.py")
        repo.commit({"changed.py": TEN.replace("line 2", "x").replace("line 4", "y")})
    commits = [read_commits(locate(repo.path), 10) for repo in (plain, configured)]
    assert commits[0] == commits[1]
    lines = [read_changed_lines(locate(repo.path), [commits[0][0].oid]) for repo in (plain, configured)]
    assert lines[0] == lines[1]
    assert [*lines[0][commits[0][0].oid].values()] == [[LineSpan(2, 1), LineSpan(4, 1)]]


def test_the_tree_of_the_parent_is_returned(make_repo: MakeRepo) -> None:
    repo = make_repo()
    commits = [repo.commit({"a": str(number)}) for number in range(3)]
    trees = read_parent_trees(locate(repo.path), commits[1:])
    assert trees == [repo.oid(f"{commit}^{{tree}}") for commit in commits[:2]]
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


def test_a_partial_clone_gets_a_hint_to_fetch_the_rest(make_repo: MakeRepo, tmp_path: Path) -> None:
    repo = make_repo()
    commits = [repo.commit({"a": str(number)}) for number in range(3)]
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("clone", "-q", "--filter=blob:none", f"file://{repo.path}", str(tmp_path / "partial"))
    location = locate(tmp_path / "partial")
    assert [change.path for change in read_commits(location, 10)[0].changes] == [b"a"]
    with pytest.raises(GitFailed) as caught:
        read_changed_lines(location, commits[1:])
    assert "git fetch --refetch" in caught.value.hint
