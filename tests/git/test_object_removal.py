"""Removal of the given objects, and of no others."""

import random

import pytest

from gitmem.git.locate import locate
from gitmem.git.object_removal import StoredObject, find_reachable, find_unreachable, remove_objects
from tests.gitrepo import MakeRepo, Repo


def _all(repo: Repo) -> set[str]:
    return set(repo.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split())


def _make(repo: Repo) -> list[str]:
    """Create two commits, and return the ids of unreachable blobs."""
    repo.commit({"a": "1\n" * 50})
    repo.commit({"a": "1\n" * 50 + "2\n", "b": "3"})
    return [repo.git("hash-object", "-w", "--stdin", stdin=b"loose end %d\n" % number) for number in range(3)]


@pytest.mark.parametrize("packing", ["loose", "packed", "keep file", "bitmap", "several"])
@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_objects_are_removed_from_loose_files_and_packs(make_repo: MakeRepo, packing: str, object_format: str) -> None:
    repo = make_repo("repo", f"--object-format={object_format}")
    loose_ends = _make(repo)
    _pack(repo, packing, loose_ends)
    before = _all(repo)
    target = StoredObject(loose_ends[0], "blob", 12)
    result = remove_objects(locate(repo.path), [target])
    assert (result.objects, result.bytes, result.left) == (1, 12, 0)
    assert _all(repo) == before - {loose_ends[0]}
    repo.git("fsck", "--strict", "--full")
    assert bool(list((repo.path / ".git/objects/pack").glob("*.keep"))) == (packing == "keep file")


def _pack(repo: Repo, packing: str, loose_ends: list[str]) -> None:
    if packing == "loose":
        return
    listed = "\n".join(_all(repo)) + "\n"
    repo.git("pack-objects", "-q", ".git/objects/pack/pack", stdin=listed.encode())
    repo.git("prune-packed")
    if packing == "keep file":
        for pack in (repo.path / ".git/objects/pack").glob("*.pack"):
            pack.with_suffix(".keep").touch()
    elif packing == "bitmap":
        repo.git("repack", "-qadbk")
        repo.git("multi-pack-index", "write")
        repo.git("commit-graph", "write", "--reachable")
    elif packing == "several":
        repo.git("pack-objects", "-q", ".git/objects/pack/pack", stdin=f"{loose_ends[0]}\n".encode())


def test_removed_commits_leave_the_commit_graph(make_repo: MakeRepo) -> None:
    repo = make_repo()
    _make(repo)
    removed = repo.oid("HEAD")
    repo.git("commit-graph", "write", "--reachable")
    repo.git("reset", "-q", "--hard", "HEAD~1")
    repo.git("reflog", "expire", "--expire=now", "--all")
    graph = repo.path / ".git/objects/info/commit-graph"
    assert bytes.fromhex(removed) in graph.read_bytes()
    remove_objects(locate(repo.path), [StoredObject(removed, "commit", 1)])
    assert bytes.fromhex(removed) not in graph.read_bytes()
    repo.git("commit-graph", "verify")


def test_unreachable_objects_are_listed(make_repo: MakeRepo) -> None:
    repo = make_repo()
    loose_ends = _make(repo)
    location = locate(repo.path)
    assert {item.oid for item in find_unreachable(location)} == set(loose_ends)
    repo.write({"staged": "loose end 1\n"})
    repo.git("add", "staged")
    assert {item.oid for item in find_unreachable(location)} == {loose_ends[0], loose_ends[2]}


def test_objects_reachable_from_an_object_are_listed(make_repo: MakeRepo) -> None:
    repo = make_repo()
    _make(repo)
    first = repo.oid("HEAD~1")
    assert find_reachable(locate(repo.path), [first]) == {first, repo.oid("HEAD~1^{tree}"), repo.oid("HEAD~1:a")}
    assert find_reachable(locate(repo.path), ["1" * 40]) == set()
    assert find_reachable(locate(repo.path), []) == set()


def test_a_pack_that_is_rewritten_as_several_keeps_its_markers(make_repo: MakeRepo) -> None:
    """`pack.packSizeLimit` of 1 MiB, the smallest that git accepts, and noise, which does not compress."""
    repo = make_repo()
    chance = random.Random(14)
    blobs = [repo.git("hash-object", "-w", "--stdin", stdin=chance.randbytes(700_000)) for _ in range(4)]
    _pack(repo, "keep file", blobs)
    repo.git("config", "pack.packSizeLimit", "1m")
    result = remove_objects(locate(repo.path), [StoredObject(blobs[0], "blob", 700_000)])
    assert (result.objects, result.left) == (1, 0)
    assert _all(repo) == set(blobs[1:])
    names = {path.name for path in (repo.path / ".git/objects/pack").iterdir()}
    packs = {name.removesuffix(".pack") for name in names if name.endswith(".pack")}
    assert len(packs) > 1
    assert {name.removesuffix(".keep") for name in names if name.endswith(".keep")} == packs
    repo.git("fsck", "--strict", "--full")
