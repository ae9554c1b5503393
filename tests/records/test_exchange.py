"""People who share one remote get the same records, whatever happens, and lose none."""

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from gitmem.errors import GitFailed, GitmemError, UsageError
from gitmem.memory.record_paths import REFERENCE, SHARED_REFERENCE
from gitmem.records.conversations import append_turn
from gitmem.records.documents import add_document
from gitmem.records.exchange import exchange
from gitmem.records.merging import accept_loss
from gitmem.records.notes import add_note, list_notes
from gitmem.records.purge import purge_memory
from gitmem.records.removal import export_and_remove
from gitmem.records.revisions import delete_records
from tests.gitrepo import Repo
from tests.records.sharing_clones import NOTE, Clone, make_clone, make_remote


def sync_all(*clones: Clone) -> None:
    for clone in (*clones, *clones):
        clone.sync()


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_notes_of_two_clones_are_joined(tmp_path: Path, object_format: str) -> None:
    remote = make_remote(tmp_path / "other", f"--object-format={object_format}")
    ann, bob = make_clone(remote, "ann"), make_clone(remote, "bob")
    add_note(ann.workspace, "one")
    deleted = add_note(ann.workspace, "three").note.id
    add_note(bob.workspace, "two")
    assert ann.sync()[2:6] == (2, 0, 0, 0)
    assert bob.sync()[2:6] == (1, 2, 0, 0)
    delete_records(bob.workspace, [deleted])
    assert bob.sync()[2:6] == (1, 0, 0, 0)
    assert ann.sync()[2:6] == (0, 1, 0, 1)
    assert ann.texts() == bob.texts() == ["one", "two"]
    assert ann.records() == bob.records()
    before = ann.repo.oid(REFERENCE), remote.git("for-each-ref")
    assert ann.sync()[2:6] == (0, 0, 0, 0)
    assert (ann.repo.oid(REFERENCE), remote.git("for-each-ref")) == before


def test_a_copy_of_a_clone_is_another_writer(remote: Repo, ann: Clone, bob: Clone) -> None:
    add_note(ann.workspace, "one")
    first = ann.sync().writer
    assert ann.sync().writer == first
    shutil.copytree(ann.repo.path, ann.repo.path.with_name("copy"))
    copy = Clone(ann.repo.path.with_name("copy"))
    add_note(ann.workspace, "two")
    add_note(copy.workspace, "three")
    assert copy.sync().writer != first
    sync_all(ann, copy, bob)
    assert ann.texts() == copy.texts() == bob.texts() == ["one", "three", "two"]


def test_the_lock_that_a_killed_fetch_left_behind_is_removed(ann: Clone, bob: Clone) -> None:
    add_note(ann.workspace, "one")
    ann.sync()
    bob.sync()
    add_note(ann.workspace, "two")
    ann.sync()
    [fetched] = bob.repo.git("for-each-ref", "--format=%(refname)", "refs/gitmem/remotes").split()
    lock = bob.repo.path / ".git" / f"{fetched}.lock"
    lock.touch()
    os.utime(lock, (time.time() - 60, time.time() - 60))
    bob.sync()
    assert bob.texts() == ["one", "two"]
    assert not lock.exists()


def test_two_clones_with_one_id_lose_nothing(remote: Repo, ann: Clone, bob: Clone) -> None:
    """As after the copy of a whole machine: both push to one ref, and neither replaces what the other pushed."""
    add_note(ann.workspace, "one")
    writer = ann.sync().writer
    status = (bob.repo.path / ".git").stat()
    (bob.repo.path / ".git" / "gitmem-writer").write_text(f"{writer} {status.st_dev} {status.st_ino}\n")
    add_note(ann.workspace, "two")
    add_note(bob.workspace, "three")
    sync_all(ann, bob)
    assert ann.texts() == bob.texts() == ["one", "three", "two"]
    assert remote.git("for-each-ref", "--format=%(refname)", "refs/gitmem").splitlines() == [
        f"refs/gitmem/writers/{writer}"
    ]


def test_concurrent_changes_are_kept_until_one_is_deleted(ann: Clone, bob: Clone) -> None:
    ann.put(NOTE, "before")
    sync_all(ann, bob)
    ann.put(NOTE, "by ann", "2026-01-02T00:00:00Z")
    bob.put(NOTE, "by bob", "2026-01-03T00:00:00Z")
    sync_all(ann, bob)
    conflicts = ann.sync().conflicts
    assert bob.sync().conflicts == conflicts
    (variant,) = set(conflicts) - {NOTE}
    assert ann.texts() == bob.texts() == ["by ann", "by bob"]
    delete_records(ann.workspace, [variant])
    sync_all(ann, bob)
    assert ann.texts() == bob.texts() == ["by bob"]
    assert ann.records() == bob.records()


def test_a_purge_reaches_the_remote_and_every_clone(remote: Repo, ann: Clone, bob: Clone) -> None:
    eve = make_clone(remote, "eve")
    ann.put(NOTE, "xyzzy by ann")
    add_note(bob.workspace, "stays")
    sync_all(ann, bob, eve)
    delete_records(bob.workspace, [NOTE])
    assert purge_memory(bob.workspace)[2:] == (0, 0, (), 0, True)
    for clone in (bob, ann, eve):
        assert clone.sync().purged
    remote.git("gc", "-q", "--prune=now")
    for repo in (remote, ann.repo, bob.repo, eve.repo):
        listed = repo.git("cat-file", "--batch-all-objects", "--batch", "--buffer", "--unordered")
        assert "xyzzy" not in listed
    for clone in (bob, ann, eve):
        assert not clone.sync().purged
        assert clone.texts() == ["stays"]
    # A writer who comes back later with the purged record does not bring it back.
    add_note(ann.workspace, "later")
    sync_all(ann, bob, eve)
    assert eve.texts() == bob.texts() == ["later", "stays"]


def test_a_memory_pushed_by_an_earlier_version_is_merged_once(remote: Repo, ann: Clone, bob: Clone) -> None:
    add_note(ann.workspace, "one")
    old = add_note(ann.workspace, "old").note.id
    ann.repo.git("push", "-q", "origin", REFERENCE)
    before = remote.oid(REFERENCE)
    add_note(bob.workspace, "two")
    sync_all(bob, ann)
    assert ann.texts() == bob.texts() == ["old", "one", "two"]
    delete_records(ann.workspace, [old])
    purge_memory(ann.workspace)
    assert f"not purged on `origin`: `{REFERENCE}`" in "\n".join(ann.sync().notices)
    sync_all(bob, ann)
    newcomer = make_clone(remote, "newcomer")
    sync_all(newcomer, ann)
    assert ann.texts() == bob.texts() == newcomer.texts() == ["one", "two"]
    assert remote.oid(REFERENCE) == before


def test_only_shared_documents_travel(ann: Clone, bob: Clone) -> None:
    for name, visibility in (("a", "me"), ("b", "team"), ("c", "org"), ("d", "custom")):
        add_document(ann.workspace, f"text {name}", {"source_id": name, "visibility": visibility})
    append_turn(ann.workspace, "plan", "user", "words", None)
    sync_all(ann, bob)
    assert sorted(json.loads(line)["content"] for line in bob.records()) == ["text b", "text c"]
    assert len(ann.records()) == 5
    add_document(ann.workspace, "text b", {"source_id": "b", "visibility": "me"})
    sync_all(ann, bob)
    assert len(bob.records()) == 1
    assert len(ann.records()) == 5


def test_secrets_are_searched_again_before_a_push(remote: Repo, ann: Clone) -> None:
    token = "ghp_" + "0123456789abcdefABCDEF0123456789abcd"
    note = add_note(ann.workspace, f"token {token}", allow_secrets=True).note.id
    with pytest.raises(UsageError, match=f"the note {note} seems to contain a secret .*nothing was pushed"):
        ann.sync()
    assert not remote.git("for-each-ref", "refs/gitmem")
    assert ann.sync(allow_secrets=True).sent == 1


def test_nothing_is_shared_while_the_memory_lacks_records(ann: Clone, bob: Clone) -> None:
    add_note(ann.workspace, "one")
    sync_all(ann, bob)
    bob.repo.git("update-ref", "-d", REFERENCE)
    with pytest.raises(GitmemError, match="refusing to share"):
        bob.sync()
    accept_loss(bob.workspace)
    sync_all(bob, ann)
    assert ann.texts() == bob.texts() == ["one"]


def test_removing_the_memory_of_a_clone_deletes_nothing_for_others(ann: Clone, bob: Clone) -> None:
    add_note(ann.workspace, "one")
    sync_all(ann, bob)
    exported: list[str] = []
    export_and_remove(bob.workspace, lambda lines: exported.extend(lines))
    assert len(exported) == 1
    assert bob.texts() == []
    sync_all(bob, ann)
    assert ann.texts() == bob.texts() == ["one"]


def test_a_lost_shared_state_loses_no_record(ann: Clone, bob: Clone) -> None:
    """As after a crash between the memory and the shared state: what others wrote looks like own changes."""
    ann.put(NOTE, "one")
    add_note(ann.workspace, "two")
    sync_all(ann, bob)
    bob.repo.git("update-ref", "-d", SHARED_REFERENCE)
    sync_all(bob, ann)
    assert ann.texts() == bob.texts() == ["one", "two"]
    assert ann.sync().conflicts == ()
    delete_records(ann.workspace, [NOTE])
    sync_all(ann, bob)
    assert ann.texts() == bob.texts() == ["two"]


def test_a_remote_that_refuses_the_refs_is_named(remote: Repo, ann: Clone) -> None:
    hook = remote.path / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\ncase "$1" in refs/heads/*) ;; *) exit 1 ;; esac\n')
    hook.chmod(0o755)
    add_note(ann.workspace, "one")
    with pytest.raises(
        GitFailed, match=r"`origin` refuses the ref `refs/gitmem/writers/\w+`: hook declined"
    ) as refused:
        ann.sync()
    assert refused.value.hint == "choose refs that it takes: gitmem share init origin"
    with pytest.raises(UsageError, match="unknown remote: `nowhere`"):
        ann.sync("nowhere")


def test_a_forged_state_is_refused_and_the_others_are_merged(remote: Repo, ann: Clone, bob: Clone) -> None:
    add_note(ann.workspace, "one")
    writer = ann.sync().writer
    blob = remote.git("hash-object", "-w", "--stdin", stdin=b"no record")
    folder = remote.git("mktree", stdin=f"100644 blob {blob}\t{'0' * 20}\n".encode())
    tree = remote.git("mktree", stdin=f"100644 blob {blob}\twriter\n040000 tree {folder}\trecords\n".encode())
    remote.git("update-ref", f"refs/gitmem/writers/{'f' * 16}", remote.git("commit-tree", "-m", "x", tree))
    result = bob.sync()
    assert bob.texts() == ["one"]
    assert result.notices[0] == f"the shared records of `{'f' * 16}` are damaged or forged; they were left out"
    assert writer != result.writer


def test_a_dry_run_changes_nothing(remote: Repo, ann: Clone, bob: Clone) -> None:
    add_note(ann.workspace, "one")
    add_note(bob.workspace, "two")
    ann.sync()
    memory, refs = bob.repo.oid(REFERENCE), remote.git("for-each-ref")
    result = exchange(bob.workspace, pull=True, push=True, dry_run=True)
    assert result[2:6] == (1, 1, 0, 0)
    assert (bob.repo.oid(REFERENCE), remote.git("for-each-ref")) == (memory, refs)
    assert bob.sync()[2:6] == (1, 1, 0, 0)


@pytest.mark.parametrize("options", [("--depth=1",), ("--filter=blob:none",), ("--bare",)])
def test_every_sort_of_clone_shares(remote: Repo, ann: Clone, options: tuple[str, ...]) -> None:
    remote.git("config", "uploadpack.allowFilter", "true")
    add_note(ann.workspace, "one")
    ann.sync()
    other = make_clone(remote, "other", *options)
    add_note(other.workspace, "two")
    other.sync()
    ann.sync()
    assert ann.texts() == other.texts() == ["one", "two"]


def test_a_lock_that_a_killed_push_left_on_the_remote_is_named(remote: Repo, ann: Clone) -> None:
    add_note(ann.workspace, "one")
    ref = ann.sync().writer
    (remote.path / f"refs/gitmem/writers/{ref}.lock").touch()
    add_note(ann.workspace, "two")
    with pytest.raises(
        GitmemError, match=rf"keep changing: `refs/gitmem/writers/{ref}`: failed to update ref"
    ) as caught:
        ann.sync()
    assert "REF.lock" in caught.value.hint
    assert ann.texts() == ["one", "two"]


def test_concurrent_changes_that_arrive_one_after_the_other_keep_their_people(
    remote: Repo, ann: Clone, bob: Clone
) -> None:
    ann.put(NOTE, "one")
    sync_all(ann, bob)
    cat = make_clone(remote, "cat")
    ann.put(NOTE, "of ann", "2026-01-02T00:00:00Z")
    bob.put(NOTE, "of bob", "2026-01-03T00:00:00Z")
    ann.sync()
    cat.sync()
    bob.sync()
    cat.sync()
    people = {note.content: note.shared_by for note in list_notes(cat.workspace, limit=9)}
    assert people == {f"of {name}": f"{name} <{name}@example.invalid>" for name in ("ann", "bob")}
    # The same once one of them was chosen, and the other one has its place.
    (chosen,) = (note.id for note in list_notes(bob.workspace, limit=9) if note.content == "of ann")
    (other,) = (note.id for note in list_notes(bob.workspace, limit=9) if note.content == "of bob")
    assert NOTE in (chosen, other)
    delete_records(bob.workspace, [other])
    bob.sync()
    cat.sync()
    (left,) = list_notes(cat.workspace, limit=9)
    assert (left.content, left.shared_by) == ("of ann", "ann <ann@example.invalid>")
