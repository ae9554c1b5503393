"""The versions of files in a history."""

from itertools import pairwise

import pytest

from gitmem.errors import GitFailed
from gitmem.git.commit_log import ListedCommit
from gitmem.git.locate import locate
from gitmem.git.touched_paths import read_touched
from gitmem.git.version_log import CommitVersions, read_versions
from tests.gitrepo import MakeRepo, Repo


def test_versions_follow_each_other_and_share_their_ids(make_repo: MakeRepo) -> None:
    repo = make_repo()
    for number in range(3):
        repo.commit({"src/app.py": f"number = {number}\n"}, f"commit {number}")
    versions = read_versions(locate(repo.path), repo.oid("HEAD"), 10)
    files = [commit.files[0] for commit in versions]
    assert [commit.commit.commit for commit in versions] == repo.git("rev-list", "--reverse", "HEAD").split()
    assert [file.before for file in files[1:]] == [(file.after,) for file in files[:-1]]
    # One copy of each text: a list of a million versions is the largest thing in memory.
    assert all(old.after is new.before[0] and old.path is new.path for old, new in pairwise(files))


def test_a_commit_that_git_lacks_is_an_error(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"a.py": "a = 1\n"}, "first")
    with pytest.raises(GitFailed, match="git cannot read the history: bad object"):
        read_versions(locate(repo.path), "1" * 40, 10)


def _lines(*names: str) -> str:
    return "".join(f"the line of {name} number {number}\n" for name in names for number in range(10))


def _rename_twice(repo: Repo) -> Repo:
    """Commit a file, and give it another name twice, with other content each time."""
    repo.commit({"one.txt": _lines("a", "b", "c")}, "first")
    for number, (old, new) in enumerate((("one.txt", "two.txt"), ("two.txt", "three.txt"))):
        repo.commit({"other.txt": f"{number}\n"}, "between")
        repo.git("mv", old, new)
        repo.commit({new: _lines("a", "b", "c", *"de"[: number + 1])}, f"rename to {new}")
    repo.commit({"other.txt": "end\n"}, "last")
    return repo


def _renames(versions: list[CommitVersions]) -> list[tuple[bytes, bytes]]:
    return [(file.old_path, file.path) for commit in versions for file in commit.files if file.old_path != file.path]


@pytest.mark.parametrize("harm", ["missing", "damaged", "damaged in a pack"])
def test_a_commit_whose_blob_git_lacks_is_read_without_renames(make_repo: MakeRepo, harm: str) -> None:
    repo = _rename_twice(make_repo())
    whole = read_versions(locate(repo.path), repo.oid("HEAD"), 100)
    assert _renames(whole) == [(b"one.txt", b"two.txt"), (b"two.txt", b"three.txt")]
    blob = repo.oid("HEAD:three.txt")
    file = repo.loose_object(blob)
    if harm == "damaged in a pack":
        repo.git("repack", "-adq", "--window=0")
        (index,) = (repo.path / ".git" / "objects" / "pack").glob("*.idx")
        places = repo.git("verify-pack", "-v", str(index)).splitlines()
        place = next(int(line.split()[4]) for line in places if line.startswith(blob))
        file = index.with_suffix(".pack")
        file.chmod(0o644)
        data = bytearray(file.read_bytes())
        data[place + 6] ^= 0x10
        file.write_bytes(data)
    elif harm == "damaged":
        file.chmod(0o644)
        file.write_bytes(file.read_bytes()[:20])
    else:
        file.unlink()
    lacking = read_versions(locate(repo.path), repo.oid("HEAD"), 100)
    assert [commit.commit for commit in lacking] == [commit.commit for commit in whole]
    assert _renames(lacking) == [(b"one.txt", b"two.txt")]
    assert {(file.path, file.after) for file in lacking[-2].files if file.after} == {(b"three.txt", blob)}
    assert read_versions(locate(repo.path), repo.oid("HEAD"), 3) == lacking[-3:]


def test_authors_are_found_although_git_lacks_a_blob(make_repo: MakeRepo) -> None:
    repo = _rename_twice(make_repo())
    repo.loose_object(repo.oid("HEAD:three.txt")).unlink()

    def passes(commit: ListedCommit) -> bool:
        return True

    touched = read_touched(locate(repo.path), repo.oid("HEAD"), passes)
    assert len(touched.commits) == 6
    assert touched.paths >= {b"two.txt", b"three.txt", b"other.txt"}


def test_the_rest_of_a_history_that_lacks_many_blobs_is_read_without_renames(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"0.txt": _lines("a", "b")}, "first")
    for number in range(40):
        repo.git("mv", f"{number}.txt", f"{number + 1}.txt")
        repo.commit({f"{number + 1}.txt": _lines("a", "b", str(number))}, f"rename {number}")
    blobs = [repo.oid(f"HEAD~{at}:{40 - at}.txt") for at in range(38)]
    for blob in blobs:
        repo.loose_object(blob).unlink()
    versions = read_versions(locate(repo.path), repo.oid("HEAD"), 1000)
    assert len(versions) == 41
    assert [commit.files[-1].after or commit.files[0].after for commit in versions[:2:-1]] == blobs


def test_a_missing_tree_ends_the_reading(make_repo: MakeRepo) -> None:
    repo = _rename_twice(make_repo())
    repo.loose_object(repo.oid("HEAD~2^{tree}")).unlink()
    with pytest.raises(GitFailed, match="git cannot read the history"):
        read_versions(locate(repo.path), repo.oid("HEAD"), 100)
