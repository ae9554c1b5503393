"""The commits of a range and the lines that they changed."""

from gitmem.git.locate import locate
from gitmem.git.range_patches import FileLines, count_range, iter_patches, list_range
from tests.gitrepo import Repo


def patches(repo: Repo, *revs: str) -> list[list[FileLines]]:
    oids = [repo.oid(rev) for rev in revs]
    found = list(iter_patches(locate(repo.path), oids))
    assert [commit for commit, _ in found] == oids
    return [files for _, files in found]


def test_lines_are_those_that_were_added_or_removed(repo: Repo) -> None:
    text = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
    repo.commit({"src/a.py": text}, "first")
    repo.commit({"src/a.py": text.replace("return 2", "return 3")}, "second")
    root, first, second = patches(repo, "HEAD~2", "HEAD~1", "HEAD")
    assert root == [FileLines(b"a.py", [], [b"def a():", b"    return 1"], 2)]
    assert [(file.path, file.size) for file in first] == [(b"src/a.py", 6)]
    assert second == [FileLines(b"src/a.py", [b"def two():"], [b"    return 2", b"    return 3"], 2)]


def test_lines_that_look_like_headers_are_lines(repo: Repo) -> None:
    repo.commit({"a.sql": "-- a comment\nselect 1;\n"}, "first")
    repo.commit({"a.sql": "++ no sql\n"}, "second")
    (files,) = patches(repo, "HEAD")
    assert files == [FileLines(b"a.sql", [], [b"-- a comment", b"select 1;", b"++ no sql"], 3)]


def test_renames_strange_names_and_binary_files(repo: Repo) -> None:
    text = "".join(f"line {number}\n" for number in range(20))
    repo.commit({"old name.txt": text, 'a"b\tc.txt': "x\n", "caf\u00e9.txt": "y\n", "a.bin": b"\0\1", "no.txt": ""})
    repo.git("mv", "old name.txt", "new name.txt")
    repo.commit({}, "rename")
    repo.git("rm", "-q", "caf\u00e9.txt")
    repo.commit({}, "remove")
    added, renamed, removed = patches(repo, "HEAD~2", "HEAD~1", "HEAD")
    assert {file.path for file in added} == {b"old name.txt", b'a"b\tc.txt', "caf\u00e9.txt".encode()}
    assert renamed == [FileLines(b"new name.txt", [], [], 0)]
    assert removed == [FileLines("caf\u00e9.txt".encode(), [], [b"y"], 1)]


def test_what_is_kept_is_bounded_and_the_rest_counted(repo: Repo) -> None:
    repo.commit({"long.txt": "x" * 300_000 + "\nend\n", "many.txt": "some words\n" * 50_000}, "large")
    (files,) = patches(repo, "HEAD")
    assert [(file.path, file.size) for file in files] == [(b"long.txt", 2), (b"many.txt", 50_000)]
    assert [len(line) for line in files[0].lines] == [399, 3]
    assert sum(map(len, files[1].lines)) <= 8_000


def test_commits_are_listed_newest_first_with_their_messages(repo: Repo) -> None:
    first = repo.oid("HEAD")
    for number in range(3):
        repo.commit({"a.py": f"{number}\n"}, f"subject {number}\n\nbody\n\nTrailer: yes")
    location = locate(repo.path)
    assert count_range(location, [first], repo.oid("HEAD")) == 3
    listed = list_range(location, [first], repo.oid("HEAD"), 2)
    assert [one.commit for one in listed] == [repo.oid("HEAD"), repo.oid("HEAD~1")]
    assert listed[0].message == "subject 2\n\nbody\n\nTrailer: yes"
    assert (listed[0].subject, listed[0].author, listed[0].date[:10]) == ("subject 2", "A Person", "2024-01-02")


def test_a_commit_without_files_is_not_lost(repo: Repo) -> None:
    for number in range(4):
        repo.commit({f"{number}.txt": "x\n"} if number != 2 else {}, str(number))
    found = patches(repo, *(f"HEAD~{number}" for number in range(4)))
    assert [[file.path for file in files] for files in found] == [[b"3.txt"], [], [b"1.txt"], [b"0.txt"]]
