"""Objects that are named are removed, and no others."""

import pytest

from gitmem.git.locate import locate
from gitmem.git.object_removal import StoredObject, find_reachable, find_unreachable, remove_objects
from tests.gitrepo import MakeRepo, Repo


def _all(repo: Repo) -> set[str]:
    return set(repo.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split())


def _make(repo: Repo) -> list[str]:
    """Two commits, then blobs that nothing reaches."""
    repo.commit({"a": "1\n" * 50})
    repo.commit({"a": "1\n" * 50 + "2\n", "b": "3"})
    return [repo.git("hash-object", "-w", "--stdin", stdin=b"loose end %d\n" % number) for number in range(3)]


@pytest.mark.parametrize("packing", ["loose", "packed", "kept", "bitmap", "several"])
@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_named_objects_go_wherever_they_lie(make_repo: MakeRepo, packing: str, object_format: str) -> None:
    repo = make_repo("repo", f"--object-format={object_format}")
    ends = _make(repo)
    _pack(repo, packing, ends)
    before = _all(repo)
    target = StoredObject(ends[0], "blob", 12)
    made = remove_objects(locate(repo.path), [target])
    assert (made.objects, made.bytes, made.left) == (1, 12, 0)
    assert _all(repo) == before - {ends[0]}
    repo.git("fsck", "--strict", "--full")
    assert not list((repo.path / ".git/objects/pack").glob("*.keep")) or packing == "kept"


def _pack(repo: Repo, packing: str, ends: list[str]) -> None:
    if packing == "loose":
        return
    listed = "\n".join(_all(repo)) + "\n"
    repo.git("pack-objects", "-q", ".git/objects/pack/pack", stdin=listed.encode())
    repo.git("prune-packed")
    if packing == "kept":
        for pack in (repo.path / ".git/objects/pack").glob("*.pack"):
            pack.with_suffix(".keep").touch()
    elif packing == "bitmap":
        repo.git("repack", "-qadbk")
        repo.git("multi-pack-index", "write")
        repo.git("commit-graph", "write", "--reachable")
    elif packing == "several":
        repo.git("pack-objects", "-q", ".git/objects/pack/pack", stdin=f"{ends[0]}\n".encode())


def test_what_nothing_reaches_is_told(make_repo: MakeRepo) -> None:
    repo = make_repo()
    ends = _make(repo)
    location = locate(repo.path)
    assert {item.oid for item in find_unreachable(location)} == set(ends)
    repo.write({"staged": "loose end 1\n"})
    repo.git("add", "staged")
    assert {item.oid for item in find_unreachable(location)} == {ends[0], ends[2]}


def test_what_an_object_reaches(make_repo: MakeRepo) -> None:
    repo = make_repo()
    _make(repo)
    first = repo.oid("HEAD~1")
    assert find_reachable(locate(repo.path), [first]) == {first, repo.oid("HEAD~1^{tree}"), repo.oid("HEAD~1:a")}
    assert find_reachable(locate(repo.path), ["1" * 40]) == set()
    assert find_reachable(locate(repo.path), []) == set()
