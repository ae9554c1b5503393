"""What is shared with one remote, or with nobody, never reaches another remote; purges reach all, and lose nothing."""

import json
from pathlib import Path

import pytest

from gitmem.errors import GitFailed, GitmemError, UsageError
from gitmem.git.locate import locate
from gitmem.git.remotes import find_remote
from gitmem.memory.record_paths import REFERENCE
from gitmem.records.documents import add_document
from gitmem.records.exchange import exchange
from gitmem.records.notes import add_note
from gitmem.records.purge import purge_memory
from gitmem.records.revisions import delete_records
from tests.gitrepo import Repo
from tests.records.sharing_clones import NOTE, OTHER, Clone, make_clone, make_remote


@pytest.fixture
def second(remote: Repo, ann: Clone) -> Repo:
    """Another remote, of ann alone."""
    other = make_remote(remote.path.with_name("second"))
    ann.repo.git("remote", "add", "second", str(other.path))
    return other


def contents(repo: Repo) -> str:
    """Return the text of every object of a repository, reachable or not."""
    return repo.git("cat-file", "--batch-all-objects", "--batch", "--buffer", "--unordered")


def write_hook(remote: Repo, name: str, script: str) -> Path:
    """Let a remote judge pushes by a hook."""
    hook = remote.path / "hooks" / name
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{script}\n")
    hook.chmod(0o755)
    return hook


def test_a_shared_document_hidden_by_a_private_one_survives_its_publication(ann: Clone, bob: Clone) -> None:
    add_document(ann.workspace, "by ann", {"source_id": "plan", "visibility": "team"})
    add_document(bob.workspace, "private", {"source_id": "plan"})
    ann.sync()
    bob.sync()
    assert [json.loads(line)["content"] for line in bob.records()] == ["private"]
    add_document(bob.workspace, "by bob", {"source_id": "plan", "visibility": "team"})
    bob.sync()
    ann.sync()
    assert sorted(json.loads(line)["content"] for line in ann.records()) == ["by ann", "by bob"]
    assert ann.records() == bob.records()


def test_text_withdrawn_after_a_refused_push_never_leaves(remote: Repo, second: Repo, ann: Clone) -> None:
    hook = write_hook(remote, "pre-receive", "exit 1")
    ann.put(NOTE, "xyzzy")
    with pytest.raises(GitFailed, match="refuses the ref"):
        ann.sync()
    ann.put(NOTE, "harmless")
    hook.unlink()
    ann.sync()
    assert "harmless" in contents(remote)
    assert "xyzzy" not in contents(remote)
    # A document that was shared with one remote and made private since has never been meant for the other one.
    add_document(ann.workspace, "plugh", {"source_id": "a", "visibility": "team"})
    ann.sync()
    add_document(ann.workspace, "plugh", {"source_id": "a", "visibility": "me"})
    ann.sync("second")
    assert "harmless" in contents(second)
    assert "plugh" not in contents(second)


def test_a_note_that_somebody_else_deleted_is_not_brought_to_another_remote(
    second: Repo, ann: Clone, bob: Clone
) -> None:
    ann.put(NOTE, "xyzzy")
    add_note(ann.workspace, "stays")
    ann.sync()
    bob.sync()
    delete_records(bob.workspace, [NOTE])
    bob.sync()
    ann.sync()
    ann.sync("second")
    assert "stays" in contents(second)
    assert "xyzzy" not in contents(second)


def test_purged_records_do_not_return_from_a_former_memory(remote: Repo, ann: Clone, bob: Clone) -> None:
    """Neither those purged before the first exchange nor those edited before it."""
    ann.put(NOTE, "purged early")
    ann.put(OTHER, "purged late")
    ann.repo.git("push", "-q", "origin", REFERENCE)
    delete_records(ann.workspace, [NOTE])
    purge_memory(ann.workspace)
    ann.put(OTHER, "edited")
    ann.sync()
    assert ann.texts() == ["edited"]
    delete_records(ann.workspace, [OTHER])
    purge_memory(ann.workspace)
    for clone in (ann, bob, make_clone(remote, "newcomer"), ann):
        clone.sync()
        assert clone.texts() == []


def test_a_purge_brings_nobody_elses_notes_to_another_remote(
    remote: Repo, second: Repo, ann: Clone, bob: Clone
) -> None:
    add_note(bob.workspace, "by bob")
    bob.sync()
    ann.put(NOTE, "xyzzy")
    ann.sync()
    ann.sync("second")
    delete_records(ann.workspace, [NOTE])
    purge_memory(ann.workspace)
    assert ann.sync("second").purged
    assert ann.sync().purged
    for repo in (second, remote):
        repo.git("gc", "-q", "--prune=now")
        assert "xyzzy" not in contents(repo)
    assert "xyzzy" not in contents(ann.repo)
    assert "by bob" not in contents(second)
    assert "by bob" in contents(remote)


def test_a_purge_keeps_what_was_fetched_but_not_merged(remote: Repo, ann: Clone, bob: Clone) -> None:
    ann.put(NOTE, "xyzzy")
    ann.sync()
    bob.sync()
    bob.put(NOTE, "xyzzy, edited by bob")
    bob.sync()
    add_note(bob.workspace, "new")
    bob.sync()
    delete_records(ann.workspace, [NOTE])
    purge_memory(ann.workspace)
    exchange(ann.workspace, pull=False, push=True)
    newcomer = make_clone(remote, "newcomer")
    newcomer.sync()
    assert newcomer.texts() == ["new", "xyzzy, edited by bob"]


def test_refs_that_others_pushed_here_are_read_and_never_deleted(ann: Clone, bob: Clone) -> None:
    bob.repo.git("remote", "add", "ann", str(ann.repo.path))
    add_note(bob.workspace, "by bob")
    writer = bob.sync("ann").writer
    deleted = add_note(ann.workspace, "by ann").note.id
    ann.sync()
    assert ann.texts() == ["by ann", "by bob"]
    delete_records(ann.workspace, [deleted])
    purge_memory(ann.workspace)
    ann.sync()
    assert ann.repo.oid(f"refs/gitmem/writers/{writer}")
    assert ann.texts() == ["by bob"]


def test_a_purge_that_was_killed_is_repeated(ann: Clone, bob: Clone) -> None:
    """A kill leaves objects, whatever was recorded before it."""
    ann.put(NOTE, "xyzzy")
    ann.sync()
    bob.sync()
    blob = bob.repo.git("rev-parse", f"{REFERENCE}:v1/notes/01/{NOTE}")
    data = bob.repo.git("cat-file", "blob", blob).encode()
    delete_records(ann.workspace, [NOTE])
    purge_memory(ann.workspace)
    ann.sync()
    assert bob.sync().purged
    assert not bob.sync().purged
    assert bob.repo.git("hash-object", "-w", "--stdin", stdin=data) == blob
    assert bob.sync().purged
    assert "xyzzy" not in contents(bob.repo)


def test_a_host_that_lets_nobody_replace_commits_is_reported_and_still_takes_notes(
    remote: Repo, ann: Clone, bob: Clone
) -> None:
    write_hook(remote, "update", f'test "$2" = {"0" * 40} || git merge-base --is-ancestor "$2" "$3"')
    ann.put(NOTE, "xyzzy")
    ann.sync()
    delete_records(ann.workspace, [NOTE])
    purge_memory(ann.workspace)
    add_note(ann.workspace, "later")
    result = ann.sync()
    assert f"not purged on `origin`: `refs/gitmem/writers/{result.writer}` (hook declined)" in result.notices
    bob.sync()
    assert bob.texts() == ["later"]


def test_half_of_a_surrogate_pair_harms_nobody(remote: Repo, ann: Clone, bob: Clone) -> None:
    add_note(ann.workspace, "one")
    ann.sync()
    head = remote.git("hash-object", "-w", "--stdin", stdin=b'{"v": 1, "name": "\\ud800"}\n')
    tree = remote.git("mktree", stdin=f"100644 blob {head}\twriter\n".encode())
    remote.git("update-ref", f"refs/gitmem/writers/{'f' * 16}", remote.git("commit-tree", "-m", "x", tree))
    assert bob.sync().notices[0].startswith(f"the shared records of `{'f' * 16}` are damaged or forged")
    assert bob.texts() == ["one"]


def test_the_default_remote_is_that_of_the_branch(remote: Repo, second: Repo, ann: Clone) -> None:
    location = locate(ann.repo.path)
    assert find_remote(location, "") == "origin"
    ann.repo.git("config", "branch.main.remote", "second")
    assert find_remote(location, "") == "second"
    ann.repo.git("config", "branch.main.remote", ".")
    ann.repo.git("remote", "rename", "origin", "upstream")
    with pytest.raises(UsageError, match="follows no remote, and there are several"):
        find_remote(location, "")


def test_a_relative_url_starts_at_the_working_tree(
    remote: Repo, ann: Clone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann.repo.git("remote", "set-url", "origin", "../remote")
    add_note(ann.workspace, "one")
    folder = tmp_path / "elsewhere" / "deeper"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    assert ann.sync().sent == 1


def test_the_first_push_to_each_remote_needs_approval(second: Repo, ann: Clone) -> None:
    add_note(ann.workspace, "one")
    asked: list[tuple[int, str]] = []

    def refuse(records: int, remote: str) -> None:
        asked.append((records, remote))
        raise GitmemError("no")

    exchange(ann.workspace, pull=True, push=False)
    for remote in ("origin", "second"):
        with pytest.raises(GitmemError, match="no"):
            exchange(ann.workspace, remote, pull=True, push=True, approve=refuse)
        ann.sync(remote)
        exchange(ann.workspace, remote, pull=True, push=True, approve=refuse)
    assert asked == [(1, "origin"), (1, "second")]
    assert "one" in contents(second)


def test_what_is_pushed_elsewhere_is_read_from_there(remote: Repo, second: Repo, ann: Clone, bob: Clone) -> None:
    bob.repo.git("remote", "set-url", "origin", str(second.path))
    ann.repo.git("remote", "set-url", "--push", "origin", str(second.path))
    for text in ("one", "two"):
        add_note(ann.workspace, text)
        assert ann.sync("origin").sent == 1
    add_note(bob.workspace, "three")
    bob.sync()
    assert ann.sync("origin").added == 1
    assert bob.texts() == ann.texts() == ["one", "three", "two"]
    assert not remote.git("for-each-ref", "refs/gitmem")
    ann.repo.git("remote", "set-url", "--push", "--add", "origin", str(remote.path))
    with pytest.raises(UsageError, match="`origin` has several URLs for pushes"):
        ann.sync("origin")
    exchange(ann.workspace, "origin", pull=True, push=False)


def test_a_purged_note_is_not_imported_again(ann: Clone) -> None:
    ann.put(NOTE, "xyzzy")
    ann.sync()
    delete_records(ann.workspace, [NOTE])
    purge_memory(ann.workspace)
    with pytest.raises(UsageError, match=f"nothing was imported: `{NOTE}` was purged for everybody"):
        ann.put(NOTE, "xyzzy")
    ann.put(NOTE, "xyzzy, edited")
    ann.sync()
    assert ann.texts() == ["xyzzy, edited"]
