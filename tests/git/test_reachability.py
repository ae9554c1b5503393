"""Blobs reachable from refs, reflogs, indexes and working trees."""

from pathlib import Path

import pytest

from gitmem.errors import GitFailed
from gitmem.git.locate import locate
from gitmem.git.reachability import reachable_blobs
from tests.gitrepo import MakeRepo, Repo


def _blob(repo: Repo, content: bytes) -> str:
    return repo.git("hash-object", "-w", "--stdin", stdin=content)


def test_blobs_are_reachable_from_refs_reflogs_indexes_and_other_worktrees(make_repo: MakeRepo, tmp_path: Path) -> None:
    repo = make_repo()
    repo.commit({"a": "first", "b/c": "folder"})
    repo.commit({"a": "amended away"})
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    repo.git("update-ref", "refs/notes/own", _blob(repo, b"a ref to a blob"))
    repo.write({"staged": "only in the index"})
    repo.git("add", "staged")
    repo.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
    linked = Repo(tmp_path / "linked")
    linked.commit({"d": "only on a detached head"})
    linked.write({"e": "only in the other index"})
    linked.git("add", "e")
    loose = _blob(repo, b"unreachable")
    contents = [b"first", b"folder", b"amended away", b"a ref to a blob", b"only in the index",
                b"only on a detached head", b"only in the other index"]  # fmt: skip
    for place in (repo.path, linked.path):
        reachable = reachable_blobs(locate(place))
        assert {_blob(repo, content) for content in contents} == reachable
        assert loose not in reachable


def test_a_replaced_blob_and_its_replacement_are_reachable(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"a": "old"})
    old, new = repo.oid("HEAD:a"), _blob(repo, b"new")
    repo.git("replace", old, new)
    assert reachable_blobs(locate(repo.path)) == {old, new}


def test_an_empty_repository_has_no_reachable_blobs(make_repo: MakeRepo) -> None:
    assert reachable_blobs(locate(make_repo().path)) == set()


def test_a_bare_and_a_sha256_repository_are_walked(make_repo: MakeRepo, tmp_path: Path) -> None:
    repo = make_repo("repo", "--object-format=sha256")
    repo.commit({"a": "x"})
    repo.git("clone", "--quiet", "--bare", str(repo.path), str(tmp_path / "bare"))
    assert reachable_blobs(locate(tmp_path / "bare")) == {repo.oid("HEAD:a")}


def test_a_partial_clone_is_walked_without_fetching(make_repo: MakeRepo, tmp_path: Path) -> None:
    source = make_repo()
    source.git("config", "uploadpack.allowFilter", "true")
    source.git("config", "uploadpack.allowAnySHA1InWant", "true")
    source.commit({"a": "old"})
    source.commit({"a": "new"})
    source.git("clone", "--quiet", "--filter=blob:none", source.path.as_uri(), str(tmp_path / "partial"))
    location = locate(tmp_path / "partial")
    packs = sorted((location.common_dir / "objects" / "pack").iterdir())
    assert source.oid("HEAD:a") in reachable_blobs(location)
    assert sorted((location.common_dir / "objects" / "pack").iterdir()) == packs


def test_a_missing_tree_is_an_error_instead_of_a_shorter_list(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"sub/a": "x"})
    location = locate(repo.path)
    damaged = repo.loose_object(repo.oid("HEAD:sub"))
    damaged.chmod(0o644)
    damaged.write_bytes(b"")
    with pytest.raises(GitFailed):
        reachable_blobs(location)
