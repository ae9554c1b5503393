"""Trees and their differences, with every kind of name that git can store."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.errors import GitFailed
from gitmem.git.locate import RepositoryLocation, locate
from gitmem.git.path_encoding import path_bytes, path_text
from gitmem.git.trees import GITLINK, SYMLINK, TreeEntry, diff_trees, read_tree
from tests.gitrepo import MakeRepo

ODD_NAMES = [b"caf\xe9.py", b"new\nline.py", b'quo"te\\.py', b"tab\t.py", b" leading", b"-dash", b"\xf0\x9f\x90\x8d.py",
    b"\xc3\xa9.py", b"e\xcc\x81.py", b"README", b"readme", b"/".join([b"d" * 200] * 20) + b"/deep.py"]  # fmt: skip


def _tree(location: RepositoryLocation) -> str:
    assert location.head_tree is not None
    return location.head_tree


def test_every_name_is_read_byte_for_byte(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit_entries({name: b"of %d\n" % number for number, name in enumerate(ODD_NAMES)})
    location = locate(repo.path)
    entries = read_tree(location, _tree(location))
    assert sorted(entry.path for entry in entries) == sorted(ODD_NAMES)
    assert all(path_bytes(path_text(entry.path)) == entry.path for entry in entries)


@given(st.binary())
def test_paths_survive_decoding_and_encoding(path: bytes) -> None:
    assert path_bytes(path_text(path)) == path


def test_symbolic_links_executables_and_submodules_keep_their_modes(make_repo: MakeRepo) -> None:
    inner, repo = make_repo("inner"), make_repo("repo")
    pinned = inner.commit({"a": "x"})
    repo.write({"run.sh": "true\n", "sub/plain": "x"})
    (repo.path / "run.sh").chmod(0o755)
    (repo.path / "link").symlink_to("/etc/passwd")
    repo.git("submodule", "--quiet", "add", str(inner.path), "lib")
    repo.commit()
    location = locate(repo.path)
    entries = {entry.path: entry for entry in read_tree(location, _tree(location))}
    assert entries[b"lib"] == TreeEntry(b"lib", GITLINK, pinned)
    assert entries[b"link"].mode == SYMLINK
    assert entries[b"run.sh"].mode == 0o100755
    assert entries[b"sub/plain"] == TreeEntry(b"sub/plain", 0o100644, repo.oid("HEAD:sub/plain"))
    assert not any(path.startswith(b"lib/") for path in entries)


def test_an_empty_tree_has_no_entries(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit()
    location = locate(repo.path)
    assert read_tree(location, _tree(location)) == []


def test_the_whole_tree_is_listed_from_any_folder(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"a": "1", "sub/b": "2"})
    location = locate(repo.path / "sub")
    assert [entry.path for entry in read_tree(location, _tree(location))] == [b"a", b"sub/b"]


def test_a_difference_lists_added_changed_and_deleted_paths(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"keep": "k", "change": "1", "deleted": "g" * 100, "mode": "m", "kind": "t"})
    old = repo.oid("HEAD^{tree}")
    (repo.path / "deleted").rename(repo.path / "moved\nhere")
    (repo.path / "mode").chmod(0o755)
    (repo.path / "kind").unlink()
    (repo.path / "kind").symlink_to("keep")
    repo.commit({"change": "2", os.fsdecode(b"add\xff"): "a"})
    location = locate(repo.path)
    changes = {change.path: change for change in diff_trees(location, old, _tree(location))}
    assert set(changes) == {b"change", b"deleted", b"moved\nhere", b"mode", b"kind", b"add\xff"}
    assert (changes[b"deleted"].mode, changes[b"deleted"].oid) == (None, None)
    assert changes[b"moved\nhere"].oid == repo.oid("HEAD~1:deleted")
    assert changes[b"mode"].mode == 0o100755
    assert changes[b"kind"].mode == SYMLINK
    assert changes[b"change"].oid == repo.oid("HEAD:change")
    assert diff_trees(location, old, old) == []


def test_applying_a_difference_to_the_old_tree_gives_the_new_one(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"a": "1", "b/c": "2", "d": "3"})
    old = repo.oid("HEAD^{tree}")
    (repo.path / "d").unlink()
    repo.git("config", "diff.renames", "copies")
    repo.git("config", "diff.ignoreSubmodules", "all")
    repo.commit({"a/now-a-folder": "1"} if not (repo.path / "a").exists() else {"b/e": "2", "f": "1"})
    location = locate(repo.path)
    known = {entry.path: entry for entry in read_tree(location, old)}
    for path, mode, oid in diff_trees(location, old, _tree(location)):
        known.pop(path, None)
        if mode is not None and oid is not None:
            known[path] = TreeEntry(path, mode, oid)
    assert sorted(known.values()) == sorted(read_tree(location, _tree(location)))


def test_a_replaced_tree_keeps_the_content_of_its_id(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"a": "old"})
    old = repo.oid("HEAD^{tree}")
    repo.commit({"a": "new", "b": "new"})
    repo.git("replace", old, repo.oid("HEAD^{tree}"))
    assert [entry.path for entry in read_tree(locate(repo.path), old)] == [b"a"]


def test_a_missing_tree_is_an_error(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"sub/a": "x"})
    location = locate(repo.path)
    repo.loose_object(repo.oid("HEAD:sub")).unlink()
    with pytest.raises(GitFailed, match="ls-tree failed"):
        read_tree(location, _tree(location))


@pytest.mark.parametrize("options", [("--object-format=sha256",), ("--ref-format=reftable",), ()])
def test_other_repository_formats_give_the_same_result(make_repo: MakeRepo, options: tuple[str, ...]) -> None:
    try:
        repo = make_repo("repo", *options)
    except AssertionError:
        pytest.skip(f"this git cannot create a repository with {options[0]}")
    repo.commit({"a": "1"})
    repo.git("update-index", "--split-index")
    repo.git("config", "core.untrackedCache", "true")
    repo.commit({"b": "2", "c/d": "3"})
    repo.git("sparse-checkout", "set", "--cone", "--sparse-index", "nothing")
    location = locate(repo.path)
    assert not (repo.path / "c").exists()
    assert [entry.path for entry in read_tree(location, _tree(location))] == [b"a", b"b", b"c/d"]


def test_a_linked_worktree_reads_its_own_head(make_repo: MakeRepo, tmp_path: Path) -> None:
    repo = make_repo()
    repo.commit({"a": "1"})
    repo.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "linked"))
    repo.commit({"b": "2"})
    location = locate(tmp_path / "linked")
    assert [entry.path for entry in read_tree(location, _tree(location))] == [b"a"]
